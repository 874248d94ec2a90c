"""Pipelines that are closed after the test."""

from collections.abc import Iterator
from typing import Any

import pytest

from pipelines.build import Pipelines
from pipelines.step import Step
from tests.fakes.pipelines import Start, fake_pipelines


@pytest.fixture
def start() -> Iterator[Start]:
    """Return what opens pipelines as `fake_pipelines` does."""
    started: list[Pipelines] = []

    def opened(*steps: type[Step], **given: Any) -> Pipelines:
        started.append(fake_pipelines(*steps, **given))
        return started[-1]

    yield opened
    for one in started:
        one.close()


@pytest.fixture
def pipelines(start: Start) -> Pipelines:
    return start()
