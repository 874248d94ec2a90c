"""`python -m eval prefer RUN RUN [RUN...]`: which run's answers does a judge prefer?

Run folders -> `duels.py` -> `bradley_terry.py` -> two tables on stdout; **here** they are put together. Every question
that all runs have a reply to, and that has an answer, is a duel of each two runs. Exit codes: 0 done, 1 the judge was
given up, or a foreseen failure.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from eval.cases import Case
from eval.comparing.intervals import FEWEST_PAIRS, paired_interval
from eval.comparing.pairing import NotComparableError
from eval.preferring.bradley_terry import intervals, ratings
from eval.preferring.duels import ASKED, Decided, decide, duels
from eval.rows import Row
from eval.run_folder import RunFolder
from eval.scoring.build import open_judge
from eval.tables import aligned
from settings import Settings

_NOTE = (
    "Ratings by Bradley and Terry, 1000 on average: 400 points more are ten wins to one. A win is a preference in both "
    "orders of the answers. Intervals of 95 %, over resampled questions."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `prefer`."""
    parser.add_argument("first", type=Path, metavar="RUN", help="folder of a run")
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folders of runs of the same questions")
    parser.add_argument("--judge", action="store_true", help="may be given as for `score`: a judge is always asked")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Let the judge compare the answers, and print who won."""
    paths = [arguments.first, *arguments.runs]
    judge = open_judge(settings)
    folders = [RunFolder(path) for path in paths]
    rows = [folder.rows() for folder in folders]
    cases = _common([folder.cases() for folder in folders], rows)
    todo = list(duels(cases, rows))
    judge.tell(f"{len(cases)} questions, {len(todo)} duels: at most {ASKED * len(todo):,} questions to the judge")
    decided = list(decide(judge, todo, settings.judge.concurrency))
    sys.stdout.write(describe([str(path) for path in paths], len(cases), decided) + "\n")
    if judge.given_up:
        sys.stdout.write(f"\n**The judge was given up, and duels are left.** {judge.given_up}\n")
    return int(judge.given_up is not None)


def _common(cases: Sequence[Sequence[Case]], rows: Sequence[Mapping[str, Row]]) -> list[Case]:
    """Return the questions that every run has a reply to, in the order of the first run."""
    asked = [
        {(case.id, case.question) for case in some if case.id in kept and kept[case.id].outcome != "failed"}
        for some, kept in zip(cases, rows, strict=True)
    ]
    common = [
        case for case in cases[0] if not case.unanswerable and all((case.id, case.question) in some for some in asked)
    ]
    if not common:
        raise NotComparableError(
            "There is no question that all of these runs have a reply to and that has an answer.",
            "Run all with the same file of questions.",
        )
    return common


def describe(names: Sequence[str], questions: int, decided: Sequence[Decided]) -> str:
    """Return the ratings and the duels of each pair as Markdown, best run first."""
    wins = np.zeros((questions, len(names), len(names)))
    for one in decided:
        if one.score is not None:
            wins[one.duel.place, one.duel.a, one.duel.b] += one.score
            wins[one.duel.place, one.duel.b, one.duel.a] += 1 - one.score
    rated, (low, high) = ratings(wins.sum(0)), intervals(wins)
    best = [
        [names[place], f"{rated[place]:.0f}", f"{low[place]:.0f} … {high[place]:.0f}"] for place in np.argsort(-rated)
    ]
    missing = sum(one.score is None for one in decided)
    parts = [
        f"# {questions} questions, {len(decided)} duels" + (f", {missing} without a judgement" if missing else ""),
        aligned(["run", "rating", "95 % interval"], best, left={0}),
        aligned(_HEADER, _pairs(names, decided), left={0, 1, 7}),
        _NOTE,
    ]
    return "\n\n".join(parts)


_HEADER = ["A", "B", "A won", "tied", "B won", "orders agree", "A - B, 95 %", "preferred"]


def _pairs(names: Sequence[str], decided: Sequence[Decided]) -> Iterator[list[str]]:
    for a, b in combinations(range(len(names)), 2):
        known = [one for one in decided if (one.duel.a, one.duel.b) == (a, b) and one.score is not None]
        counts = Counter(one.score for one in known)
        agreed = f"{100 * sum(one.agreed for one in known) / len(known):.0f} %" if known else "–"
        lead = np.array([2 * (one.score or 0.0) - 1 for one in known])
        span, preferred = "–", "too few to tell"
        if len(known) >= FEWEST_PAIRS:
            found = paired_interval(lead)
            span = f"{found.low:+.3f} … {found.high:+.3f}"
            preferred = names[a] if found.low > 0 else names[b] if found.high < 0 else "neither"
        yield [names[a], names[b], str(counts[1]), str(counts[0.5]), str(counts[0]), agreed, span, preferred]
