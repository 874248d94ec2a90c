"""Compare rankings: how much they agree, and which documents moved most.

Flow: a task's last table -> **here** -> `GET /pipeline/compare/{task_id}`. Only documents that are still in the table
are compared; a ranking's places are counted among them. Pure.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from pipelines.state import PipelineState

DEPTHS = (5, 10, 20)
MOST_MOVES = 5
NAMES = ("id", "doc_id", "title")


def compare(state: PipelineState) -> dict[str, Any]:
    """Return the rank columns, every document's places, and for each pair of columns how they differ.

    A pair has `kendall_tau` (tau-b, -1..1; None for fewer than two documents), `overlap` (k -> share of the first k
    that both have; only where there are more than k documents) and `moves`: the documents whose place changed most.
    """
    columns = state.rank_columns
    places = {name: _places(state.values(name)) for name in columns}
    named = state.rows([name for name in NAMES if name in state.columns])
    documents = [
        {**(named[row] if named else {}), "ranks": {name: places[name][row] for name in columns}}
        for row in range(state.count)
    ]
    pairs = [
        {"from": first, "to": second, **_pair(places[first], places[second], documents)}
        for first, second in combinations(columns, 2)
    ]
    return {"query": state.query, "rank_columns": columns, "documents": documents, "pairs": pairs}


def _pair(first: Sequence[int | None], second: Sequence[int | None], documents: list[dict[str, Any]]) -> dict[str, Any]:
    both = [(a, b, row) for row, (a, b) in enumerate(zip(first, second, strict=True)) if a and b]
    moves = sorted(both, key=lambda one: -abs(one[0] - one[1]))[:MOST_MOVES]
    return {
        "kendall_tau": _tau([a for a, _, _ in both], [b for _, b, _ in both]),
        "overlap": {str(k): _overlap(first, second, k) for k in DEPTHS if len(both) > k},
        "moves": [
            {**{name: documents[row].get(name) for name in NAMES}, "from": a, "to": b} for a, b, row in moves if a != b
        ],
    }


def _places(ranks: Sequence[int | None]) -> list[int | None]:
    """Return ranks counted from 1 among the documents that have one; equal ones share a place."""
    known = sorted({rank for rank in ranks if rank is not None})
    place = {rank: number for number, rank in enumerate(known, start=1)}
    return [None if rank is None else place[rank] for rank in ranks]


def _overlap(first: Sequence[int | None], second: Sequence[int | None], k: int) -> float:
    tops = [{row for row, place in enumerate(places) if place and place <= k} for places in (first, second)]
    return round(len(tops[0] & tops[1]) / k, 4)


def _tau(first: list[int], second: list[int]) -> float | None:
    if len(first) < 2:
        return None
    from scipy.stats import kendalltau  # noqa: PLC0415  # half a second to import

    tau = float(kendalltau(first, second).statistic)
    return None if tau != tau else round(tau, 4)  # noqa: PLR0124  # NaN where all are equal
