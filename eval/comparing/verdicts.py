"""Judge each metric of two joined runs: better, worse, no real difference, or too few pairs to tell.

Flow: `pairing.py` -> **here** -> `command.py`, `printing.py`, `reporting/`. Pure; the arithmetic is `intervals.py`'s,
and `speed.py` judges times.

Quality and cost are two verdicts, speed is a third. A metric is better or worse if there are 10 pairs, drawn from as
many documents (a question that names none counts as drawn from its own), its interval
excludes 0 as it is printed, its difference exceeds what the judge's own scatter and the user call nothing, and chance
makes any metric of its verdict differ as much in at most 1 of 100 comparisons. One of 100, because a release is held
back for it: of 20 comparisons without a change, all three verdicts together are wrong in one about every second time.
Failed rows pair with nothing, so that each side's coverage stands beside its mean.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from eval.cases import Case, apart, by_category
from eval.cells import Mean, Metric, mean, metric_names, score_of
from eval.comparing.intervals import (
    FEWEST_PAIRS,
    MOST_CHANCE,
    Interval,
    Numbers,
    Places,
    chances,
    paired_interval,
    summed,
)
from eval.comparing.pairing import Joined, Run
from eval.comparing.speed import Speed, judge_speed
from eval.scoring.catalogue import COST, OVER_ALL, SPEED, in_order
from eval.scoring.judged.noise import Noise, noise

Verdict = Literal["better", "worse", "no difference", "no real difference", "too few to tell", ""]
Whole = Literal["better", "worse", "mixed", "no difference", "too few to tell", "no verdict"]

DIGITS = 3  # bounds are judged as they are printed
# Figures of vectors are given to four decimals, and the last one may tip from run to run.
TIE = 1.5e-4
_DEVIATES = 1.96


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric of two runs, over some questions.

    Attributes:
        a, b: each side's coverage of these questions, its mean over the rows that it has a score for.
        pairs: questions that both sides have a score for; all below is over these.
        documents: that the pairs were drawn from; a question that names none has its own.
        mean_a, mean_b: None without a pair.
        interval: of the mean difference, b - a; None with fewer than 2 documents.
        wins, ties, losses: pairs in which b is better, the same, worse.
        lost: questions that a has a score for and b none although it should have one.
        noise: the difference that the judge's scatter alone reaches in 5 of 100 comparisons; None if never repeated.
        chance: how often chance alone makes any metric judged with this one differ as much, in (0, 1].
        verdict: empty for times, which `Verdicts.speed` judges.
    """

    metric: Metric
    a: Mean
    b: Mean
    pairs: int
    documents: int
    mean_a: float | None
    mean_b: float | None
    interval: Interval | None
    wins: int
    ties: int
    losses: int
    lost: int
    noise: float | None
    chance: float = 1.0
    verdict: Verdict = ""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All metrics of two joined runs.

    Attributes:
        answerable: over the questions that have an answer, or may have one.
        unanswerable: over those that have none; there, declining is right.
        by_category: the answerable ones by category, where there are several; cases without one stand below `""`.
        only_a, only_b: metrics that the other run was not scored by.
        speed: what is known of the times.
    """

    answerable: tuple[Difference, ...]
    unanswerable: tuple[Difference, ...]
    by_category: Mapping[str, tuple[Difference, ...]]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    speed: Speed

    @property
    def overall(self) -> tuple[Difference, ...]:
        """What is judged: both groups, not the categories."""
        return self.answerable + self.unanswerable

    @property
    def quality(self) -> Whole:
        """Whether B's answers are better: `mixed` if some metrics say so and others the contrary."""
        return _whole(self.deciding(cost=False))

    @property
    def cost(self) -> Whole:
        """Whether B needs less text: better means cheaper."""
        return _whole(self.deciding(cost=True))

    def deciding(self, *, cost: bool) -> list[Difference]:
        """Return what the verdict on cost rests on, or that on quality."""
        return [one for one in self.overall if one.metric.family != SPEED and (one.metric.family == COST) == cost]


def judge(joined: Joined, min_difference: float = 0.0, again: Sequence[tuple[Run, Run]] = ()) -> Verdicts:
    """Judge every metric that both runs were scored by.

    Args:
        joined: the runs.
        min_difference: smaller differences of means are none, in the unit of the metric.
        again: the same two systems asked again, in the order in which they were asked; only times are read.
    """
    names_a, names_b = (set(metric_names(side.cells)) for side in (joined.a, joined.b))
    # A metric over all kinds of questions rests on those that a run declined. The other run declined other ones, so
    # that there is nothing to pair.
    metrics = in_order(names_a & names_b - OVER_ALL)
    noises = noise_floors(joined.a, joined.b, (case.id for case in joined.cases))
    differences = np.array([_differences(joined, one.name) for one in metrics])
    families = np.array([one.family for one in metrics])
    place = {case.id: place for place, case in enumerate(joined.cases)}
    documents = drawn_from(joined.cases)

    def over(groups: Sequence[Sequence[Case]]) -> list[tuple[Difference, ...]]:
        """Judge each group of questions; metrics of one verdict, over all these groups, share one level of error."""
        places = [[place[case.id] for case in group] for group in groups]
        table = np.zeros((len(groups), *differences.shape))
        for of_group, at in zip(table, places, strict=True):
            of_group[:, at] = np.nan_to_num(differences[:, at])
        chance = np.ones(table.shape[:2])
        for cost in (True, False):
            chosen = (families != SPEED) & ((families == COST) == cost)
            some = table[:, chosen]
            chance[:, chosen] = chances(summed(some.reshape(-1, len(documents)).T, documents)).reshape(some.shape[:2])
        found = []
        for group, at, of_group in zip(groups, places, chance, strict=True):
            compared = (
                _compare(
                    joined, group, metric, own[at], documents[at], floor=noises.get(metric.name), chance=float(likely)
                )
                for metric, own, likely in zip(metrics, differences, of_group, strict=True)
            )
            told = (one for one in compared if one.a.of or one.b.of)
            found.append(tuple(replace(one, verdict=_verdict(one, min_difference)) for one in told))
        return found

    groups = apart(joined.cases)
    answerable, unanswerable = over(groups)
    categories = by_category(groups[0])
    if len(categories) < 2:
        categories = {}
    return Verdicts(
        answerable,
        unanswerable,
        dict(zip(categories, over(list(categories.values())), strict=True)),
        tuple(sorted(names_a - names_b)),
        tuple(sorted(names_b - names_a)),
        judge_speed(joined, again),
    )


def noise_floors(a: Run, b: Run, ids: Iterable[str]) -> dict[str, float]:
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


def drawn_from(cases: Iterable[Case]) -> Places:
    """Return a number for the document of each question, another one for each question that names none."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(case.drawn_from or (case.id,), len(numbers)) for case in cases], dtype=np.intp)


def _differences(joined: Joined, name: str) -> Numbers:
    """Return b - a for each question; NaN where a side has no score."""
    a, b = (
        np.array([score_of(side.cells[case.id], name) for case in joined.cases], dtype=float)
        for side in (joined.a, joined.b)
    )
    return np.where(np.abs(b - a) < TIE, 0.0, b - a)


def _compare(
    joined: Joined,
    cases: Iterable[Case],
    metric: Metric,
    found: Numbers,
    documents: Places,
    *,
    floor: float | None,
    chance: float,
) -> Difference:
    cells_a, cells_b = ([run.cells[case.id].get(metric.name) for case in cases] for run in (joined.a, joined.b))
    paired = [place for place, value in enumerate(found) if not math.isnan(value)]
    drawn = len(np.unique(documents[paired]))
    gains = found[paired] if metric.better == "higher" else -found[paired]
    return Difference(
        metric=metric,
        a=mean(cells_a),
        b=mean(cells_b),
        pairs=len(paired),
        documents=drawn,
        mean_a=mean(cells_a[place] for place in paired).value,
        mean_b=mean(cells_b[place] for place in paired).value,
        interval=paired_interval(found[paired], documents[paired]) if drawn > 1 else None,
        wins=int(np.count_nonzero(gains > 0)),
        ties=int(np.count_nonzero(gains == 0)),
        losses=int(np.count_nonzero(gains < 0)),
        lost=sum(
            a is not None and a.score is not None and (b is None or b.failed is not None)
            for a, b in zip(cells_a, cells_b, strict=True)
        ),
        noise=floor,
        chance=chance,
    )


def _verdict(one: Difference, min_difference: float) -> Verdict:
    if one.metric.family == SPEED:
        return ""
    if one.pairs and one.ties == one.pairs:
        return "no difference"
    if one.interval is None or one.documents < FEWEST_PAIRS:
        return "too few to tell"
    within = abs(one.interval.mean) <= max(one.noise or 0.0, min_difference)
    if within or round(one.interval.low, DIGITS) <= 0 <= round(one.interval.high, DIGITS):
        return "no real difference"
    if one.chance > MOST_CHANCE:
        return "too few to tell"
    return "better" if (one.interval.mean > 0) == (one.metric.better == "higher") else "worse"


def _whole(found: Iterable[Difference]) -> Whole:
    said = {one.verdict for one in found}
    if not said:
        return "no verdict"
    if {"better", "worse"} <= said:
        return "mixed"
    if said & {"better", "worse"}:
        return "better" if "better" in said else "worse"
    return "no difference" if said & {"no difference", "no real difference"} else "too few to tell"
