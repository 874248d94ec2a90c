import re
from dataclasses import replace

from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Done, Event, Retrieved, Step, Token
from research.topic.report import stream_report
from settings import RetrievalSettings
from tests.fakes.answers import KnowingEngine, quoted
from tests.fakes.engines import a_done

WIND, SUN = ("wind.md", "Wind turns blades."), ("sun.md", "Sun drives the wind.")
ANSWERS = {
    "wind": quoted(WIND),
    "How wind works": quoted(SUN, WIND),
    "Advantages of wind": quoted(WIND),
}


async def events_of(engine: KnowingEngine, question: str = "wind") -> list[Event]:
    events = stream_report(engine, engine.stream, Inquiry(question), RetrievalSettings(), Deadline(60))
    return [event async for event in events]


async def test_a_report_has_a_title_sections_and_what_is_not_known() -> None:
    *_, done = await events_of(KnowingEngine(ANSWERS))

    assert isinstance(done, Done)
    assert done.answer is not None
    assert done.answer.startswith(
        "# Wind\n\nWind turns blades. [1]\n\n## How wind works\n\nSun drives the wind. [2]\n\n## What is not known\n\n"
    )
    assert "- Wind: Part 0 The passages found do not answer this." in done.answer
    assert done.answer.count("Wind turns blades.") == 1
    assert "Advantages" not in done.answer  # it would only repeat


async def test_the_stream_is_the_report_and_cites_what_it_shows() -> None:
    events = await events_of(KnowingEngine(ANSWERS))
    done = events[-1]

    assert isinstance(done, Done)
    tokens = [event for event in events if isinstance(event, Token)]
    assert "".join(token.text for token in tokens) == done.answer
    assert (
        [one.number for token in tokens for one in token.citations] == [one.number for one in done.citations] == [1, 2]
    )
    assert set(re.findall(r"\[(\d)\]", done.answer or "")) == {"1", "2"}
    order = [type(event) for event in events if isinstance(event, Retrieved | Token | Done)]
    assert order[0] is Retrieved
    assert order.count(Done) == 1


async def test_a_contradiction_is_shown_by_its_numbers() -> None:
    answers = {
        "wind": quoted(("a.md", "A permit is required for a turbine.")),
        "How wind works": quoted(("b.md", "A permit is optional for a turbine.")),
    }
    *_, done = await events_of(KnowingEngine(answers))

    assert isinstance(done, Done)
    assert "## What the documents may disagree about\n\n- [1] and [2]: “required” or “optional”." in (done.answer or "")


async def test_without_any_answer_the_question_is_declined_as_ever() -> None:
    *_, done = await events_of(KnowingEngine({}))

    assert isinstance(done, Done)
    assert (done.answer, done.message) == (None, a_done(None).message)


async def test_that_the_model_failed_is_a_step_and_a_warning_once() -> None:
    failed = AnswerWarning("llm_unreachable", "The language model server cannot be reached.")
    answers = {question: replace(done, warnings=(failed,)) for question, done in ANSWERS.items()}
    *steps, done = await events_of(KnowingEngine(answers))

    assert isinstance(done, Done)
    assert done.warnings == (failed,)
    assert sum(failed.text in one.text for one in steps if isinstance(one, Step)) == 1


async def test_an_answer_from_the_catalogue_is_no_report() -> None:
    listed = replace(a_done("There are 3 documents.", citations=()), synthesizer="catalogue")
    events = await events_of(KnowingEngine({"Which documents are there?": listed}), "Which documents are there?")

    assert events[-1] == listed
    assert len([event for event in events if isinstance(event, Done)]) == 1


async def test_a_models_headings_do_not_part_the_report() -> None:
    answers = {"wind": quoted(WIND, text="# Wind\nWind turns blades. [1]")}
    *_, done = await events_of(KnowingEngine(answers))

    assert isinstance(done, Done)
    assert "\n\n**Wind**\nWind turns blades. [1]" in (done.answer or "")
