"""What the services of a test keep open is closed with the test."""

from collections.abc import Iterator

import pytest

from tests.fakes import http


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    """Close the services that a test makes, not those of the fixtures of its module."""
    before = len(http.MADE)
    yield
    while len(http.MADE) > before:
        service = http.MADE.pop().state.service
        service.jobs.close()
        service.pipelines.close()
        for kept_open in (service.study, service.recorder, service.page_renderer):
            kept_open.close()
