"""Who takes a question apart: grammar, or the language model where its form allows for several things."""

from typing import Any

import pytest

from errors import LLMError
from query_engine.question.decompose import Planner, may_be_several, parse_parts
from query_engine.question.decompose_rules import MAX_PARTS, Part
from query_engine.runtime.deadline import Deadline
from tests.fakes.llm import FakeLLM, asker

TWO = "Who founded Tesla, and where is Rivian made?"
ONE = "Who published the rotor limit in 1919?"


def planner(*says: Any) -> tuple[Planner, FakeLLM]:
    llm = FakeLLM(says=list(says))
    return Planner(asker(llm), timeout_s=5), llm


def test_without_a_model_grammar_decides() -> None:
    plan = Planner().plan(TWO)

    assert [part.text for part in plan.parts] == ["Who founded Tesla", "where is Rivian made"]
    assert (plan.by, plan.warnings) == ("grammar", ())
    assert Planner().plan(ONE).parts == ()


def test_a_model_is_asked_where_a_question_may_be_several() -> None:
    asking, llm = planner("1. Which plant took ", "the record?\n2. What is its capacity?\n")

    plan = asking.plan("What is the capacity of the plant that took the record from Bath County?")

    assert [part.query for part in plan.parts] == ["Which plant took the record?", "What is its capacity?"]
    assert plan.by == "model"
    assert "Bath County" in str(llm.asked[0][0].content)


def test_a_simple_question_never_waits_for_the_model() -> None:
    asking, llm = planner("Never asked?\nNever at all?")

    assert asking.plan(ONE).parts == ()
    assert llm.asked == []


def test_a_model_may_say_that_one_thing_is_asked() -> None:
    asking, _ = planner("ONE")

    assert asking.plan(TWO).parts == ()


@pytest.mark.parametrize(
    "failure", [LLMError("The server is gone.", "Start it."), "   "], ids=["fails", "says nothing"]
)
def test_where_the_model_fails_grammar_takes_over_and_it_is_told(failure: Any) -> None:
    asking, _ = planner(failure)

    plan = asking.plan(TWO)

    assert len(plan.parts) == 2
    assert plan.by == "grammar"
    assert [warning.code for warning in plan.warnings] == ["planning_skipped"]


def test_a_model_that_is_too_slow_is_given_up() -> None:
    asking, llm = planner("Who founded Tesla?\n", "Where is Rivian made?\n")

    plan = asking.plan(TWO, Deadline(0))

    assert (plan.by, len(plan.parts), llm.closed) == ("grammar", 2, 1)
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
    assert parse_parts(reply) == tuple(Part(line, line) for line in expected)


def test_a_model_cannot_make_more_parts_than_the_limit() -> None:
    assert len(parse_parts("\n".join(f"What is number {number}?" for number in range(20)))) == MAX_PARTS


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (TWO, True),
        ("Is the tower in Morocco taller than the other ones?", True),
        (ONE, False),
        ("Mac and cheese?", False),
    ],
)
def test_the_form_says_whether_several_things_may_be_asked(question: str, expected: bool) -> None:
    assert may_be_several(question) is expected
