"""A process loads its reader while it imports libraries."""

import gc
from collections.abc import Iterator

import pytest

from errors import ModelError
from query_engine.loading import loading
from query_engine.reader import model
from settings import AnswerSettings


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is loaded, instead of the reader."""
    found: list[str] = []
    monkeypatch.setattr(model, "shipped_reader", lambda: found.append("reader"))
    yield found
    gc.unfreeze()


def test_the_reader_is_loaded_at_the_end_of_the_block_and_no_garbage_collected_before(loads: list[str]) -> None:
    with loading(AnswerSettings()):
        assert not gc.isenabled()

    assert loads == ["reader"]
    assert gc.isenabled()


def test_another_reader_takes_its_place(loads: list[str]) -> None:
    with loading(AnswerSettings(reader="other")):
        pass

    assert loads == []


def test_a_reader_that_cannot_be_loaded_is_left_to_who_asks_for_it(
    loads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        loads.append("tried")
        raise ModelError("It is broken.", "Mend it.")

    monkeypatch.setattr(model, "shipped_reader", broken)

    with loading(AnswerSettings()):
        pass

    assert loads == ["tried"]
