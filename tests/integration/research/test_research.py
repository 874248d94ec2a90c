"""The research loop through a real engine: real stores, a fake embedder, scripted models that review and write."""

import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from errors import LLMError
from index.corpus import Corpus
from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Done, Event, Retrieved, Step
from query_engine.schema.retrieval_result import Retrieval
from query_engine.synthesis.base import Writer
from research.modes import stream
from research.schema import RoundStep
from settings import Settings
from tests.fakes.corpora import make_corpus
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.llm import FakeLLM, ReplyingLLM, asker, passage
from tests.fakes.reading import a_leaf_reader
from tests.fakes.synthesizers import ScriptedSynthesizer
from tests.fakes.threads import question_threads_end

TEXTS = {
    "wind.md": "Turbines turn wind into power. Albert Betz published the rotor limit in 1919. Gearboxes wear out.",
    "water.md": "Dams hold water back. Rivers run turbines too. Fish need ladders.",
}
QUESTION = "Who published the rotor limit in 1919?"
SUFFICIENT = "<useful-docs>1</useful-docs><summary>Betz.</summary><is-sufficient>yes</is-sufficient>"
GAP = "<useful-docs>1</useful-docs><is-sufficient>no</is-sufficient><new-query>fish ladders</new-query>"


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    made = make_corpus(tmp_path / "books", TEXTS, WordHashEmbedding())
    yield made
    made.close()


def engine(corpus: Corpus, llm: FakeLLM | None = None, *synthesizers: Writer) -> Engine:
    reader = a_leaf_reader(corpus)
    helper = asker(llm) if llm else None
    return Engine(corpus, WordHashEmbedding(), reader, synthesizers, settings=Settings(), helper=helper)


def asked(one: Engine, question: str = QUESTION, mode: str = "agent", **more: object) -> AsyncGenerator[Event, None]:
    return stream(one, Inquiry(question, mode=mode, **more))  # type: ignore[arg-type]


async def read(events: AsyncGenerator[Event, None]) -> tuple[list[Event], Done]:
    seen = [event async for event in events]
    assert isinstance(seen[-1], Done)
    return seen, seen[-1]


async def test_an_answer_is_written_from_what_the_rounds_gathered(corpus: Corpus) -> None:
    replies = iter(["none", GAP, SUFFICIENT])
    events, done = await read(asked(engine(corpus, ReplyingLLM(reply=lambda _: next(replies)))))

    rounds = [event.round for event in events if isinstance(event, RoundStep)]
    assert [one.queries for one in rounds] == [(QUESTION,), ("fish ladders",)]
    assert done.answer is not None
    assert "Albert Betz published the rotor limit in 1919. [1]" in done.answer
    for citation in done.citations:
        assert TEXTS[citation.doc_id][citation.start : citation.end] == citation.quote
    kinds = [event.kind for event in events if isinstance(event, Step)]
    assert kinds[:5] == ["search", "search", "round", "search", "round"]
    assert [type(event) for event in events].index(Retrieved) > 5


async def test_without_a_model_the_answer_is_that_of_a_single_pass(corpus: Corpus) -> None:
    one = engine(corpus)
    _, single = await read(asked(one, mode="single"))

    for mode in ("agent", "auto"):
        events, done = await read(asked(one, mode=mode))
        assert done.answer == single.answer
        assert not any(isinstance(event, RoundStep) for event in events)


async def test_a_question_that_nothing_answers_is_declined(corpus: Corpus) -> None:
    _, done = await read(asked(engine(corpus), "What is the capital of France?"))

    assert done.answer is None
    assert done.gate_reason == "generated_no_answer_low_confidence"


async def test_a_model_that_dies_in_mid_loop_ends_in_quotes_and_both_are_told(corpus: Corpus) -> None:
    replies = iter(["none", GAP])

    def reply(_prompt: str) -> str:
        try:
            return next(replies)
        except StopIteration:
            raise LLMError("It died.", "Restart it.") from None

    writer = ScriptedSynthesizer(LLMError("It died.", "Restart it."))
    _, done = await read(asked(engine(corpus, ReplyingLLM(reply=reply), writer)))

    assert done.synthesizer == "extractive"
    assert done.answer is not None
    assert "Betz" in done.answer
    assert [warning.code for warning in done.warnings][:2] == ["research_cut", "llm_failed"]


@pytest.mark.promise("G10")
async def test_auto_takes_rounds_for_several_things(corpus: Corpus) -> None:
    one = engine(corpus, ReplyingLLM(reply=lambda _: "none"))
    simple, _ = await read(asked(one, mode="auto"))
    several, _ = await read(asked(one, f"{QUESTION[:-1]} and why do gearboxes wear out?", mode="auto"))

    assert not any(isinstance(one, RoundStep) for one in simple)
    assert any(isinstance(one, RoundStep) for one in several)


async def test_the_collection_is_listed_without_a_search(corpus: Corpus) -> None:
    events, done = await read(asked(engine(corpus), "Which documents do you have?"))

    assert done.synthesizer == "catalogue"
    assert not any(isinstance(one, RoundStep) for one in events)


async def test_another_search_stands_in_for_the_corpus(corpus: Corpus) -> None:
    page = passage("Albert Betz published the rotor limit in 1919.", "https://example.org/betz", url="https://e.org/b")

    def web(_question: str, _deadline: Deadline, /) -> Retrieval:
        return Retrieval((page,), {}, (AnswerWarning("pages_unread", "One page could not be read."),))

    events = stream(engine(corpus), Inquiry(QUESTION, mode="agent"), web)
    _, done = await read(events)

    assert done.answer == "Albert Betz published the rotor limit in 1919. [1]"
    assert done.citations[0].url == "https://e.org/b"
    assert [warning.code for warning in done.warnings][:1] == ["pages_unread"]


async def test_when_the_client_leaves_the_loop_and_its_threads_end(corpus: Corpus) -> None:
    searching, left = threading.Event(), threading.Event()

    def search(_question: str, deadline: Deadline, /) -> Retrieval:
        searching.set()
        assert deadline.stop.wait(10)
        left.set()
        deadline.check_wanted("in the search")
        raise AssertionError("nobody left")

    one = engine(corpus, ReplyingLLM(reply=lambda _: "none"))
    events = stream(one, Inquiry(QUESTION, mode="agent"), search)
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Step) and "Round 1" in event.text:
                break
    assert left.is_set()
    assert question_threads_end()


async def test_at_the_deadline_the_answer_ends_in_time(corpus: Corpus) -> None:
    released = threading.Event()

    def search(_question: str, deadline: Deadline, /) -> Retrieval:
        released.wait(10)
        deadline.check_wanted("in the search")
        return Retrieval((), {})

    inquiry = Inquiry(QUESTION, mode="agent", deadline=Deadline(0.3))
    seen: list[Event] = []
    one = engine(corpus, ReplyingLLM(reply=lambda _: "none"))
    async with aclosing(stream(one, inquiry, search)) as events:
        async for event in events:
            seen.append(event)
            if isinstance(event, Done):
                released.set()

    done = seen[-1]
    assert isinstance(done, Done)
    assert done.answer is None
    assert {warning.code for warning in done.warnings} & {"search_failed", "out_of_time", "research_cut"}
