"""The months and weekdays between two that are named."""

import pytest

from query_engine.text.spans_of_days import days_in, spanned


@pytest.mark.parametrize(
    ("cell", "days"),
    [
        ("June to August", {"June", "July", "August"}),
        ("Nov–Feb", {"November", "December", "January", "February"}),
        ("1 May until 30 June", {"May", "June"}),
        ("Monday to Wednesday", {"Monday", "Tuesday", "Wednesday"}),
        ("Fridays to Sundays", {"Friday", "Saturday", "Sunday"}),
        ("September and October", set()),
        ("May to Friday", set()),
        ("Anna to Bella", set()),
        ("Ju to Au", set()),
    ],
)
def test_days_between_two(cell: str, days: set[str]) -> None:
    assert spanned(cell) == days


def test_days_are_also_named_one_by_one_as_whole_words() -> None:
    assert days_in("May and Sundays, the Mayor") == {"May", "Sunday"}
