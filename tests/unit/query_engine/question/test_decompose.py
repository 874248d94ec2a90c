"""The language model takes a question apart where its form says that it asks for several things."""

from dataclasses import replace
from typing import Any

import pytest

from errors import LLMError
from query_engine.question.decompose import MAX_PARTS, ONE_PASS, Planner, may_be_several, parse_parts
from query_engine.runtime.deadline import Deadline
from tests.fakes.engines import a_passage
from tests.fakes.llm import FakeLLM, asker

TWO = "Who founded Tesla, and where is Rivian made?"
ONE = "Who published the rotor limit in 1919?"


def planner(*says: Any) -> tuple[Planner, FakeLLM]:
    llm = FakeLLM(says=list(says))
    return Planner(asker(llm)), llm


def test_without_a_model_a_question_goes_in_one_pass() -> None:
    assert Planner().plan(TWO) == ONE_PASS


@pytest.mark.promise("E26")
def test_a_model_is_asked_where_a_question_may_be_several() -> None:
    asking, llm = planner("1. Which plant took ", "the record?\n2. What is its capacity?\n")

    plan = asking.plan("Which plant took the record from Bath County, and what is its capacity?")

    assert plan.parts == ("Which plant took the record?", "What is its capacity?")
    assert "Bath County" in str(llm.asked[0][0].content)


def test_a_simple_question_never_waits_for_the_model() -> None:
    asking, llm = planner("Never asked?\nNever at all?")

    assert asking.plan(ONE).parts == ()
    assert llm.asked == []


@pytest.mark.parametrize(
    ("question", "languages", "asked_for"),
    [
        ("Wie hoch ist die Miete und wann ist sie fällig?", ["en", "en", "de"], None),
        ("Wie hoch ist die Miete für das Haus?", ["en", "en"], "English"),
        ("What is the rent of the house?", ["fr", "fr", "nl"], "French"),
        ("What is the rent of the house?", ["en"], None),
        ("M8x50?", ["fr"], None),
        ("What is the rent of the house?", [], None),
    ],
)
def test_a_question_in_another_language_than_what_it_finds_is_translated(
    question: str, languages: list[str], asked_for: str | None
) -> None:
    asking, llm = planner("The question in other words\nAnd more")
    found = [replace(a_passage(), metadata={"language": language}) for language in languages]

    plan = asking.plan(question, found=found)

    if asked_for is None:
        assert (plan.translation, llm.asked) == ("", [])
    else:
        assert plan.translation == "The question in other words"
        assert asked_for in str(llm.asked[0][0].content)


def test_a_model_may_say_that_one_thing_is_asked() -> None:
    asking, _ = planner("ONE")

    assert asking.plan(TWO).parts == ()


@pytest.mark.parametrize(
    "failure", [LLMError("The server is gone.", "Start it."), "   "], ids=["fails", "says nothing"]
)
def test_a_model_that_fails_leaves_one_pass_and_that_is_told(failure: Any) -> None:
    asking, _ = planner(failure)

    plan = asking.plan(TWO)

    assert plan.parts == ()
    assert [warning.code for warning in plan.warnings] == ["planning_skipped"]


def test_a_model_that_is_too_slow_is_given_up() -> None:
    asking, llm = planner("Who founded Tesla?\n", "Where is Rivian made?\n")

    plan = asking.plan(TWO, Deadline(0))

    assert (plan.parts, llm.closed) == ((), 1)
    assert "limit" in plan.warnings[0].text


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("- Who founded it?\n- Who sold it?", ["Who founded it?", "Who sold it?"]),
        ("Here are the questions:\n1) Who founded it?\n2) Who sold it?", ["Who founded it?", "Who sold it?"]),
        ("Who founded it?\nWho founded it?", []),
        ("ONE", []),
        ("Who founded it?", []),
        ("", []),
    ],
)
def test_a_reply_is_read_line_by_line(reply: str, expected: list[str]) -> None:
    assert parse_parts(reply) == tuple(expected)


def test_a_model_cannot_make_more_parts_than_the_limit() -> None:
    assert len(parse_parts("\n".join(f"What is number {number}?" for number in range(20)))) == MAX_PARTS


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (TWO, True),
        ("How do the tower in Morocco and the one in Spain differ?", True),
        ("Where is it made? And who sold it last year?", True),
        ("What does each of the two pumps weigh?", True),
        ("Why does the pump stop in winter??", False),
        ("How do I set up the mail and calendar sync?", False),
        ("Which plant that was built in 1920 holds the record?", False),
        (ONE, False),
        ("Mac and cheese?", False),
    ],
)
def test_the_form_says_whether_several_things_may_be_asked(question: str, expected: bool) -> None:
    assert may_be_several(question) is expected
