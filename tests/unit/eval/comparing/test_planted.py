"""A planted change is called by its name in 19 of 20 trials, and no change is called none: rows, not services, decide.

A system is a handful of chances: that the passage is found, that the right one is read, how much of it is said, that a
quote is right, that a question is declined. Both runs share their questions; a tenth of what happens differs from run
to run by chance, as with language models, and answers take longer while the machine has other things to do.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eval.cases import Case
from eval.comparing.intervals import Numbers
from eval.comparing.pairing import Run, join
from eval.comparing.speed import judge_speed
from eval.comparing.verdicts import Verdicts, judge
from eval.rows import Quote, Row, Seen
from eval.run_folder import Header
from eval.scoring.offline.answer import AnswerScorer, compared
from eval.scoring.offline.citations import score_citations
from eval.scoring.offline.retrieval import score_retrieval
from eval.scoring.offline.service import score_abstention, score_cost, score_speed
from eval.scoring.stage import Cells
from tests.fakes.runs import case

ANSWERABLE, UNANSWERABLE, TRIALS = 100, 25, 20
WORDS = ("copper", "turbine", "harbour", "seventeen", "lattice", "winter", "granite", "signal")


@dataclass(frozen=True)
class System:
    """Chances, and seconds of an answer on an idle machine."""

    finds: float = 0.9
    reads: float = 0.9
    says: float = 0.85
    quotes: float = 0.95
    declines: float = 0.05
    seconds: float = 0.4


USUAL = System()
PLANTED = {
    "retrieval": (replace(USUAL, finds=0.6), "recall@2000"),
    "reader": (replace(USUAL, reads=0.55), "word_recall"),
    "author": (replace(USUAL, says=0.6), "word_recall"),
    "citations": (replace(USUAL, quotes=0.65), "citation_precision"),
    "declining": (replace(USUAL, declines=0.3), "declined"),
}
UNTOUCHED = {
    "retrieval": (),
    "reader": ("recall@2000", "declined"),
    "author": ("recall@2000", "declined"),
    "citations": ("recall@2000", "word_recall", "declined"),
    "declining": ("recall@2000",),
}


def _no_likeness(pairs: Sequence[Any]) -> list[dict[str, float]]:
    """Leave similarity out: it loads a model."""
    return [{"rouge_l": 0.0, "similarity": 0.0} for _ in pairs]


def questions() -> list[Case]:
    reference = {n: " ".join(f"{word}{n}" for word in WORDS) for n in range(ANSWERABLE)}
    known = [case(f"q{n}", f"What is {n}?", text, relevant_docs=(f"d{n}.md",)) for n, text in reference.items()]
    return known + [case(f"n{n}", f"Who is {n}?", None) for n in range(UNANSWERABLE)]


@cache
def asked(system: System, name: str, trial: int, load: float = 1.0, *, start: float = 0.0, started: str = "") -> Run:
    """Return a run of the system, scored.

    Args:
        system: answers.
        name: of the run; what differs by chance depends on it, and on the trial.
        trial: number of the trial; it settles what both runs share.
        load: how much slower the machine is than an idle one; it wavers about that.
        start: Unix time of the first question.
        started: as the header tells it.
    """
    cases = questions()
    shared = np.random.default_rng([trial, 1]).random((len(cases), 16))
    own = np.random.default_rng([trial, *name.encode()])
    lots = np.where(own.random(shared.shape) < 0.1, own.random(shared.shape), shared)
    wavers = np.random.default_rng([trial, 2]).normal(0, 0.1, len(cases)).cumsum() / 3  # the machine's, of both runs
    rows, clock = [], start
    for place, one in enumerate(cases):
        seconds = system.seconds * load * float(np.exp(wavers[place] + own.normal(0, 0.15)))
        rows.append(_row(system, one, lots[place], seconds=seconds, clock=clock))
        clock += seconds
    if started:  # of repeated runs only times are looked at
        return _side(name, cases, rows, {row.id: {} for row in rows}, started)
    scores = [
        {**score_retrieval(one, row), **score_abstention(one, row), **score_speed(one, row), **score_cost(one, row)}
        | score_citations(one, row)
        for one, row in zip(cases, rows, strict=True)
    ]
    answers = AnswerScorer("answer", partial(compared, compare=_no_likeness)).score(list(zip(cases, rows, strict=True)))
    cells = {id_: {**of, **said} for (id_, said), of in zip(answers, scores, strict=True)}
    return _side(name, cases, rows, cells, started)


def _side(name: str, cases: list[Case], rows: list[Row], cells: dict[str, Cells], started: str) -> Run:
    header = Header(started=started, questions="q", questions_sha256="", target="in process")
    return Run(Path(name), header, cases, {row.id: row for row in rows}, cells, ())


def _row(system: System, one: Case, lots: Numbers, *, seconds: float, clock: float) -> Row:
    found = lots[0] < system.finds and one.answer is not None
    passage = f"It is known that {one.answer}." if found else "Nothing of this is here, of all things."
    seen = Seen(text=passage, doc_id=f"d{one.id[1:] if found else 'x'}.md", start=50, end=50 + len(passage))
    common: dict[str, Any] = {
        "id": one.id,
        "passages": (seen,),
        "seconds": seconds,
        "asked_at": clock,
        "fingerprint": "f",
    }
    if lots[1] < (system.declines if one.answer else 0.7):
        return Row(outcome="declined", answer="I don't know.", **common)
    read = found and lots[2] < system.reads
    spoken = [word for word, lot in zip((one.answer or "").split(), lots[3:], strict=False) if lot < system.says]
    right = lots[12] < system.quotes
    quote = Quote(number=1, doc_id=seen.doc_id, start=50 if right else 53, end=50 + len(passage), quote=passage)
    text = f"They say {' '.join(spoken) if read else 'something else about other matters'} [1]."
    return Row(outcome="answered", answer=text, citations=(quote,), **common)


def compare(after: System, trial: int, load: float = 1.0) -> Verdicts:
    """Ask both systems at the same time, on a machine that is as loaded."""
    return judge(join(asked(USUAL, "a", trial, load), asked(after, "b", trial, load)))


def worse(verdicts: Verdicts) -> set[str]:
    return {one.metric.name for one in verdicts.overall if one.verdict == "worse"}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_regression_is_called_by_its_name(kind: str) -> None:
    system, metric = PLANTED[kind]
    found = [compare(system, trial) for trial in range(TRIALS)]

    right = [
        one.quality == "worse"
        and metric in worse(one)
        and not worse(one) & set(UNTOUCHED[kind])
        and one.speed.verdict == "no real difference"
        for one in found
    ]
    assert sum(right) >= 19


def test_answers_that_take_half_as_long_again_are_called_slower_and_nothing_else() -> None:
    found = [compare(replace(USUAL, seconds=0.6), trial) for trial in range(TRIALS)]

    assert sum(one.speed.verdict == "slower" and one.quality == one.cost == "no difference" for one in found) >= 19
    assert np.median([one.speed.ratio or 0 for one in found]) == pytest.approx(1.5, rel=0.05)


@pytest.mark.parametrize("load", [1.0, 3.0], ids=["an idle machine", "a machine three times as slow"])
def test_no_change_is_called_none(load: float) -> None:
    found = [compare(USUAL, trial, load) for trial in range(TRIALS)]

    calm = [one.quality == one.cost == "no difference" and one.speed.verdict == "no real difference" for one in found]
    assert sum(calm) >= 19


def test_runs_one_after_the_other_at_another_load_have_no_verdict_on_speed() -> None:
    before = asked(USUAL, "a", 0, load=1.0, start=0)
    after = asked(USUAL, "b", 0, load=1.5, start=3_600)

    verdicts = judge(join(before, after))

    assert (verdicts.speed.verdict, verdicts.quality) == ("no verdict", "no difference")
    assert verdicts.speed.ratio is None


@pytest.mark.parametrize(("slower", "expected"), [(1.0, "no real difference"), (1.5, "slower")])
def test_repeated_runs_are_judged_though_each_meets_another_load(slower: float, expected: str) -> None:
    right = 0
    for trial in range(TRIALS):
        loads = np.random.default_rng([trial, 9]).uniform(1.0, 1.25, 10)
        runs = [
            asked(
                USUAL if turn % 2 == 0 else replace(USUAL, seconds=0.4 * slower),
                f"r{turn}", trial, load, start=turn * 1e4, started=f"2026-03-01T{turn:02}:00:00+00:00",
            )
            for turn, load in enumerate(loads)
        ]  # fmt: skip
        pairs = list(zip(runs[::2], runs[1::2], strict=True))
        right += judge(join(*pairs[0]), again=pairs[1:]).speed.verdict == expected
    assert right >= 19


def test_repeated_runs_that_were_not_asked_in_turns_have_no_verdict() -> None:
    hours = ("00", "03", "01", "04", "02", "05")  # all of A, then all of B
    runs = [asked(USUAL, f"r{n}", 0, started=f"2026-03-01T{hour}:00:00+00:00") for n, hour in enumerate(hours)]
    pairs = list(zip(runs[::2], runs[1::2], strict=True))

    assert judge(join(*pairs[0]), again=pairs[1:]).speed.verdict == "no verdict"
    assert judge(join(*pairs[0]), again=pairs[1:2]).speed.verdict == "no verdict"


@pytest.mark.parametrize("turns", [1, 3, 5])
def test_the_interval_of_the_ratio_holds_the_true_one_in_92_to_98_of_100_trials(turns: int) -> None:
    cases, held = questions()[:30], 0
    for trial in range(500):
        lots = np.random.default_rng([trial, turns])
        loads = np.ones(2) if turns == 1 else np.exp(lots.normal(0, 0.1, 2 * turns))  # at the same time: the same one
        runs = []
        for number, load in enumerate(loads):
            times = load * (1.5 if number % 2 else 1.0) * np.exp(lots.normal(0, 0.2, len(cases)))
            rows = [
                Row(id=one.id, outcome="answered", answer="So.", seconds=seconds, asked_at=float(place))
                for place, (one, seconds) in enumerate(zip(cases, times, strict=True))
            ]
            runs.append(_side("r", cases, rows, {}, f"2026-03-01T{number:02}:00:00+00:00"))
        pairs = list(zip(runs[::2], runs[1::2], strict=True))
        found = judge_speed(join(*pairs[0]), pairs[1:])
        held += (found.low or 0) <= 1.5 <= (found.high or 0)
    assert 460 <= held <= 490
