"""Which sentences may be quoted, and which of them come first."""

from dataclasses import replace

import pytest

from query_engine.schema.passage import Passage
from query_engine.text.term_weights import (
    EMBEDDED_CHARS,
    EMBEDDED_SENTENCES,
    Candidate,
    best_candidates,
    question_weights,
)
from tests.fakes.engines import a_passage
from tests.unit.query_engine.synthesis.test_extractive import PlainWords

WORDS = PlainWords()
QUESTION = "What is the rotor limit?"


def candidates(*passages: Passage, question: str = QUESTION) -> list[Candidate]:
    return best_candidates(question_weights(question, WORDS), passages, WORDS)


def texts(*passages: Passage) -> list[str]:
    return [one.text for one in candidates(*passages)]


def test_a_question_s_weights_sum_to_one() -> None:
    assert sum(question_weights(QUESTION, WORDS).values()) == pytest.approx(1)
    assert question_weights("?!", WORDS) == {}


def test_sentences_that_hold_the_question_s_words_come_first() -> None:
    assert texts(a_passage(text="Towers are made of steel. The rotor limit is 59."))[0] == "The rotor limit is 59."


def test_of_equal_sentences_that_of_the_earlier_passage_comes_first_and_the_same_one_once() -> None:
    passages = [a_passage(name, f"The rotor limit {end}.") for name, end in (("a", "is low"), ("b", "is high"))]

    assert texts(*passages, passages[0]) == ["The rotor limit is low.", "The rotor limit is high."]


def test_a_passage_whose_leaf_is_nearer_speaks_for_its_sentences() -> None:
    far, near = (
        replace(a_passage(name, f"The rotor limit is {name}."), scores={"dense": score})
        for name, score in (("far", 0.0), ("near", 0.9))
    )

    assert texts(far, near)[0] == "The rotor limit is near."


def test_a_title_counts_in_part() -> None:
    title = replace(a_passage("a", "It was found early in the year."), title="Rotor limit")
    held = candidates(title)[0].held

    assert set(held) == {"rotor", "limit"}
    assert all(0 < share < 1 for share in held.values())


@pytest.mark.parametrize(
    "text",
    [
        "# The rotor limit of a machine is this",
        "What is the rotor limit of a machine?",
        "Rotor limit table",
        "Source: https://example.org/rotor/limit.html Fetched-At: 2026-02-15T17:09:14.863044+00:00",
        "The rotor limit, mail to: somebody.somewhere@example.org, another.one@example.org.",
    ],
)
def test_headings_questions_labels_and_addresses_are_not_offered(text: str) -> None:
    assert texts(a_passage(text=text)) == []


def test_a_line_that_repeats_the_title_is_not_offered() -> None:
    passage = replace(
        a_passage(text="Limits of a rotor and its machine - The Guide of Rotors"), title="Limits of a rotor"
    )

    assert texts(replace(passage, title="Limits of a rotor and its machine - The Guide")) == []


def test_a_line_that_several_documents_share_is_a_menu_but_a_sentence_may_be_said_again() -> None:
    menu = "Home rotor limit products company contact imprint help"

    assert texts(*(a_passage(name, menu) for name in "ab")) == [menu]
    assert texts(*(a_passage(name, menu) for name in "abc")) == []
    assert texts(*(a_passage(name, "The rotor limit is low.") for name in "abc")) == ["The rotor limit is low."]


def test_a_fragment_is_worth_less_than_a_sentence() -> None:
    assert texts(a_passage(text="so that the rotor limit is low. And the rotor limit is low."))[0].startswith("And")


def test_only_so_many_are_offered_and_long_ones_are_embedded_in_part() -> None:
    many = candidates(a_passage(text=" ".join(f"The rotor limit number {i} is {'very ' * 80}low." for i in range(30))))

    assert len(many) == EMBEDDED_SENTENCES
    assert all(len(one.embedded_text) == EMBEDDED_CHARS < len(one.text) for one in many)
