"""Relevance: how well does each passage answer the question, from 0 to 3, and do the good ones come first?

The scale of UMBRELA (S. Upadhyay et al., 2024, arXiv 2406.06519), which is that of TREC's deep learning tracks; as
there, 2 and 3 count as relevant. No reference is needed, so what was not found is unknown: average precision is over
the relevant passages that were found, and the best order is that of the passages at hand.
"""

from eval.cases import Case
from eval.metrics import ndcg, reciprocal_rank
from eval.rows import Row
from eval.scoring.judge_client.client import Judge
from eval.scoring.judged.family import Decided, Family, Measures
from eval.scoring.judged.labels import BATCH, ask_labels
from eval.scoring.judged.scorer import Material

_GRADES = ("0", "1", "2", "3")
_RELEVANT = 2
_CUTS = (1, 5, 10)
_TASK = (
    'Grade each item, a passage, by what it does for the question. "3": it is about the question and gives the exact '
    'answer. "2": it holds an answer, but a vague one, or among much else. "1": it is on the topic without an '
    'answer. "0": it has nothing to do with the question.'
)


def _questions(case: Case, row: Row) -> int:  # noqa: ARG001  # as `Measures` wants it
    return -(-len(row.passages) // BATCH)


async def _decide(judge: Judge, nth: str, material: Material) -> Decided:
    given = {"question": material.question}
    labels = await ask_labels(judge, nth, _TASK, given, items=material.passages, labels=_GRADES)
    return scores([int(label) for label in labels])


def scores(grades: list[int]) -> dict[str, float]:
    """Return the metrics of passages with these grades, in their order."""
    ranks = [rank for rank, grade in enumerate(grades, start=1) if grade >= _RELEVANT]
    order = [str(rank) for rank in range(1, len(grades) + 1)]
    return {
        **{f"judged_p@{k}": sum(rank <= k for rank in ranks) / k for k in _CUTS},
        "judged_ap": sum(n / rank for n, rank in enumerate(ranks, start=1)) / len(ranks) if ranks else 0.0,
        "judged_mrr": reciprocal_rank(order, map(str, ranks)),
        "judged_ndcg@10": ndcg(order, dict(zip(order, grades, strict=True))),
    }


_ABOUT = {
    **{f"judged_p@{k}": f"Relevant passages among the first {k}, over {k}, by the judge; 0 to 1." for k in _CUTS},
    "judged_ap": "Average precision of the passages, over the relevant ones among them, by the judge; 0 to 1.",
    "judged_mrr": "1 / rank of the first relevant passage, 0 if there is none, by the judge.",
    "judged_ndcg@10": "Graded gain of the first 10 passages over that of the best order, by the judge; 0 to 1.",
}
FAMILY = Family("relevance", _decide, Measures(_ABOUT, ("passages",), _questions))
