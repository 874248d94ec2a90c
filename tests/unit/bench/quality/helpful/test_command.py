"""The table shows each system, both halves of ours, and over how few questions a mean is."""

from bench.quality.helpful.asking import Answered
from bench.quality.helpful.command import figures, table
from eval.cases import Case
from eval.metrics import Scores
from tests.fakes.rows import answered, quote
from tests.fakes.tables import plain_rows


def row(place: int, ms: float, **scores: float) -> Answered:
    answer = answered("Wind", [quote("a", 0, 4, "Wind")])
    named: Scores = {name.replace("_", " "): value for name, value in scores.items()}
    return Answered(Case(id=str(place), question="Q?"), place, answer, place % 2, ms, named)


def test_halves_are_those_of_even_and_odd_places_and_few_questions_are_marked() -> None:
    ours = [row(0, 10, helpful=1.0), row(1, 20, helpful=0.0, words=1500.0), row(2, 30, helpful=1.0)]
    leaf = [row(0, 1, helpful=0.0, words=10.0), row(1, 1, helpful=0.0, words=20.0), row(2, 1)]

    shown = table({"ours": ours, "first leaf": leaf}, {"helpful": 3, "words": 1, "declined": 3})

    assert plain_rows(shown) == [
        "| measure | ours | ours, even | ours, odd | first leaf |",
        "| helpful (n = 2–3) | 0.667 | 1.000 | 0.000 | 0.000 |",
        "| words (n = 1–2) | 1,500.0 | – | 1,500.0 | 15.0 |",
        "| quotes verbatim | 1 of 3 | 0 of 2 | 1 of 1 | 1 of 3 |",
        "| complete answer, p50, ms (n = 3) | 20 | 20 | 20 | 1 |",
        "| complete answer, p95, ms (n = 3) | 29 | 29 | 20 | 1 |",
    ]


def test_a_mean_over_fifty_questions_bears_no_mark_and_one_question_has_one_half() -> None:
    many = table({"ours": [row(place, 10, helpful=1.0) for place in range(50)]}, {"helpful": 3})
    one = table({"ours": [row(0, 10, helpful=1.0)]}, {"helpful": 3})

    assert "| helpful | 1.000 | 1.000 | 1.000 |" in plain_rows(many)
    assert "| complete answer, p50, ms (n = 1) | 10 | 10 | – |" in plain_rows(one)


def test_figures_are_kept_unrounded() -> None:
    rows = [row(0, 10, helpful=1.0), row(1, 20, helpful=0.0), row(2, 30, helpful=0.0)]

    assert figures(rows, {"helpful": 3, "words": 1}) == {
        "means": {"helpful": {"value": 1 / 3, "n": 3}, "words": {"value": None, "n": 0}},
        "questions": 3,
        "quotes": 3,
        "verbatim": 1,
        "p50_ms": 20.0,
        "p95_ms": 29.0,
    }
