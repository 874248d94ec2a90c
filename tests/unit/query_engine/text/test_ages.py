"""The age that a question names, and the ages that a row is for."""

import pytest

from query_engine.text.ages import OLDEST, ages_in, asked_age


@pytest.mark.parametrize(
    ("question", "age"),
    [
        ("can i take my 5 year old up the tower?", 5),
        ("Is it free for my twelve-year-olds?", 12),
        ("ticket price aged 70", 70),
        ("My daughter is 9, what does she pay?", 9),
        ("my son is 6 feet tall", None),
        ("How much do 10 people pay?", None),
        ("Is the 5 year plan out?", None),
    ],
)
def test_the_age_that_is_asked_about(question: str, age: int | None) -> None:
    assert asked_age(question) == age


@pytest.mark.parametrize(
    ("cell", "ages"),
    [
        ("Child 6 to 15", range(6, 16)),
        ("Children (5–15)", range(5, 16)),
        ("Under 6", range(6)),
        ("Under-5s", range(5)),
        ("Children up to 12", range(13)),
        ("Over 60", range(61, OLDEST + 1)),
        ("Adult (16+)", range(16, OLDEST + 1)),
        ("65 and over, senior", range(65, OLDEST + 1)),
        ("Family (2 adults, up to 3 children)", range(0)),
        ("Groups of 10 to 20 students", range(0)),
        ("9 to 12", range(0)),
        ("Adult", range(0)),
    ],
)
def test_the_ages_that_a_row_is_for(cell: str, ages: range) -> None:
    assert ages_in(cell) == ages
