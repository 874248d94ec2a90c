"""Synthesizers one after the other, each within its time."""

import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from errors import LLMError, OutOfTimeError
from query_engine.runtime.deadline import Deadline
from query_engine.runtime.threads import ThreadedGenerator
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.citations import Citations
from query_engine.schema.events import Done, Event, Restarted, Step, Token
from query_engine.schema.passage import Passage
from query_engine.schema.source import Source
from query_engine.synthesis.base import Declined, Piece, Synthesizer, Writer
from query_engine.synthesis.fallback_chain import CUT, Answer, write
from tests.fakes.engines import a_passage
from tests.fakes.synthesizers import Roomy, ScriptedSynthesizer, on_screen

# Long enough for a quote on a busy machine, short enough for a test.
SHORT_S = 1.0
PATIENCE_S = 30


class Hanging(Roomy):
    """Yields its pieces, and then nothing until `release` is set: not even when it is told to stop."""

    name = "openai"

    def __init__(self, *pieces: str) -> None:
        self._pieces = pieces
        self.release = threading.Event()
        self.told_to_stop = threading.Event()

    def write(self, _q: str, _s: Sequence[Source], _c: Citations, stop: threading.Event, *_: Any) -> Iterator[str]:
        yield from self._pieces
        self.release.wait()
        if stop.wait(PATIENCE_S):
            self.told_to_stop.set()


class Quoting(ScriptedSynthesizer):
    """Quotes, once `before` has returned; calls `then` when it has, because by then the test may let the model go."""

    name = "extractive"

    def __init__(self, then: Callable[[], object] = int, before: Callable[[], object] = int) -> None:
        super().__init__("Wind turns blades. ", "[cite]")
        self._then, self._before = then, before

    def write(
        self, question: str, read: Sequence[Passage | Source], citations: Citations, stop: threading.Event, *_: Any
    ) -> Iterator[Piece]:
        self._before()
        yield from super().write(question, read, citations, stop)
        self._then()


def an_answer() -> Answer:
    answer = Answer("What turns?")
    answer.passages = (a_passage(),)
    answer.sources = tuple(map(Source, answer.passages))
    return answer


async def written(
    answer: Answer, model: Writer, seconds: float = PATIENCE_S, quoting: Synthesizer | None = None
) -> AsyncGenerator[Event, None]:
    """Read an answer as the engine does."""
    deadline = Deadline(seconds)

    def stages() -> Generator[Event, None, None]:
        try:
            yield from write([model], quoting or Quoting(), answer, deadline)
            yield answer.done("generated_answer")
        finally:
            answer.join()

    events = ThreadedGenerator(stages, deadline)
    try:
        async for event in events:
            yield event
    except OutOfTimeError as error:
        for event in answer.out_of_time(error.fact):
            yield event
    finally:
        await events.close()


async def the_end_of(events: AsyncGenerator[Event, None]) -> Done:
    """Return the last event without waiting for what goes on behind it."""
    async for event in events:
        if isinstance(event, Done):
            return event
    raise AssertionError("The events ended without Done.")


class Reading(ScriptedSynthesizer):
    """Was not shown all sources."""

    def write(
        self, question: str, read: Sequence[Passage | Source], citations: Citations, stop: threading.Event, *_: Any
    ) -> Iterator[Piece]:
        citations.left_out = "The model was shown 1 of 2 sources."
        return super().write(question, read, citations, stop)


async def test_that_a_model_did_not_read_all_sources_is_a_step_and_a_warning() -> None:
    *_, step, done = [event async for event in written(an_answer(), Reading("Wind turns."))]

    assert isinstance(step, Step)
    assert isinstance(done, Done)
    assert "The model was shown 1 of 2 sources." in step.text
    assert done.warnings == (AnswerWarning("passages_left_out", "The model was shown 1 of 2 sources."),)


async def test_a_model_that_does_not_know_declines_in_its_own_words_and_nobody_quotes() -> None:
    events = [event async for event in written(an_answer(), ScriptedSynthesizer(Declined("I don't know. No dams.")))]

    done = events[-1]
    assert isinstance(done, Done)
    assert (done.answer, done.synthesizer, on_screen(events)) == (None, None, "")
    assert done.message == done.decline_text == "I don't know. No dams."


async def test_what_a_model_wrote_and_no_source_holds_is_marked_where_it_stands() -> None:
    done = await the_end_of(written(an_answer(), ScriptedSynthesizer("\nWind turns blades ", "at 4711 rpm.")))

    assert done.answer is not None
    assert [done.answer[one.start : one.end] for one in done.unsupported] == ["4711"]


async def test_what_is_cited_when_the_text_has_ended_is_cited() -> None:
    class Late(ScriptedSynthesizer):
        def write(
            self, question: str, read: Sequence[Passage | Source], citations: Citations, stop: threading.Event, *_: Any
        ) -> Iterator[Piece]:
            yield from super().write(question, read, citations, stop)
            citations.cite(a_passage(), 10, 14)

    events = [event async for event in written(an_answer(), Late("Wind turns."))]

    assert isinstance(events[-1], Done)
    assert events[-1].citations == events[-2].citations != ()  # type: ignore[union-attr]  # a token


async def test_what_a_failed_model_did_not_read_is_not_told() -> None:
    model = Reading(LLMError("It broke.", ""))

    events = [event async for event in written(an_answer(), model)]

    assert isinstance(events[-1], Done)
    assert events[-1].warnings == (AnswerWarning("llm_failed", "It broke."),)


@pytest.mark.parametrize("pieces", [(), ("Wind tu",)])
async def test_a_model_that_is_too_slow_is_replaced_by_quotes_while_it_still_hangs(pieces: Sequence[str]) -> None:
    model = Hanging(*pieces)
    answer = an_answer()

    events = [event async for event in written(answer, model, SHORT_S, Quoting(model.release.set))]

    done = events[-1]
    assert isinstance(done, Done)
    assert done.answer == on_screen(events) == "Wind turns blades. [1]"
    assert done.synthesizer == "extractive"
    assert len(done.citations) == 1
    assert done.warnings == (
        AnswerWarning("out_of_time", "The openai synthesizer had not finished when the time for it was over."),
    )
    assert any(isinstance(event, Step) and event.kind == "warning" for event in events)
    assert model.told_to_stop.is_set()


async def test_what_a_slow_model_wrote_stands_if_a_sentence_of_it_is_whole() -> None:
    model = Hanging("Wind turns blades. It al")
    answer = an_answer()
    events = []

    async for event in written(answer, model, SHORT_S):
        events.append(event)
        if isinstance(event, Token) and event.text == CUT:
            model.release.set()

    done = events[-1]
    assert isinstance(done, Done)
    assert done.answer == on_screen(events) == "Wind turns blades. It al …"
    assert done.synthesizer == "openai"
    assert done.warnings[0].code == "out_of_time"
    assert not any(isinstance(event, Restarted) for event in events)


async def test_a_mark_whose_sentence_is_cut_short_cites_its_source() -> None:
    release = threading.Event()

    class Cut(ScriptedSynthesizer):
        def write(
            self, question: str, read: Sequence[Passage | Source], citations: Citations, stop: threading.Event, *_: Any
        ) -> Iterator[Piece]:
            yield f"Wind turns blades. It [{citations.number(a_passage())}] al"
            release.wait()
            yield from super().write(question, read, citations, stop)

    events = written(an_answer(), Cut(), SHORT_S)
    done = await the_end_of(events)
    release.set()
    await events.aclose()

    assert done.answer == "Wind turns blades. It [1] al …"
    assert [(each.number, each.quote) for each in done.citations] == [(1, "Wind turns blades.")]


async def test_a_thread_that_never_stops_does_not_keep_the_last_event_back() -> None:
    model = Hanging("Wind turns blades.")
    events = written(an_answer(), model, SHORT_S)

    done = await the_end_of(events)

    assert done.answer == "Wind turns blades. …"
    assert not model.told_to_stop.is_set()
    model.release.set()
    await events.aclose()
    assert model.told_to_stop.is_set()


async def test_without_time_for_any_synthesizer_the_answer_says_so() -> None:
    release = threading.Event()
    events = written(an_answer(), ScriptedSynthesizer(LLMError("It broke.", "")), 0.2, Quoting(before=release.wait))

    done = await the_end_of(events)
    release.set()
    await events.aclose()

    assert done.answer is None
    assert done.message.startswith("I don't know. The time for this question was over")
    assert [one.quote for one in done.nearest] == [passage.text for passage in done.passages]
    assert done.gate_reason == "generated_no_answer_but_confident"


async def test_a_late_search_leaves_an_honest_answer() -> None:
    done = list(Answer("What turns?").out_of_time("The time limit of this question was reached."))[-1]

    assert isinstance(done, Done)
    assert (done.answer, done.gate_reason, done.passages) == (None, "no_retrieval", ())
    assert done.warnings == (AnswerWarning("out_of_time", "The time limit of this question was reached."),)


def test_a_failure_of_the_quotes_is_raised() -> None:
    with pytest.raises(LLMError, match="It broke"):
        list(write([], ScriptedSynthesizer(LLMError("It broke.", "")), an_answer(), Deadline(60)))


def test_closing_stops_the_model_within_a_token() -> None:
    go_on, ended = threading.Semaphore(0), threading.Event()
    written_after: list[bool] = []

    class Counting(Roomy):
        name = "openai"

        def write(self, _q: str, _s: Sequence[Source], _c: Citations, stop: threading.Event, *_: Any) -> Iterator[str]:
            try:
                while True:
                    yield "word "
                    go_on.acquire()
                    written_after.append(stop.wait(PATIENCE_S))
            finally:
                ended.set()

    answer = an_answer()
    events = write([Counting()], Quoting(), answer, Deadline(60))
    for event in events:
        if isinstance(event, Token):
            break
    events.close()
    go_on.release()
    answer.join()

    assert ended.is_set()
    assert written_after in ([], [True])


def test_a_client_that_leaves_ends_the_wait_for_a_silent_model() -> None:
    model, answer, deadline = Hanging(), an_answer(), Deadline(PATIENCE_S)
    events = write([model], Quoting(), answer, deadline)
    next(events)
    deadline.stop.set()

    with pytest.raises(OutOfTimeError, match="given up"):
        list(events)

    model.release.set()
    answer.join()
    assert model.told_to_stop.is_set()


def test_a_piece_that_comes_too_late_is_not_cited() -> None:
    second = replace(a_passage("water.md"), node_id="w.1")
    go_on, cited = threading.Event(), threading.Event()

    class Citing(Roomy):
        name = "openai"

        def write(
            self, _q: str, sources: Sequence[Source], citations: Citations, stop: threading.Event, *_: Any
        ) -> Iterator[str]:
            first, late = (one.passage for one in sources)
            yield f"Wind turns blades. [{citations.cite(first, first.start, first.end)}]"
            go_on.wait(PATIENCE_S)
            mark = citations.cite(late, late.start, late.end)
            cited.set()
            stop.wait(PATIENCE_S)
            yield f" Water too. [{mark}]"

    answer = an_answer()
    answer.sources = (Source(a_passage()), Source(second))
    events = write([Citing()], Quoting(), answer, Deadline(60))
    next(event for event in events if isinstance(event, Token))
    go_on.set()
    assert cited.wait(PATIENCE_S)
    done = answer.done("generated_answer")
    events.close()
    answer.join()

    assert done.answer == "Wind turns blades. [1]"
    assert [citation.doc_id for citation in done.citations] == ["guide/wind.md"]


@pytest.mark.parametrize("pieces", [(), ("Wind tu",)])
async def test_quotes_take_over_from_a_model_that_fails_unforeseen_and_the_log_says_where(
    pieces: Sequence[str], caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedSynthesizer(*pieces, RecursionError("too deep inside"))

    events = [event async for event in written(an_answer(), model)]

    done = events[-1]
    assert isinstance(done, Done)
    assert done.answer == on_screen(events) == "Wind turns blades. [1]"
    assert done.warnings == (AnswerWarning("llm_unforeseen", "The openai synthesizer failed in an unforeseen way."),)
    assert "too deep inside" not in str(events)
    assert "Traceback" in caplog.text
    assert "RecursionError: too deep inside" in caplog.text


def test_an_unforeseen_failure_of_the_last_synthesizer_is_raised_as_it_is() -> None:
    with pytest.raises(KeyError, match="bug"):
        list(write([], ScriptedSynthesizer(KeyError("bug")), an_answer(), Deadline(60)))
