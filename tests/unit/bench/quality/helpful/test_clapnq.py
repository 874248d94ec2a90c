"""Answers beside the references of people, and beside the sentences that they marked."""

import json
from typing import Any

import pytest

from bench.quality.helpful.clapnq import ClapnqCase
from tests.fakes.rows import answered, quote

SENTENCES = ["The wind turns the rotor.", "Rotors are white.", "The rotor drives a generator.", ""]


def case(**changes: Any) -> ClapnqCase:
    row = {
        "id": "1",
        "question": "what drives the generator",
        "answer": "the rotor drives it",
        "passage": "a1",
        "sentences": SENTENCES,
        "answers": ["the rotor drives it", "a rotor"],
        "selected": [[], [2], [0, 2]],
    }
    return ClapnqCase.model_validate_json(json.dumps(row | changes))


def test_an_answer_is_compared_with_the_nearest_reference_and_annotator() -> None:
    answer = answered("**The rotor** drives a generator. [1]", [quote("a1", 0, 1, "T")])

    assert case().score(answer, {}) == {
        "ROUGE-L": pytest.approx(2 * 3 / (5 + 4)),
        "recall": 1.0,
        "sentence precision": 1.0,
        "sentence recall": 1.0,
        "sentence F1": 1.0,
        "word F1": 1.0,
        "declined answerable": 0.0,
        "characters": 37.0,
        "gold cited": 1.0,
    }


def test_a_sentence_is_held_by_four_fifths_of_its_words_in_their_order() -> None:
    most = case().score(answered("the wind, it turns a rotor; rotors, they are all white"), {})
    moved = case(selected=[[0]]).score(answered("rotor the turns wind the"), {})

    assert (most["sentence precision"], most["sentence recall"]) == (0.5, 0.5)
    assert (moved["sentence F1"], moved["word F1"]) == (0.0, 1.0)


def test_a_declined_question_counts_nothing_and_has_no_length() -> None:
    scores = case().score(answered(None), {})

    assert scores == {
        "ROUGE-L": 0.0,
        "recall": 0.0,
        "sentence precision": 0.0,
        "sentence recall": 0.0,
        "sentence F1": 0.0,
        "word F1": 0.0,
        "declined answerable": 1.0,
    }


def test_another_document_s_citation_is_not_the_gold_passage_s() -> None:
    assert case().score(answered("rotor", [quote("a2", 0, 1, "T")]), {})["gold cited"] == 0.0


@pytest.mark.parametrize(("text", "declined"), [(None, 1.0), ("the rotor", 0.0)])
def test_of_an_unanswerable_question_only_declining_counts(text: str | None, declined: float) -> None:
    unanswerable = case(answer=None, answers=[], selected=[])

    assert unanswerable.score(answered(text), {}) == {"declined unanswerable": declined}


def test_an_answerable_question_needs_a_reference() -> None:
    with pytest.raises(ValueError, match="needs a reference in `answers`"):
        case(answers=["…"])
