import asyncio
import contextlib
from collections.abc import Sequence

import pytest

from errors import LLMError
from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
from query_engine.schema.events import Step
from research.topic.findings import Finding
from research.topic.outline import Subquestion
from research.topic.survey import NO_TIME, passages_of, survey
from tests.fakes.answers import KnowingEngine, quoted
from tests.fakes.engines import a_done

WIND = ("wind.md", "Wind turns blades.")
SEA = ("sea.md", "The sea is salt.")


async def surveyed(
    engine: KnowingEngine, asked: Sequence[Subquestion], deadline: Deadline | None = None, topic: str = "wind"
) -> list[Finding]:
    events = survey(engine.stream, asked, Inquiry(topic, filters={"filters": []}), deadline or Deadline(60))
    return [event async for event in events if isinstance(event, Finding)]


@pytest.mark.promise("E31")
async def test_a_gap_is_asked_once_more_in_its_other_wording() -> None:
    engine = KnowingEngine({"wind": quoted(WIND), "Wind: Work": quoted(WIND)})
    asked = [
        Subquestion("wind"),
        Subquestion("Work", "Wind: Work"),
        Subquestion("Wind: Sea", "Sea"),
        Subquestion("Why"),
    ]

    found = await surveyed(engine, asked)

    assert [(one.status, one.attempts, one.retried) for one in found] == [
        ("answered", 1, None),
        ("answered_after_retry", 2, "Wind: Work"),
        ("gap", 2, "Sea"),
        ("gap", 1, None),
    ]
    assert engine.questions == ["wind", "Work", "Wind: Work", "Wind: Sea", "Sea", "Why"]
    assert engine.filters == [{"filters": []}] * 6


async def test_an_answer_about_something_else_is_a_gap_that_says_so() -> None:
    engine = KnowingEngine({"What does nuclear cost?": quoted(SEA), "What does wind cost?": quoted(WIND)})
    asked = [Subquestion("What does nuclear cost?", about="nuclear"), Subquestion("What does wind cost?", about="wind")]

    nuclear, wind = await surveyed(engine, asked)

    assert (nuclear.status, wind.status) == ("gap", "answered")


async def test_the_reason_names_what_was_not_found() -> None:
    engine = KnowingEngine({"What does nuclear cost?": quoted(SEA)})

    (found,) = await surveyed(engine, [Subquestion("What does nuclear cost?", about="nuclear")])

    assert found.reason == "What was found speaks of something else: it does not name “nuclear”."


async def test_a_thing_of_several_words_is_not_named_by_one_of_them() -> None:
    sea = quoted(("sea.md", "The deep sea is salt."))

    (found,) = await surveyed(
        KnowingEngine({"What is it?": sea}), [Subquestion("What is it?", about="deep sea mining")]
    )

    assert found.status == "gap"


async def test_a_failed_question_is_a_gap_and_the_others_go_on() -> None:
    engine = KnowingEngine({"A?": LLMError("It broke.", "Mend it."), "B?": quoted(WIND)})

    first, second = await surveyed(engine, [Subquestion("A?"), Subquestion("B?")])

    assert (first.status, second.status) == ("gap", "answered")


async def test_a_question_without_time_is_a_gap_and_is_not_asked() -> None:
    engine = KnowingEngine({"A?": quoted(WIND)})

    (found,) = await surveyed(engine, [Subquestion("A?")], Deadline(0))

    assert found.reason in NO_TIME
    assert engine.questions == []


async def test_each_question_has_its_share_of_the_time_and_a_stop_of_its_own() -> None:
    clock = lambda: 0.0  # noqa: E731
    engine = KnowingEngine({"A?": quoted(WIND), "B?": quoted(WIND)})
    whole = Deadline(60, clock)

    await surveyed(engine, [Subquestion("A?"), Subquestion("B?")], whole)

    assert [one.left_s() for one in engine.deadlines if one] == [30, 60]
    assert all(one.stop is not whole.stop for one in engine.deadlines)


async def test_who_leaves_stops_the_question_that_is_being_asked() -> None:
    engine = KnowingEngine({"A?": quoted(WIND)})
    engine.waits["A?"] = asyncio.Event()
    events = survey(engine.stream, [Subquestion("A?")], Inquiry("wind"), Deadline(60))

    assert isinstance(await anext(events), Step)
    reading = asyncio.ensure_future(anext(events))
    await asyncio.wait_for(engine.asked.wait(), 9)
    reading.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await reading
    await events.aclose()

    assert (engine.started, engine.ended) == (1, 1)


async def test_the_passages_that_are_cited_come_once() -> None:
    (found,) = await surveyed(KnowingEngine({"A?": quoted(WIND)}), [Subquestion("A?")])
    unread = Finding("B?", a_done(None))

    assert passages_of([found, found, unread]) == passages_of([found])
