from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

from errors import LLMError
from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Done, Event
from query_engine.schema.passage import Passage
from research.topic.topic_research import ResearchDone, Write, research_topic
from settings import RetrievalSettings
from tests.fakes.answers import KnowingEngine, quoted

ANSWERS = {
    "wind": quoted(("wind.md", "Wind turns blades.")),
    "How wind works": quoted(("sun.md", "Sun drives the wind."), ("wind.md", "Wind turns blades.")),
}


async def researched(engine: KnowingEngine, write: Write | None = None, count: int = 3) -> ResearchDone:
    events = [
        event
        async for event in research_topic(
            engine, engine.stream, Inquiry("wind"), RetrievalSettings(), count, write=write, deadline=Deadline(60)
        )
    ]
    assert [isinstance(event, Done) for event in events] == [False] * (len(events) - 1) + [True]
    done = events[-1]
    assert isinstance(done, ResearchDone)
    return done


def writing(done: Done | Exception) -> tuple[Write, list[Sequence[Passage]]]:
    given: list[Sequence[Passage]] = []

    async def write(_asked: Inquiry, passages: Sequence[Passage]) -> AsyncGenerator[Event, None]:
        given.append(passages)
        if isinstance(done, Exception):
            raise done
        yield done

    return write, given


async def test_findings_gaps_and_a_summary_without_a_model() -> None:
    done = await researched(KnowingEngine(ANSWERS))

    assert done.research is not None
    assert [one.status for one in done.research.findings] == ["answered", "answered", "gap"]
    assert done.answer == (
        "Wind turns blades. [1] Sun drives the wind. [2] Not answered by the documents: Advantages of wind"
    )
    assert [(one.number, one.doc_id) for one in done.citations] == [(1, "wind.md"), (2, "sun.md")]
    assert (done.synthesizer, done.gate_reason) == ("extractive", "generated_answer")


async def test_the_same_question_twice_gives_the_same_summary() -> None:
    assert (await researched(KnowingEngine(ANSWERS))).answer == (await researched(KnowingEngine(ANSWERS))).answer


async def test_a_model_sums_up_the_cited_passages_in_numbers_that_go_on() -> None:
    summary = replace(quoted(("wind.md", "Wind turns blades."), ("sea.md", "So says the sea.")), synthesizer="openai")
    write, given = writing(summary)

    done = await researched(KnowingEngine(ANSWERS), write)

    assert done.answer == "Wind turns blades. [1] So says the sea. [3]"
    assert done.synthesizer == "openai"
    assert given  # the passages that findings cite


async def test_a_model_that_fails_leaves_the_quotes() -> None:
    plain = (await researched(KnowingEngine(ANSWERS))).answer
    raising, _ = writing(LLMError("It broke.", "Mend it."))
    warning = AnswerWarning("llm_busy", "It is busy.")
    fallen_back, _ = writing(replace(quoted(("sea.md", "The sea.")), warnings=(warning,)))

    assert (await researched(KnowingEngine(ANSWERS), raising)).answer == plain
    done = await researched(KnowingEngine(ANSWERS), fallen_back)
    assert done.answer == plain
    assert warning in done.warnings


async def test_nothing_found_is_no_answer_and_asks_no_model() -> None:
    write, given = writing(quoted(("sea.md", "The sea.")))

    done = await researched(KnowingEngine({}), write)

    assert (done.answer, done.citations, given) == (None, (), [])
    assert done.message.startswith("I don't know.")
