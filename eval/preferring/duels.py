"""Have a judge say which of two answers to a question it prefers, in both orders; the prompt is ours.

Runs' rows -> **here** -> `bradley_terry.py`, `command.py`. Judges prefer what stands first: an answer has won only if
it is preferred in both orders, all else is a tie (L. Zheng et al., "Judging LLM-as-a-Judge with MT-Bench and Chatbot
Arena", 2023, arXiv 2306.05685). Answers come without their marks, which tell a system apart; equal ones are not asked
about.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import combinations

from eval.cases import Case
from eval.metrics import spoken
from eval.rows import Row
from eval.scoring.judge_client import Judge, JudgeDownError, JudgeError, JudgeRefusedError
from eval.scoring.judged.labels import ask_labels
from eval.scoring.judged.scorer import in_sync, judge_each

ASKED = 2
_TASK = (
    "The item holds two answers to the question. Say which of them serves the person who asks better: it is right, "
    'answers what was asked, and says as much as is needed, clearly. "first", "second", or "tie" where neither is '
    "better. Neither the order nor the length decides. An answer that says that it does not know is better than a "
    "wrong one, and worse than a right one."
)
_LABELS = ("first", "second", "tie")


@dataclass(frozen=True, slots=True)
class Duel:
    """Two answers to one question.

    Attributes:
        place: of the question.
        a, b: places of the runs, `a < b`.
    """

    place: int
    a: int
    b: int
    question: str
    answers: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Decided:
    """What came of a duel.

    Attributes:
        score: of run `a`: 1, 0.5 (a tie) or 0; None if the judge gave no judgement.
        agreed: whether both orders led to the same verdict.
    """

    duel: Duel
    score: float | None
    agreed: bool = False


def duels(cases: Sequence[Case], runs: Sequence[Mapping[str, Row]]) -> Iterator[Duel]:
    """Yield the duels of all pairs of runs, question by question.

    Args:
        cases: questions that each run has a reply to.
        runs: the rows of each run, by id.
    """
    for place, case in enumerate(cases):
        said = [spoken(rows[case.id].answer or "") for rows in runs]
        for a, b in combinations(range(len(runs)), 2):
            yield Duel(place, a, b, case.question, (said[a], said[b]))


def decide(judge: Judge, todo: Sequence[Duel], at_once: int) -> Iterator[Decided]:
    """Yield what came of each duel as soon as it is known, until the judge is given up."""

    async def work(duel: Duel) -> Decided:
        if duel.answers[0].split() == duel.answers[1].split():
            return Decided(duel, 0.5, agreed=True)
        try:
            one, other = duel.answers
            votes = [await _vote(judge, duel.question, one, other), -await _vote(judge, duel.question, other, one)]
        except JudgeError as error:
            judge.row_done(error if isinstance(error, JudgeDownError | JudgeRefusedError) else None)
            return Decided(duel, None)
        judge.row_done(None)
        agreed = votes[0] == votes[1]
        return Decided(duel, (1 + votes[0]) / 2 if agreed else 0.5, agreed)

    async def all_() -> AsyncGenerator[Decided, None]:
        async with judge.connected(), aclosing(judge_each(judge, todo, at_once, work)) as each:
            async for one in each:
                yield one
            judge.rows_done()

    return in_sync(all_())


async def _vote(judge: Judge, question: str, first: str, second: str) -> int:
    """Return 1 for the first answer, -1 for the second, 0 for neither."""
    items = [{"first": first, "second": second}]
    (label,) = await ask_labels(judge, "0", _TASK, {"question": question}, items=items, labels=_LABELS)
    return {"first": 1, "second": -1, "tie": 0}[label]
