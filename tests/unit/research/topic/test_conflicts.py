import pytest

from research.topic.conflicts import OPPOSITIONS, find_conflicts
from research.topic.findings import Finding
from research.topic.statements import statements_of
from tests.fakes.answers import quoted


def opposed(one: str, other: str) -> list[tuple[str, str]]:
    findings = [
        Finding(f"Question {place}?", done, tuple(statements_of(done)))
        for place, done in enumerate([quoted(("a.md", one)), quoted(("b.md", other))])
    ]
    return [conflict.opposition for conflict in find_conflicts(findings)]


def test_there_are_ten_pairs_with_the_three_of_the_source() -> None:
    names = [(left, right) for left, right, _, _ in OPPOSITIONS]

    assert len(names) == 10
    assert {("required", "optional"), ("supported", "not supported"), ("enabled", "disabled")} < set(names)


@pytest.mark.parametrize(
    ("one", "other", "pair"),
    [
        ("A key is required for the route.", "A key is optional for the route.", ("required", "optional")),
        ("A key is required.", "A key is not required.", ("required", "optional")),
        ("Streaming is supported by the service.", "Streaming isn't supported by the service.",
         ("supported", "not supported")),
        ("The cache is enabled by default.", "The cache is disabled by default.", ("enabled", "disabled")),
        ("The price of batteries rises each year.", "The price of batteries falls each year.",
         ("increases", "decreases")),
        ("Wood from distant forests is safe for the climate.", "Wood from distant forests is harmful to the climate.",
         ("safe", "dangerous")),
    ],
)  # fmt: skip
def test_the_same_said_with_opposed_words_is_shown(one: str, other: str, pair: tuple[str, str]) -> None:
    assert opposed(one, other) == [pair]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A key is required for the route.", "A licence is optional for the car."),
        ("Wind is cheaper than coal.", "Coal is more expensive than wind."),
        ("Wind is cheaper than coal and more expensive than sun.", "Wind is expensive."),
        ("In 1990 the price of wind rises.", "In 2020 the price of wind falls."),
        ("Offshore wind is expensive to build.", "Solar fields are cheap to build."),
        ("A key is required.", "A key is required."),
        ("A key is not optional.", "A key is required."),
    ],
)
def test_other_things_years_and_comparisons_are_no_conflict(one: str, other: str) -> None:
    assert opposed(one, other) == []


def test_both_sides_are_shown_with_their_citations() -> None:
    done = quoted(("a.md", "A key is required for the route."), ("b.md", "A key is optional for the route."))

    (conflict,) = find_conflicts([Finding("Keys?", done, tuple(statements_of(done)))])

    assert [(one.sentence, one.citations[0].doc_id) for one in conflict.statements] == [
        ("A key is required for the route.", "a.md"),
        ("A key is optional for the route.", "b.md"),
    ]
