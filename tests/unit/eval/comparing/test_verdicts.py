"""A verdict needs enough pairs, enough that differ, and a difference above chance, noise and what the user ignores."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from eval.cells import scored
from eval.comparing.pairing import join, read_run
from eval.comparing.verdicts import Difference, Verdicts, judge
from eval.run_folder import RunFolder, Scored
from tests.fakes.runs import case
from tests.unit.eval.comparing.pairs import pair, questions, run

HALF = [0.0, 1.0] * 20


def of(verdicts: Verdicts, name: str) -> Difference:
    return next(one for one in verdicts.answerable if one.metric.name == name)


def judged(
    path: Path, before: Sequence[float | None], after: Sequence[float | None], name: str = "doc@1"
) -> Difference:
    return of(judge(pair(path, {name: before}, {name: after})), name)


@pytest.mark.parametrize(
    ("name", "after", "expected"),
    [("doc@1", [1.0] * 40, "better"), ("doc@1", [0.0] * 40, "worse"), ("declined", [1.0] * 40, "worse")],
    ids=["more hits are better", "fewer hits are worse", "more declined questions are worse"],
)
def test_the_direction_is_the_metrics_own(tmp_path: Path, name: str, after: list[float], expected: str) -> None:
    difference = judged(tmp_path, HALF, after, name)

    assert difference.verdict == expected
    assert difference.chance < 0.001
    assert (difference.wins, difference.losses) == ((20, 0) if expected == "better" else (0, 20))


def test_a_tipped_last_decimal_is_no_change(tmp_path: Path) -> None:
    assert judged(tmp_path, [0.5] * 40, [0.4999] * 40).verdict == "no difference"


def test_gains_and_losses_that_balance_are_no_real_difference(tmp_path: Path) -> None:
    difference = judged(tmp_path, HALF, HALF[::-1])

    assert difference.verdict == "no real difference"
    assert (difference.wins, difference.ties, difference.losses) == (20, 0, 20)


def test_nine_pairs_are_too_few_however_clear_they_look(tmp_path: Path) -> None:
    assert judged(tmp_path, [1.0] * 9, [0.0] * 9).verdict == "too few to tell"


@pytest.mark.parametrize(("lost", "expected"), [(4, "no real difference"), (7, "too few to tell"), (8, "worse")])
def test_eight_pairs_must_differ_if_all_point_the_same_way(tmp_path: Path, lost: int, expected: str) -> None:
    assert judged(tmp_path, [1.0] * 60, [0.0] * lost + [1.0] * (60 - lost)).verdict == expected


def test_an_interval_that_ends_at_0_as_it_is_printed_is_no_difference(tmp_path: Path) -> None:
    """Its true end is 0.0003: what a reader sees is 0.000."""
    before, after = [0.5] * 60, [0.5 + 0.0006 * (1 + number % 2) for number in range(60)]

    difference = judged(tmp_path, before, after)

    assert difference.interval is not None
    assert difference.interval.low > 0
    assert difference.verdict == ("no real difference" if round(difference.interval.low, 3) == 0 else "better")


def test_failed_scores_pair_with_nothing_and_are_told(tmp_path: Path) -> None:
    difference = judged(tmp_path, [1.0] * 40, [None] * 10 + [1.0] * 30)

    assert (difference.pairs, difference.lost, difference.verdict) == (30, 10, "no difference")
    assert (difference.a.n, difference.a.of, difference.b.n, difference.b.of) == (40, 40, 30, 40)
    assert difference.mean_a == difference.mean_b == 1.0


def test_a_difference_below_the_smallest_that_counts_is_none(tmp_path: Path) -> None:
    joined = pair(tmp_path, {"doc@1": HALF}, {"doc@1": [value - 0.009 for value in HALF]})

    assert of(judge(joined), "doc@1").verdict == "worse"
    assert of(judge(joined, min_difference=0.01), "doc@1").verdict == "no real difference"


def test_what_the_judge_says_differently_of_the_same_answer_is_its_noise(tmp_path: Path) -> None:
    """Two scorings of each row by one judge, 0.6 apart; the second run is better by less than that explains."""
    asked = questions(10)
    first = run(tmp_path / "a", asked, {"faithfulness": [0.2] * 10})
    repeat(first, "faithfulness", [0.8] * 10)
    second = run(tmp_path / "b", asked, {"faithfulness": [0.7] * 10})

    difference = of(judge(join(read_run(first), read_run(second))), "faithfulness")

    one_score = 0.18**0.5  # standard deviation of 0.2 and 0.8
    assert difference.noise == pytest.approx(1.96 * one_score / 10**0.5 * (1 + 1 / 2) ** 0.5)
    assert difference.interval is not None
    assert difference.interval.low > 0
    assert difference.verdict == "no real difference"


def test_what_chance_explains_among_many_metrics_is_no_verdict(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    before = {f"m{number:02}": [0.5] * 40 for number in range(20)}
    after = {name: list(0.5 + generator.normal(0, 0.1, 40)) for name in before}
    after["m00"] = list(0.54 + generator.normal(0, 0.1, 40))

    alone = judged(tmp_path / "alone", before["m00"], after["m00"], "m00")
    among = of(judge(pair(tmp_path / "among", before, after)), "m00")

    assert alone.interval == among.interval
    assert (alone.verdict, among.verdict) == ("better", "too few to tell")
    assert among.chance > 5 * alone.chance


def test_quality_and_cost_are_two_verdicts(tmp_path: Path) -> None:
    scores = {"doc@1": HALF, "answer_chars": [100.0 + n for n in range(40)]}

    longer = judge(pair(tmp_path / "longer", scores, {**scores, "answer_chars": [200.0 + n for n in range(40)]}))
    both = {"doc@1": [1.0] * 40, "mrr": [0.0] * 40}
    mixed = judge(pair(tmp_path / "mixed", {"doc@1": HALF, "mrr": HALF}, both))

    assert (longer.quality, longer.cost) == ("no difference", "worse")
    assert (mixed.quality, mixed.cost) == ("mixed", "no verdict")


@pytest.mark.promise("E27")
def test_questions_without_an_answer_stand_apart(tmp_path: Path) -> None:
    asked = [*questions(12), *(case(f"n{number:02}", "Who?", None) for number in range(12))]
    scores = {"declined": [0.0] * 24}

    verdicts = judge(pair(tmp_path, scores, {"declined": [0.0] * 12 + [1.0] * 12}, asked))

    assert [(one.metric.name, one.verdict) for one in verdicts.answerable] == [
        ("replied", "no difference"),
        ("declined", "no difference"),
    ]
    assert [one.verdict for one in verdicts.unanswerable] == ["no difference", "worse"]


def test_each_category_has_its_own_interval(tmp_path: Path) -> None:
    asked = [
        case(f"q{number:02}", f"{number}?", "Yes.", category="easy" if number < 20 else "hard") for number in range(40)
    ]
    joined = pair(tmp_path, {"doc@1": [1.0] * 40}, {"doc@1": [1.0] * 20 + [0.0] * 20}, asked)

    by_category = judge(joined).by_category

    found = {name: next(one for one in some if one.metric.name == "doc@1") for name, some in by_category.items()}
    assert {name: (one.pairs, one.verdict) for name, one in found.items()} == {
        "easy": (20, "no difference"),
        "hard": (20, "worse"),
    }


@pytest.mark.parametrize(
    ("documents", "expected"), [(40, "worse"), (10, "worse"), (9, "too few to tell"), (1, "too few to tell")]
)
def test_questions_of_one_document_count_as_one_draw(tmp_path: Path, documents: int, expected: str) -> None:
    asked = [case(f"q{n:02}", f"{n}?", "Yes.", relevant_docs=(f"d{n % documents}.md",)) for n in range(40)]

    difference = of(judge(pair(tmp_path, {"doc@1": [1.0] * 40}, {"doc@1": [0.0] * 40}, asked)), "doc@1")

    assert (difference.pairs, difference.documents, difference.verdict) == (40, documents, expected)
    assert (difference.interval is None) == (documents == 1)


def test_a_loss_within_few_of_the_documents_is_not_as_clear_as_in_as_many_questions(tmp_path: Path) -> None:
    alone = [case(f"q{n:02}", f"{n}?", "Yes.") for n in range(60)]
    shared = [case(f"q{n:02}", f"{n}?", "Yes.", relevant_docs=(f"d{n // 3}.md",)) for n in range(60)]
    scores = {"doc@1": [1.0] * 60}, {"doc@1": [0.0] * 9 + [1.0] * 51}

    by_question, by_document = (
        of(judge(pair(tmp_path / name, *scores, asked)), "doc@1") for name, asked in (("a", alone), ("b", shared))
    )

    assert (by_question.verdict, by_document.verdict) == ("worse", "no real difference")
    assert by_document.chance == pytest.approx(2 / 2**3, rel=0.1)


def test_a_share_of_declined_questions_is_not_compared(tmp_path: Path) -> None:
    verdicts = judge(pair(tmp_path, {"abstention_precision": HALF}, {"abstention_precision": HALF}))

    assert [one.metric.name for one in verdicts.overall] == ["replied"]


def test_metrics_of_one_run_alone_are_told(tmp_path: Path) -> None:
    verdicts = judge(pair(tmp_path, {"doc@1": HALF, "mrr": HALF}, {"doc@1": HALF, "contains": HALF}))

    assert (verdicts.only_a, verdicts.only_b) == (("mrr",), ("contains",))


def repeat(folder: RunFolder, name: str, values: Sequence[float]) -> None:
    """Add a second scoring."""
    rows = folder.rows()
    with folder.writing():
        for row, value in zip(rows.values(), values, strict=True):
            cells = {name: scored(value)}
            folder.append_scores(Scored(id=row.id, of=row.digest(), family="answer", repeat=1, cells=cells))
