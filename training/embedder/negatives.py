"""Mine hard negatives: leaves that are near a question and do not answer it.

Flow: pairs, the vectors of one's own corpus -> **here** -> rows of `fit.py`. A leaf almost as near as the one that
answers may answer too, so only leaves below a share of the answering leaf's cosine are taken (TopK-PercPos of Moreira
et al., 2024, arXiv 2407.15831), and none that holds the answer's words.
"""

import random
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from eval.metrics import SHORT_ANSWER_WORDS, contains, words
from training.embedder.rows import Leaf, Pair, Row

Vectors = npt.NDArray[np.float32]

MAX_SHARE_OF_POSITIVE = 0.95
CANDIDATES = 100


def mine(
    pairs: Sequence[Pair],
    questions: Vectors,
    positives: Vectors,
    leaves: Sequence[Leaf],
    vectors: Vectors,
    *,
    count: int,
    prefixes: tuple[str, str],
    seed: int,
) -> list[Row]:
    """Return one row a pair, each with `count` negatives; where too few are near, others are drawn.

    Args:
        pairs: of documents that are learnt from.
        questions: their vectors, shape (pairs, dimension).
        positives: vectors of their passages, shape (pairs, dimension).
        leaves: of documents that are learnt from.
        vectors: of the leaves, shape (leaves, dimension); all of unit length.
        count: of negatives.
        prefixes: of questions and of passages.
        seed: of the drawing.
    """
    draw = random.Random(seed)  # noqa: S311  # repeatable, and no secret
    before_question, before_passage = prefixes
    rows = []
    nearest = min(CANDIDATES, len(leaves))
    for pair, question, positive in zip(pairs, questions, positives, strict=True):
        cosines = vectors @ question
        most = MAX_SHARE_OF_POSITIVE * float(question @ positive)
        order = np.argpartition(-cosines, nearest - 1)[:nearest]
        order = order[np.argsort(-cosines[order], kind="stable")]
        hard = [leaves[place] for place in order if cosines[place] < most and not _answers(leaves[place], pair)]
        chosen = hard[:count]
        others = [leaf for leaf in draw.sample(leaves, min(len(leaves), 10 * count)) if not _answers(leaf, pair)]
        chosen += [leaf for leaf in others if leaf not in chosen][: count - len(chosen)]
        if len(chosen) == count:
            texts = tuple(before_passage + leaf.embedded for leaf in chosen)
            rows.append(Row(before_question + pair.case.question, before_passage + pair.leaf.embedded, texts))
    return rows


def _answers(leaf: Leaf, pair: Pair) -> bool:
    answer = pair.case.answer
    short = answer is not None and len(words(answer)) <= SHORT_ANSWER_WORDS
    return leaf.node_id == pair.leaf.node_id or (short and bool(contains(leaf.text, str(answer))))
