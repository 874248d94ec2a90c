"""Short answers inside whole ones, and near misses that are declined or doubted."""

import json
from typing import Any

import pytest

from bench.quality.helpful.squad2 import Squad2Case
from eval.rows import Row
from tests.fakes.rows import answered, quote


def case(**changes: Any) -> Squad2Case:
    row = {
        "id": "1",
        "question": "Who ruled?",
        "answer": "the Duke",
        "answers": ["William", "the Duke of X-Y"],
        "relevant_docs": ["Normans.txt"],
        "corpus": "squad",
    }
    return Squad2Case.model_validate_json(json.dumps(row | changes))


def test_an_accepted_answer_is_found_without_case_articles_and_punctuation() -> None:
    answer = answered("Ruled by duke of the X, Y. [1]", [quote("Normans.txt", 0, 1, "R")])

    assert case().score(answer, {}) == {"contained": 1.0, "words": 8.0, "right doc": 1.0, "declined answerable": 0.0}


def test_part_of_a_word_is_not_contained() -> None:
    scores = case().score(answered("Williamson", [quote("Danes.txt", 0, 1, "W")]), {})

    assert (scores["contained"], scores["right doc"]) == (0.0, 0.0)


def test_a_declined_question_counts_nothing() -> None:
    declined = {"contained": 0.0, "words": 0.0, "right doc": 0.0, "declined answerable": 1.0}

    assert case().score(answered(None), {}) == declined


@pytest.mark.parametrize(
    ("answer", "declined", "doubted"),
    [
        (answered(None), 1.0, 1.0),
        (answered("William", warnings=["low_confidence: Perhaps not."]), 0.0, 1.0),
        (answered("William", warnings=["merging_skipped: Leaves."]), 0.0, 0.0),
    ],
    ids=["declined", "doubted", "answered"],
)
def test_a_near_miss_is_declined_or_doubted(answer: Row, declined: float, doubted: float) -> None:
    assert case(answer=None, answers=[]).score(answer, {}) == {
        "declined near misses": declined,
        "declined or low_confidence near misses": doubted,
    }


def test_an_answerable_question_needs_accepted_answers() -> None:
    with pytest.raises(ValueError, match="needs `answers`"):
        case(answers=[])
