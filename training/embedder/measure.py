"""Measure an embedding model on held-out questions: the rank of the answering leaf among all held-out leaves.

Flow: pairs and leaves of held-out documents, their vectors -> **here** -> a table of before and after. By vectors
alone; `python -m bench retrieval` measures the whole retrieval with a model.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from eval.comparing.intervals import paired_interval
from eval.metrics import BUDGETS_CHARS, Scores, score_passages
from eval.tables import aligned, figure
from training.embedder.rows import Leaf, Pair

Vectors = npt.NDArray[np.float32]

CUT = 10


def score(pairs: Sequence[Pair], questions: Vectors, leaves: Sequence[Leaf], vectors: Vectors) -> list[Scores]:
    """Return each question's scores.

    `leaf_mrr@10` and `leaf_recall@10` say where the pair's leaf stands; the others are those of `score_passages`.

    Args:
        pairs: whose leaves are among `leaves`.
        questions: vectors, shape (pairs, dimension).
        leaves: that are searched.
        vectors: of the leaves, shape (leaves, dimension).
    """
    scored = []
    for pair, question in zip(pairs, questions, strict=True):
        order = np.argsort(-(vectors @ question), kind="stable")
        rank = next(place for place, leaf in enumerate(order, start=1) if leaves[leaf].node_id == pair.leaf.node_id)
        read, chars = [], 0
        for place in order:
            if chars >= max(BUDGETS_CHARS):
                break
            read.append(leaves[place])
            chars += len(leaves[place].text)
        own = {f"leaf_mrr@{CUT}": 1 / rank if rank <= CUT else 0.0, f"leaf_recall@{CUT}": float(rank <= CUT)}
        scored.append(own | score_passages(pair.case, read))
    return scored


def table(before: Sequence[Scores], after: Sequence[Scores]) -> str:
    """Return a Markdown table of means, with the 95 % interval of the difference where there are two questions."""
    lines = []
    for name in dict.fromkeys(name for scores in before for name in scores):
        pairs = [(old[name], new[name]) for old, new in zip(before, after, strict=True) if name in old]
        old, new = np.array(pairs).T
        interval = paired_interval(new - old) if len(pairs) > 1 else None
        shown = f"{interval.low:+.3f} to {interval.high:+.3f}" if interval else ""
        means = (figure(old.mean()), figure(new.mean()), f"{new.mean() - old.mean():+.3f}")
        lines.append((name, str(len(pairs)), *means, shown))
    return aligned(["metric", "n", "before", "after", "difference", "95 % interval"], lines)
