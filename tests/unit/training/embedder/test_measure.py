"""Where the leaf that answers stands, before and after."""

import numpy as np

from eval.cases import Case
from tests.fakes.tables import plain_rows
from training.embedder.measure import score, table
from training.embedder.rows import Leaf, Pair


def test_ranks_and_answers_are_scored() -> None:
    leaves = [Leaf(name, f"{name}.md", name, text) for name, text in (("a", "x" * 1990), ("b", "in 1919"), ("c", "no"))]
    case = Case(id="1", question="Q?", answer="1919", relevant_docs=("b.md",))
    vectors = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]], np.float32)

    (found,) = score([Pair(case, leaves[1])], np.array([[1, 0]], np.float32), leaves, vectors)

    assert found["leaf_mrr@10"] == 0.5
    assert found["leaf_recall@10"] == 1
    assert found["doc@1"] == 0
    assert found["answer@2000"] == 1


def test_the_table_pairs_what_both_have() -> None:
    shown = plain_rows(table([{"m": 0.0}, {"m": 1.0, "k": 0.5}], [{"m": 1.0}, {"m": 1.0, "k": 0.0}]))

    assert shown[1].startswith("| m | 2 | 0.500 | 1.000 | +0.500 |")
    assert "| k | 1 | 0.500 | 0.000 | -0.500 |  |" in shown
