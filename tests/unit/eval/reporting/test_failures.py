from typing import Any

import pytest

from eval.cases import Case
from eval.cells import Cell, failed, scored
from eval.reporting.failures import KIND, KINDS, classify
from eval.rows import Row
from settings import Settings
from tests.fakes.runs import DAM, MOON, SALT, SAMPLE_CASES, SAMPLE_ROWS, case, reply

LONG = "They must survive the worst storm in decades, when the power of the sea is a hundred times the average."


def kind(asked: Case, row: Row | None, **cells: Cell) -> str:
    return classify(asked, row, cells).kind.key


@pytest.mark.parametrize(("asked", "row"), list(zip(SAMPLE_CASES, SAMPLE_ROWS, strict=True)))
def test_each_question_of_the_sample_falls_into_the_class_it_is_named_after(asked: Case, row: Row) -> None:
    assert kind(asked, row) == asked.id


def test_a_question_that_was_not_asked_is_no_failure_of_the_system() -> None:
    assert KIND[kind(case("a", "Why?", "Because"), None)].state == "open"


def test_half_of_a_long_references_content_words_make_an_answer_right() -> None:
    asked = case("a", "Why?", LONG, reference_context=LONG)

    assert kind(asked, reply("a", "The worst storm has the sea's power a hundred times higher.", LONG)) == "right"
    assert kind(asked, reply("a", "It is the worst storm.", LONG)) == "unsaid"


def test_an_alternative_makes_an_answer_right() -> None:
    asked = case("a", "When?", "the year 1991", alternatives=("in 1991",), reference_context=DAM)

    assert kind(asked, reply("a", "In 1991.", DAM)) == "right"


def test_the_judge_decides_before_the_words_do() -> None:
    asked, row = case("a", "When?", "1991", reference_context=DAM), reply("a", "It was 1991.", DAM)

    assert kind(asked, row, answer_correctness=scored(0.2)) == "unsaid"
    assert kind(asked, reply("a", "It was built then.", DAM), answer_correctness=scored(0.8)) == "right"


def test_the_judges_faithfulness_tells_answers_that_leave_their_passages() -> None:
    asked, row = case("a", "When?", "1991", reference_context=DAM), reply("a", "Vindeby had turbines.", DAM)

    assert kind(asked, row, faithfulness=scored(0.4)) == "against"
    assert kind(asked, row, faithfulness=scored(0.9)) == "unsaid"
    assert kind(asked, row, faithfulness=failed("down"), deepeval_faithfulness=scored(0.4)) == "against"


def test_words_that_stand_in_no_passage_are_against_the_evidence() -> None:
    asked = case("a", "When?", "1991", reference_context=DAM)

    assert kind(asked, reply("a", "Nobody ever remembers such trifling dates.", DAM)) == "against"


def test_the_numbers_of_a_list_are_no_numbers_of_the_answer() -> None:
    asked = case("a", "When?", "1991", reference_context=DAM)

    row = reply("a", "1. Vindeby was the first wind farm.\n2. It had turbines of 450 kilowatts.", DAM)

    assert kind(asked, row) == "unsaid"


@pytest.mark.parametrize(
    ("known", "passage", "expected"),
    [
        ({"reference_context": MOON}, MOON, "declined"),
        ({"reference_context": MOON}, SALT, "missed"),
        ({}, "It is 38 millimetres in all.", "declined"),
        ({}, SALT, "missed"),
    ],
)
def test_declined_questions_differ_by_whether_the_evidence_was_there(
    known: dict[str, Any], passage: str, expected: str
) -> None:
    asked = case("a", "How far?", "38 millimetres", **known)

    assert kind(asked, reply("a", "I don't know.", passage, outcome="declined")) == expected


@pytest.mark.parametrize(("document", "expected"), [("1.md", "declined"), ("9.md", "missed")])
def test_relevant_documents_tell_where_nothing_else_does(document: str, expected: str) -> None:
    asked = Case(id="a", question="Why?", relevant_docs=(document,))

    assert kind(asked, reply("a", "I don't know.", DAM, outcome="declined")) == expected


@pytest.mark.parametrize(("document", "told"), [("1.md", "A relevant"), ("9.md", "No relevant")])
def test_a_miss_tells_whether_the_search_came_as_far_as_the_document(document: str, told: str) -> None:
    asked = case("a", "How far?", "38 millimetres", reference_context=MOON, relevant_docs=(document,))

    verdict = classify(asked, reply("a", "It is salt.", SALT), {})

    assert verdict.kind.key == "missed"
    assert f"{told} document is among the passages." in verdict.why


def test_that_a_yes_stands_somewhere_is_no_evidence() -> None:
    row = reply("a", "I don't know.", "Yes, it is so.", outcome="declined")

    assert kind(case("a", "Is it?", "Yes"), row) == "wrong"
    assert kind(case("a", "Is it?", "Yes", reference_context=DAM), row) == "missed"
    assert kind(case("a", "Is it?", "Yes", relevant_docs=("1.md",)), row) == "declined"


def test_a_service_that_tells_no_passages_leaves_the_cause_open() -> None:
    asked = case("a", "When?", "1991", reference_context=DAM)

    assert kind(asked, reply("a", "In 1954.", fingerprint="")) == "wrong"


def test_no_passages_of_a_service_that_tells_them_are_a_miss() -> None:
    asked = case("a", "When?", "1991", reference_context=DAM)

    assert kind(asked, reply("a", "I don't know.", outcome="declined")) == "missed"


def test_questions_without_any_reference_are_not_judged() -> None:
    asked = Case(id="a", question="Why?")

    assert kind(asked, reply("a", "Because.", DAM)) == "unjudged"
    assert kind(asked, reply("a", "I don't know.", DAM, outcome="declined")) == "unjudged"


def test_references_without_a_letter_are_not_judged_and_other_scripts_are() -> None:
    assert kind(case("a", "Which?", "!!!", reference_context="!!!"), reply("a", "!!!", DAM)) == "unjudged"
    assert kind(case("a", "Which?", "שלום"), reply("a", "שלום.", DAM)) == "right"


def test_suggestions_name_settings_that_exist() -> None:
    known = {
        f"RAG_{group}__{name}".upper()
        for group, field in Settings.model_fields.items()
        for name in getattr(field.annotation, "model_fields", {})
    }

    assert {name for kind in KINDS for name in kind.settings} <= known
    assert {kind.key for kind in KINDS if kind.advice} == {kind.key for kind in KINDS if kind.state == "bad"}
