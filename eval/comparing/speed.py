"""Judge which of two systems answers faster, where that can be told at all.

Flow: `pairing.py` -> **here** -> `verdicts.py`. Pure.

How long an answer takes depends on what else the machine does, and that changes from one hour to the next: two runs
that were asked one after the other differ in every time. So speed has a verdict only

- from **interleaved** runs, asked at the same time, so that both meet the same load: the times of each question are
  paired where both were asked while both runs were under way;
- from **repeated** runs, asked in turns (A, B, A, B, A, B): the runs themselves are compared, since all questions of
  one run meet the same load, and 300 of them tell no more about that than one does.

Times are compared by their ratio (differences of logarithms): a slow machine slows down all of them alike. The verdict
is about the time to the whole answer; times of stages say where it went.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from scipy.special import stdtr, stdtrit

from eval.comparing.intervals import FEWEST_PAIRS, LEVEL, MOST_CHANCE, chances, paired_interval
from eval.comparing.pairing import Joined, Run
from eval.rows import Row

FEWEST_TURNS = 3
LEAST_RATIO = 1.1
METRIC = "seconds"


@dataclass(frozen=True, slots=True)
class Speed:
    """The verdict on speed.

    Attributes:
        verdict: `no verdict` where the runs cannot be compared by times.
        why: what the verdict rests on, or why there is none, and what to do about it: one clause.
        ratio: B's time by A's, of the geometric means; None without a verdict, as the bounds of its 95 % interval are.
    """

    verdict: Literal["faster", "slower", "no real difference", "no verdict"]
    why: str
    ratio: float | None = None
    low: float | None = None
    high: float | None = None


def judge_speed(joined: Joined, again: Sequence[tuple[Run, Run]] = ()) -> Speed:
    """Judge the times to the whole answer.

    Args:
        joined: the two runs.
        again: the same systems asked again; the runs were asked in turns.
    """
    turns = [(joined.a, joined.b), *again]
    if len(turns) > 1:
        return _repeated(turns, [case.id for case in joined.cases])
    return _interleaved(joined)


def _interleaved(joined: Joined) -> Speed:
    a, b = joined.a.rows, joined.b.rows
    asked = [[row.asked_at for row in rows.values() if row.asked_at is not None] for rows in (a, b)]
    if not all(asked):
        return Speed("no verdict", "a run does not tell when its questions were asked; ask both at the same time")
    begin, end = max(map(min, asked)), min(map(max, asked))
    logs_a, logs_b = (_logs(rows, begin, end) for rows in (a, b))
    shared = [case.id for case in joined.cases if case.id in logs_a and case.id in logs_b]
    if len(shared) < FEWEST_PAIRS:
        return Speed(
            "no verdict",
            f"{len(shared)} questions were asked while both runs were under way, and {FEWEST_PAIRS} are needed; "
            "ask both at the same time, or in turns (--again)",
        )
    differences = np.array([logs_b[id_] - logs_a[id_] for id_ in shared])
    found, chance = paired_interval(differences), float(chances(differences[:, None])[0])
    return _speed(found.mean, found.low, found.high, chance, f"{len(shared)} interleaved pairs")


def _repeated(turns: Sequence[tuple[Run, Run]], ids: Sequence[str]) -> Speed:
    started = [sorted((a.header.started, b.header.started)) for a, b in turns]
    if len(turns) < FEWEST_TURNS or any(one[1] > two[0] for one, two in pairwise(started)):
        return Speed(
            "no verdict",
            f"repeated runs must be asked in turns, A then B, {FEWEST_TURNS} times or more: these were not",
        )
    logs = [[_logs(side.rows) for side in turn] for turn in turns]
    shared = [id_ for id_ in ids if all(id_ in times for turn in logs for times in turn)]
    if not shared:
        return Speed("no verdict", "the repeated runs have no answered question in common")
    means = np.array([[np.mean([times[id_] for id_ in shared]) for times in turn] for turn in logs])
    freedom = 2 * (len(turns) - 1)
    error = math.sqrt(means.var(axis=0, ddof=1).sum() / len(turns))  # of the difference of two means of runs
    mean = float(means[:, 1].mean() - means[:, 0].mean())
    reach = -float(stdtrit(freedom, (1 - LEVEL) / 2)) * error
    chance = 2 * float(stdtr(freedom, -abs(mean) / error)) if error else float(mean == 0)
    return _speed(mean, mean - reach, mean + reach, chance, f"{len(turns)} runs of each in turns")


def _speed(mean: float, low: float, high: float, chance: float, why: str) -> Speed:
    ratio, bounds = math.exp(mean), (math.exp(low), math.exp(high))
    if chance > MOST_CHANCE or low <= 0 <= high or 1 / LEAST_RATIO < ratio < LEAST_RATIO:
        return Speed("no real difference", why, ratio, *bounds)
    return Speed("slower" if mean > 0 else "faster", why, ratio, *bounds)


def _logs(rows: Mapping[str, Row], begin: float = -math.inf, end: float = math.inf) -> dict[str, float]:
    """Return logarithms of the seconds of replies to questions that were asked between two Unix times."""
    replies = {id_: row for id_, row in rows.items() if row.outcome != "failed" and row.seconds > 0}
    return {id_: math.log(row.seconds) for id_, row in replies.items() if begin <= (row.asked_at or 0.0) <= end}
