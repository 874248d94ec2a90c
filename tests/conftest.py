"""Shared by all tests: one cache of converted models, and no connection but to this machine."""

import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.servers.scripted_llm import ScriptedLLM

# No test may ask a model hub; an attempt fails at once instead of waiting for a time-out.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"

# Examples are judged by what they show, not by how fast a busy machine runs them.
hypothesis.settings.register_profile("treeline", deadline=None)
hypothesis.settings.load_profile("treeline")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let reports name the faults that each test tries, for the sheet (`tests/faults/`)."""
    for item in items:
        for mark in item.iter_markers("fault"):
            item.user_properties += [("fault", name) for name in mark.args]


@pytest.fixture(scope="session")
def model_cache() -> Path:
    """Return the project's own cache: converting a model takes ten seconds and gives the same result every time."""
    return Path(__file__).parent.parent / "var" / "models"


@pytest.fixture
def server() -> Iterator[ScriptedLLM]:
    """Return a running server of a model, which repeats what it is asked until a test scripts it."""
    with ScriptedLLM() as running:
        yield running
