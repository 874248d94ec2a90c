"""Hard negatives: near the question, not what answers it, and not what may answer it too."""

import numpy as np

from eval.cases import Case
from training.embedder.negatives import mine
from training.embedder.rows import Leaf, Pair, Row


def _leaf(name: str, text: str = "") -> Leaf:
    return Leaf(name, f"{name}.md", f"T\n{text or name}", text or name)


def _unit(*cosines: float) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    return np.array([[cosine, np.sqrt(1 - cosine * cosine)] for cosine in cosines], np.float32)


def _mined(leaves: list[Leaf], cosines: list[float], count: int = 1, answer: str | None = None) -> list[Row]:
    case = Case(id="1", question="Q?", answer=answer)
    pair = Pair(case, leaves[0])
    vectors = _unit(*cosines)
    question = np.array([[1, 0]], np.float32)
    return mine([pair], question, vectors[:1], leaves, vectors, count=count, prefixes=("q: ", "p: "), seed=0)


def test_the_nearest_leaf_below_the_positive_is_taken() -> None:
    leaves = [_leaf("positive"), _leaf("too_near"), _leaf("hard"), _leaf("far")]
    (row,) = _mined(leaves, [0.8, 0.79, 0.7, 0.1])

    assert row == Row("q: Q?", "p: T\npositive", ("p: T\nhard",))


def test_a_leaf_that_holds_the_answer_is_none() -> None:
    leaves = [_leaf("positive", "in 1919"), _leaf("same", "It was 1919."), _leaf("hard", "It was 1920.")]
    (row,) = _mined(leaves, [0.8, 0.7, 0.6], answer="1919")

    assert row.negatives == ("p: T\nIt was 1920.",)


def test_where_too_few_are_near_others_are_drawn_and_no_row_has_fewer() -> None:
    leaves = [_leaf("positive"), _leaf("too_near"), _leaf("hard")]
    (row,) = _mined(leaves, [0.8, 0.8, 0.5], count=2)
    assert set(row.negatives) == {"p: T\nhard", "p: T\ntoo_near"}

    assert not _mined(leaves, [0.8, 0.8, 0.5], count=3)
