"""Weights of the tree's evidence: they follow what tells right leaves from others, and stay within their bounds."""

import random

import numpy as np
import pytest

from query_engine.retrieval.fusion import SCORERS, WEIGHTS
from tests.fakes.tables import plain_rows
from training.fusion_weights.fit import LEAST_NAMES, Ranked, fitted, in_folds, places_table


@pytest.fixture
def asked() -> list[Ranked]:
    """Questions whose right leaf has the highest `lexical` value; all else is noise, `names` points elsewhere."""
    draw = random.Random(3)
    questions = []
    for _ in range(60):
        values = np.array([[draw.random() for _ in SCORERS] for _ in range(12)])
        right = values[:, SCORERS.index("lexical")].argmax()
        values[right, SCORERS.index("names")] = 0.0
        questions.append(Ranked("made", values, np.arange(12) == right))
    return questions


def test_the_scorer_that_tells_right_leaves_counts_most(asked: list[Ranked]) -> None:
    weights = fitted(asked, WEIGHTS)

    assert sum(weights.values()) == pytest.approx(1)
    assert max(weights, key=lambda scorer: weights[scorer]) == "lexical"
    assert min(weights.values()) >= 0
    assert weights["names"] >= LEAST_NAMES / 2, "found by nothing else, it is never left out"


def test_questions_are_placed_by_weights_that_have_not_seen_them(asked: list[Ranked]) -> None:
    shipped, folds = [one.place(WEIGHTS) for one in asked], in_folds(asked, WEIGHTS)

    assert np.mean(np.array(folds) <= 1) > np.mean(np.array(shipped) <= 1)
    header, row = plain_rows(places_table(asked, {"shipped": shipped, "in folds": folds}))
    assert header.count("among") == 6
    assert row.startswith("| made | 60 |")


def test_a_question_without_a_right_leaf_has_no_place_and_teaches_nothing(asked: list[Ranked]) -> None:
    lost = Ranked("made", np.ones((2, len(SCORERS))), np.zeros(2, np.bool_))

    assert lost.place(WEIGHTS) == float("inf")
    assert fitted([*asked, lost], WEIGHTS) == fitted(asked, WEIGHTS)
