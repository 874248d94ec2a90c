"""`python -m eval prefer RUN RUN [RUN...]`: which run's answers does a judge prefer?

Run folders -> **here** -> two tables on stdout. Every question that all runs have a reply to, and that has an answer,
is a duel of each two runs. Exit codes: 0 done, 1 the judge was given up, or a foreseen failure.

Judges prefer what stands first: an answer has won only if it is preferred in both orders, all else is a tie (L. Zheng
et al., "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena", 2023, arXiv 2306.05685). Answers come without their
marks, which tell a system apart; equal ones are not asked about. The prompt is ours.

Ratings are by the model of Bradley and Terry: a run of strength b beats one of strength c with probability
1 / (1 + exp(c - b)) (Biometrika 39:324, 1952); a tie counts as half a win of each, as in Chatbot Arena (W. Chiang et
al., 2024, arXiv 2403.04132). Each pair of runs gets one tie more than was seen: otherwise a run that wins every duel
would be infinitely strong. Ratings are on the scale of Elo, 1000 on average: 400 points more are ten wins to one.
Intervals come from resampled questions, since the duels of a question are not independent.
"""

import argparse
import asyncio
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.special import expit

from eval.cases import Case
from eval.comparing.intervals import FEWEST_PAIRS, Numbers, paired_interval
from eval.comparing.pairing import NotComparableError
from eval.metrics import spoken
from eval.rows import Row
from eval.run_folder import RunFolder
from eval.scoring.build import open_judge
from eval.scoring.judge_client import Judge, JudgeDownError, JudgeError, JudgeRefusedError
from eval.scoring.judged.labels import ask_labels
from eval.scoring.judged.scorer import judge_each
from eval.tables import aligned
from settings import Settings

RESAMPLES = 1000
_STEPS = 50
_TASK = (
    "The item holds two answers to the question. Say which of them serves the person who asks better: it is right, "
    'answers what was asked, and says as much as is needed, clearly. "first", "second", or "tie" where neither is '
    "better. Neither the order nor the length decides. An answer that says that it does not know is better than a "
    "wrong one, and worse than a right one."
)
_VOTES = {"first": 1, "second": -1, "tie": 0}
_NOTE = (
    "Ratings by Bradley and Terry, 1000 on average: 400 points more are ten wins to one. A win is a preference in both "
    "orders of the answers. Intervals of 95 %, over resampled questions."
)
_HEADER = ["A", "B", "A won", "tied", "B won", "orders agree", "A - B, 95 %", "preferred"]


@dataclass(slots=True)
class Duel:
    """Two answers to one question, and the judge's decision.

    Attributes:
        place: of the question.
        a, b: places of the runs, `a < b`.
        score: of run `a`: 1, 0.5 (a tie) or 0; None if the judge gave no judgement.
        agreed: whether both orders led to the same verdict.
    """

    place: int
    a: int
    b: int
    question: str
    answers: tuple[str, str]
    score: float | None = None
    agreed: bool = False


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
    todo = list(_duels(cases, rows))
    judge.tell(f"{len(cases)} questions, {len(todo)} duels: at most {2 * len(todo):,} questions to the judge")
    decided = asyncio.run(_decide(judge, todo))
    print(_describe([str(path) for path in paths], len(cases), decided))
    if judge.given_up:
        print(f"\n**The judge was given up, and duels are left.** {judge.given_up}")
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
            "These runs do not share a single answerable question to which all of them replied.",
            "Run all with the same file of questions.",
        )
    return common


def _duels(cases: Sequence[Case], runs: Sequence[Mapping[str, Row]]) -> Iterator[Duel]:
    """Yield the duels of all pairs of runs, question by question."""
    for place, case in enumerate(cases):
        said = [spoken(rows[case.id].answer or "") for rows in runs]
        for a, b in combinations(range(len(runs)), 2):
            yield Duel(place, a, b, case.question, (said[a], said[b]))


async def _decide(judge: Judge, todo: Sequence[Duel]) -> list[Duel]:
    """Return the duels that the judge decides until it is given up."""

    async def vote(question: str, first: str, second: str) -> int:
        """Return 1 for the first answer, -1 for the second, 0 for neither."""
        items = [{"first": first, "second": second}]
        (label,) = await ask_labels(judge, "0", _TASK, {"question": question}, items=items, labels=list(_VOTES))
        return _VOTES[label]

    async def work(duel: Duel) -> Duel:
        one, other = duel.answers
        if one.split() == other.split():
            duel.score, duel.agreed = 0.5, True
            return duel
        try:
            votes = [await vote(duel.question, one, other), -await vote(duel.question, other, one)]
        except JudgeError as error:
            judge.row_done(error if isinstance(error, JudgeDownError | JudgeRefusedError) else None)
            return duel
        judge.row_done(None)
        duel.agreed = votes[0] == votes[1]
        duel.score = (1 + votes[0]) / 2 if duel.agreed else 0.5
        return duel

    async with judge.connected(), aclosing(judge_each(judge, todo, work)) as each:
        decided = [duel async for duel in each]
        judge.rows_done()
    return decided


def ratings(wins: Numbers) -> Numbers:
    """Return the rating of each run, shape (..., runs).

    Args:
        wins: of each run (second to last axis) over each other one (last axis), ties counting 0.5, shape
            (..., runs, runs).
    """
    runs = wins.shape[-1]
    wins = wins + 0.5 * (1 - np.eye(runs))
    games = wins + wins.swapaxes(-1, -2)
    strength: Numbers = np.zeros(wins.shape[:-1])
    for _ in range(_STEPS):  # Newton's method; the log-likelihood is concave
        expected = expit(strength[..., :, None] - strength[..., None, :])
        slope = (wins - games * expected).sum(-1)
        weight = games * expected * (1 - expected)
        curvature = weight.sum(-1)[..., None] * np.eye(runs) - weight + 1.0  # + 1: the strengths sum to 0
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        longest = np.abs(step).max(-1, keepdims=True)
        strength += step / np.maximum(1, longest)
        if longest.max() < 1e-9:
            break
    return 1000 + strength * (400 / math.log(10))


def intervals(wins: Numbers) -> tuple[Numbers, Numbers]:
    """Return the bounds of each rating's 95 % interval, each of shape (runs,).

    Args:
        wins: by question, shape (questions, runs, runs).
    """
    questions = len(wins)
    drawn = np.random.default_rng(0).multinomial(questions, [1 / questions] * questions, RESAMPLES)
    resampled = ratings(np.tensordot(drawn.astype(float), wins, axes=1))
    low, high = np.quantile(resampled, [0.025, 0.975], axis=0)
    return low, high


def _describe(names: Sequence[str], questions: int, decided: Sequence[Duel]) -> str:
    """Return the ratings and the duels of each pair as Markdown, best run first."""
    wins = np.zeros((questions, len(names), len(names)))
    for one in decided:
        if one.score is not None:
            wins[one.place, one.a, one.b] += one.score
            wins[one.place, one.b, one.a] += 1 - one.score
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


def _pairs(names: Sequence[str], decided: Sequence[Duel]) -> Iterator[list[str]]:
    for a, b in combinations(range(len(names)), 2):
        known = [one for one in decided if (one.a, one.b) == (a, b) and one.score is not None]
        counts = Counter(one.score for one in known)
        agreed = f"{100 * sum(one.agreed for one in known) / len(known):.0f} %" if known else "–"
        lead = np.array([2 * (one.score or 0.0) - 1 for one in known])
        span, preferred = "–", "too few to tell"
        if len(known) >= FEWEST_PAIRS:
            found = paired_interval(lead)
            span = f"{found.low:+.3f} … {found.high:+.3f}"
            preferred = names[a] if found.low > 0 else names[b] if found.high < 0 else "neither"
        yield [names[a], names[b], str(counts[1]), str(counts[0.5]), str(counts[0]), agreed, span, preferred]
