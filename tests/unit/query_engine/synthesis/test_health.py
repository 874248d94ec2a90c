import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from errors import LLMError
from query_engine.schema.citations import Citations
from query_engine.schema.source import Source
from query_engine.synthesis.health import MonitoredSynthesizer
from tests.fakes.synthesizers import Roomy, text_of


class Moody(Roomy):
    """Writes two words, or fails after the first."""

    name = "openai"
    failing = False
    bug: Exception | None = None

    def write(
        self, question: str, sources: Sequence[Source], citations: Citations, stop: threading.Event, *_: Any
    ) -> Iterator[str]:
        yield "Wind "
        if self.bug is not None:
            raise self.bug
        if self.failing:
            raise LLMError("The server hung up.", "Start it again.")
        yield f"answers {question} {len(sources)} {citations.all()} {stop.is_set()}"


def write(watched: MonitoredSynthesizer) -> str:
    return text_of(watched.write("what", (), Citations(), threading.Event()))


def test_the_state_follows_the_last_answer() -> None:
    moody = Moody()
    watched = MonitoredSynthesizer(moody)
    assert (watched.name, watched.ready, watched.reason) == ("openai", True, "Loaded, not used yet.")

    moody.failing = True
    with pytest.raises(LLMError, match="Start it again"):
        write(watched)
    assert (watched.ready, watched.reason) == (False, "The last answer failed: The server hung up.")

    moody.failing = False
    assert write(watched) == "Wind answers what 0 () False"
    assert (watched.ready, watched.reason) == (True, "The last answer succeeded.")


def test_an_answer_given_up_by_its_reader_changes_nothing() -> None:
    watched = MonitoredSynthesizer(Moody())
    pieces = iter(watched.write("what", (), Citations(), threading.Event()))
    next(pieces)
    del pieces

    assert watched.ready


def test_an_unforeseen_failure_is_noted_too() -> None:
    moody = Moody()
    moody.bug = RecursionError("inside")
    watched = MonitoredSynthesizer(moody)

    with pytest.raises(RecursionError):
        write(watched)
    assert (watched.ready, watched.reason) == (False, "The last answer failed in an unforeseen way: RecursionError.")
