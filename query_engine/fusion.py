"""Make one ranking of several.

Flow: dense and lexical rankings of leaves -> **here** -> merging. Pure. Scores of different searches cannot be
compared, ranks can.
"""

from collections.abc import Iterable, Sequence


def reciprocal_rank_fusion(rankings: Iterable[Sequence[str]], k: int) -> dict[str, float]:
    """Score every id that a ranking holds: the sum of 1 / (k + rank) over the rankings, rank from 1.

    Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods",
    SIGIR 2009.

    Args:
        rankings: ids, best first; an id stands in a ranking once at most.
        k: damps the lead of the first ranks; 60 in the paper.

    Returns:
        id -> score above 0, best first; ties keep the order of appearance.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, name in enumerate(ranking, start=1):
            scores[name] = scores.get(name, 0.0) + 1 / (k + rank)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))
