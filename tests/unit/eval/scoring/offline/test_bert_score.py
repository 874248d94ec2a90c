"""BERTScore by hand, over a table of vectors."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest

from errors import ModelError
from eval.cells import failed, not_applicable, scored
from eval.rows import Row
from eval.scoring.catalogue import names_of
from eval.scoring.offline.answer import AnswerScorer, EncodeTokens, bert_score, bert_scored
from eval.scoring.stage import Cells
from tests.fakes.eval_rows import answered, case, declined, unreplied

Vectors = npt.NDArray[np.float32]
NAMES = names_of("bert_score")


def unit(*degrees: float) -> Vectors:
    """Return vectors of these directions, between two special tokens that resemble none of them."""
    angles = np.radians(degrees)
    plane = np.stack([np.cos(angles), np.sin(angles), np.zeros(len(angles))], axis=1)
    special = np.array([[0.0, 0.0, 1.0]])
    return np.concatenate([special, plane, special]).astype(np.float32)


def directions(texts: Sequence[str]) -> list[Vectors]:
    """Embed each word as the direction that it names."""
    return [unit(*(float(word) for word in text.split())) for text in texts]


def cells_of(row: Row, encode: EncodeTokens = directions, **known: object) -> Cells:
    scorer = AnswerScorer("bert_score", partial(bert_scored, encode=encode))
    ((_, cells),) = scorer.score([(case(row.id, **known), row)])
    return cells


def test_each_token_is_matched_with_the_nearest_one_of_the_other_text() -> None:
    scores = bert_score(unit(0, 60), unit(0, 90, 120))

    precision = (1 + np.cos(np.radians(30))) / 2
    recall = (1 + np.cos(np.radians(30)) + 0.5) / 3
    assert scores == {
        "bert_score_f1": pytest.approx(2 * precision * recall / (precision + recall)),
        "bert_score_precision": pytest.approx(precision),
        "bert_score_recall": pytest.approx(recall),
    }


def test_a_text_matches_itself_and_nothing_matches_no_text() -> None:
    assert bert_score(unit(10, 20), unit(10, 20)) == {name: pytest.approx(1) for name in NAMES}
    assert bert_score(unit(), unit(10)) == bert_score(unit(10), unit()) == dict.fromkeys(NAMES, 0.0)


def test_the_best_reference_counts_and_marks_do_not() -> None:
    cells = cells_of(answered("10 20 [1]"), answer="200", alternatives=["10 20"])

    assert cells == {name: scored(1) for name in NAMES}


def test_rows_without_an_answer_or_a_reference() -> None:
    assert cells_of(declined(), answer="10") == dict.fromkeys(NAMES, scored(0))
    assert {cell.failed is not None for cell in cells_of(unreplied(), answer="10").values()} == {True}
    assert cells_of(answered("10")) == dict.fromkeys(NAMES, not_applicable("the case has no reference answer"))


def test_a_missing_model_fails_the_cells() -> None:
    def missing(_: Sequence[str]) -> list[Vectors]:
        raise ModelError("It is missing.", "Install it.")

    assert cells_of(answered("10"), missing, answer="10") == dict.fromkeys(NAMES, failed("It is missing."))
