"""Judge each metric of two joined runs: better, worse, no real difference, or too few pairs to tell.

Flow: `pairing.py` -> **here** -> `gate.py`, `printing.py`. Pure; the arithmetic of intervals is `intervals.py`'s.

A verdict needs four things: 10 pairs, 6 that differ, an interval without 0, and a difference above what the judge's own
scatter and the user call nothing. Six, because with five that all point the same way a coin would do so once in 16
times (sign test). Failed rows pair with nothing, so that each side's coverage stands beside its mean.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from eval.cases import Case
from eval.cells import Cell, Mean, Metric, mean
from eval.comparing.intervals import LEVEL, SAMPLES, Interval, paired_interval
from eval.comparing.pairing import REPLIED, Joined, Side
from eval.scoring.catalogue import METRICS
from eval.scoring.judged.noise import Noise, noise

Verdict = Literal["better", "worse", "no difference", "no real difference", "too few to tell"]

FEWEST_PAIRS = 10
FEWEST_CHANGED = 6
# Each run has its own rows here, those that it declined: there is nothing to pair.
UNPAIRED = frozenset({"abstention_precision"})
_OF_REPLIES = Metric(REPLIED, "reply", "higher", "1 if the question has a reply, else 0.")
# Figures of vectors are given to four decimals, and the last one may tip from run to run.
TIE = 1.5e-4
_DEVIATES = 1.96


@dataclass(frozen=True, slots=True)
class Rules:
    """How to judge.

    Attributes:
        samples, seed: of the resampling.
        min_difference: smaller differences of means are none, in the unit of the metric.
    """

    samples: int = SAMPLES
    seed: int = 0
    min_difference: float = 0.0


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric of two runs, over some questions.

    Attributes:
        a, b: each side's coverage of these questions, its mean over the rows that it has a score for.
        pairs: questions that both sides have a score for; all below is over these.
        mean_a, mean_b: None without a pair.
        interval: of the mean difference, b - a; None with fewer than 2 pairs.
        wins, ties, losses: pairs in which b is better, the same, worse.
        lost: questions that a has a score for and b none although it should have one.
        noise: the difference that the judge's scatter alone reaches in 5 of 100 comparisons; None if never repeated.
        sure: whether the verdict holds although so many metrics were looked at (Holm).
    """

    metric: Metric
    a: Mean
    b: Mean
    pairs: int
    mean_a: float | None
    mean_b: float | None
    interval: Interval | None
    wins: int
    ties: int
    losses: int
    lost: int
    noise: float | None
    verdict: Verdict
    sure: bool = False


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All metrics of two joined runs.

    Attributes:
        answerable: over the questions that have an answer, or of which that is unknown.
        unanswerable: over those that have none; there, declining is right.
        by_category: the answerable ones by category, where there are several; cases without one stand below `""`.
        only_a, only_b: metrics that the other run was not scored by.
    """

    answerable: tuple[Difference, ...]
    unanswerable: tuple[Difference, ...]
    by_category: Mapping[str, tuple[Difference, ...]]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]

    @property
    def overall(self) -> tuple[Difference, ...]:
        """What is judged: both groups, not the categories."""
        return self.answerable + self.unanswerable


def judge(joined: Joined, rules: Rules) -> Verdicts:
    """Judge every metric that both runs were scored by."""
    names_a, names_b = metric_names(joined.a), metric_names(joined.b)
    order = {name: place for place, name in enumerate([REPLIED, *METRICS])}
    names = sorted(names_a & names_b - UNPAIRED, key=lambda name: (order.get(name, len(order)), name))
    noises = noise_floors(joined.a, joined.b, (case.id for case in joined.cases))

    def over(cases: Sequence[Case]) -> list[Difference]:
        found = [_compare(joined, cases, name, noises.get(name), rules) for name in names]
        return [one for one in found if one.a.of or one.b.of]

    answerable = [case for case in joined.cases if not case.unanswerable]
    categories = list(dict.fromkeys(case.category or "" for case in answerable))
    overall = over(answerable)
    of_unanswerable = over([case for case in joined.cases if case.unanswerable])
    held = _holm([*overall, *of_unanswerable])
    return Verdicts(
        tuple(held[: len(overall)]),
        tuple(held[len(overall) :]),
        {name: tuple(over([case for case in answerable if (case.category or "") == name])) for name in categories}
        if len(categories) > 1
        else {},
        tuple(sorted(names_a - names_b)),
        tuple(sorted(names_b - names_a)),
    )


def metric_names(side: Side) -> set[str]:
    """Return the metrics that a run was scored by."""
    return {name for cells in side.cells.values() for name in cells}


def metric_of(name: str) -> Metric:
    """Return what is known of a metric; of one that is not in the catalogue, that higher is taken for better."""
    return _OF_REPLIES if name == REPLIED else METRICS.get(name) or Metric(name, "other", "higher", "")


def noise_floors(a: Side, b: Side, ids: Iterable[str]) -> dict[str, float]:
    """Return by metric how far two scorings of the same answers differ by the judge's scatter alone, 95 of 100 times.

    If only one run was scored repeatedly, the other one's judge is taken to scatter as much, and it was asked once.
    """
    wanted = set(ids)
    of_a, of_b = (noise(line for line in side.scores if line.id in wanted) for side in (a, b))
    return {
        name: _DEVIATES * math.hypot(_scatter(of_a.get(name), of_b.get(name)), _scatter(of_b.get(name), of_a.get(name)))
        for name in of_a.keys() | of_b.keys()
    }


def _scatter(own: Noise | None, other: Noise | None) -> float:
    known = own or other
    return 0.0 if known is None else known.mean_sd / math.sqrt(own.repeats if own else 1)


def _compare(joined: Joined, cases: Sequence[Case], name: str, floor: float | None, rules: Rules) -> Difference:
    metric = metric_of(name)
    cells_a = [joined.a.cells[case.id].get(name) for case in cases]
    cells_b = [joined.b.cells[case.id].get(name) for case in cases]
    pairs = [
        (one.score, other.score)
        for one, other in zip(cells_a, cells_b, strict=True)
        if one is not None and other is not None and one.score is not None and other.score is not None
    ]
    scores = np.asarray(pairs, dtype=np.float64).reshape(-1, 2)
    differences = scores[:, 1] - scores[:, 0]
    differences[np.abs(differences) < TIE] = 0.0
    ups, downs = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    interval = paired_interval(differences, rules.samples, rules.seed) if len(pairs) > 1 else None
    wins, losses = (ups, downs) if metric.better == "higher" else (downs, ups)
    return Difference(
        metric=metric,
        a=mean(cells_a),
        b=mean(cells_b),
        pairs=len(pairs),
        mean_a=float(scores[:, 0].mean()) if pairs else None,
        mean_b=float(scores[:, 1].mean()) if pairs else None,
        interval=interval,
        wins=wins,
        ties=len(pairs) - wins - losses,
        losses=losses,
        lost=sum(_is_lost(one, other) for one, other in zip(cells_a, cells_b, strict=True)),
        noise=floor,
        verdict=_verdict(metric, interval, len(pairs), ups + downs, max(floor or 0.0, rules.min_difference)),
    )


def _is_lost(a: Cell | None, b: Cell | None) -> bool:
    return a is not None and a.score is not None and (b is None or b.failed is not None)


def _verdict(metric: Metric, interval: Interval | None, pairs: int, changed: int, floor: float) -> Verdict:
    if pairs and not changed:
        return "no difference"
    if interval is None or pairs < FEWEST_PAIRS:
        return "too few to tell"
    if interval.low <= 0 <= interval.high or abs(interval.mean) <= floor:
        return "no real difference"
    if changed < FEWEST_CHANGED:
        return "too few to tell"
    return "better" if (interval.mean > 0) == (metric.better == "higher") else "worse"


def _holm(differences: Sequence[Difference]) -> list[Difference]:
    """Mark the verdicts that hold with the level of error shared among all metrics (S. Holm, 1979)."""
    tested = {
        place: one.interval.p
        for place, one in enumerate(differences)
        if one.interval and one.verdict in ("better", "worse", "no real difference")
    }
    sure: set[int] = set()
    for rank, place in enumerate(sorted(tested, key=tested.__getitem__)):
        if tested[place] > (1 - LEVEL) / (len(tested) - rank):
            break
        sure.add(place)
    return [
        replace(one, sure=place in sure and one.verdict in ("better", "worse")) for place, one in enumerate(differences)
    ]
