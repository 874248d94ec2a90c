"""Sub-questions, further apart than a single pass takes them."""

import pytest

from query_engine.question.decompose_rules import split_question
from research.parts import MAX_PARTS, sub_questions


def test_clauses_between_commas_are_parts_and_take_along_what_they_point_at() -> None:
    parts = sub_questions("What is hierarchical chunking, what is it good for, and does it have limits?")

    assert [(part.text, part.query, part.alone) for part in parts] == [
        ("What is hierarchical chunking", "What is hierarchical chunking", True),
        ("what is it good for", "What is hierarchical chunking what is it good for", True),
        ("does it have limits", "What is hierarchical chunking does it have limits", True),
    ]


@pytest.mark.parametrize(
    "asked",
    ["What are the pros and cons of semantic chunking?", "advantages and the disadvantages of semantic chunking"],
)
def test_both_sides_of_a_thing_are_parts(asked: str) -> None:
    assert [part.query for part in sub_questions(asked)] == [
        "advantages of semantic chunking",
        "disadvantages of semantic chunking",
    ]


@pytest.mark.parametrize(
    "asked",
    [
        "Who published the rotor limit?",
        "How many problems, formerly believed to be hard, did the paper address?",
        "In 1919, who published it?",
        "Salt, which is cheap, stores heat",
        "What is A, what?",
        "What is it,\nwhat is it good for, and does it have limits?",
    ],
)
def test_in_doubt_a_question_stays_whole(asked: str) -> None:
    assert sub_questions(asked) == ()


def test_what_grammar_takes_apart_stays_apart() -> None:
    asked = "Which dam is higher, Itaipu or Three Gorges?"

    assert sub_questions(asked) == split_question(asked)


def test_there_are_not_too_many() -> None:
    asked = ", ".join(f"what is the salt number {number}" for number in range(9))

    assert len(sub_questions(f"{asked}?")) == MAX_PARTS
