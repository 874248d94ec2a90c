"""Numbers as workbooks show them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.reading.office.number_format import is_date, shown


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (3.0, "General", "3"),
        (1 / 3, "General", "0.3333333333"),
        (0.0315, "0.0%", "3.2%"),
        (1234567.891, "#,##0.00", "1,234,567.89"),
        (1234567.891, '#,##0.0,,"M"', "1.2M"),
        (-5, "0.00;(0.00)", "(5.00)"),
        (-5, "0.00", "-5.00"),
        (0, '0;-0;"none"', "none"),
        (1234.5, "[$€-407] #,##0.00", "€ 1,234.50"),
        (-1234.5, '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)', "$(1,234.50)"),
        (150, '[>100]"big";[<=100]0', "big"),
        (123456789, "000-00-0000", "123-45-6789"),
        (2.375, "# ?/8", "2 3/8"),
        (12345, "0.00E+00", "1.23E+04"),
        (0.1, "#.##", ".1"),
        (1.005, "0.00", "1.01"),
        (42795, "yyyy-mm-dd", "2017-03-01"),
        (42795.75, "d mmm yy h:mm AM/PM", "1 Mar 17 6:00 PM"),
        (42795.5, "hh:mm", "12:00"),
        (1.5, "[h]:mm", "36:00"),
        (42795, "dddd, mmmm d", "Wednesday, March 1"),
        (59, "yyyy-mm-dd", "1900-02-28"),
        (61, "yyyy-mm-dd", "1900-03-01"),
        (-1, "yyyy-mm-dd", "-1"),
        (7, '"Week "0', "Week 7"),
    ],
)
def test_a_number_is_shown_as_its_format_has_it(value: float, code: str, text: str) -> None:
    assert shown(value, code) == text


def test_days_may_count_from_1904() -> None:
    assert shown(0, "yyyy-mm-dd", since_1904=True) == "1904-01-01"


@pytest.mark.parametrize(("code", "expected"), [("d/m/y", True), ("[h]:mm", True), ('0" days"', False), ("0.0", False)])
def test_formats_of_days_are_told_from_those_of_figures(code: str, expected: bool) -> None:
    assert is_date(code) == expected


@given(st.floats(allow_nan=False, allow_infinity=False), st.text('0#?.,%;E+-[]$"\\hmsyd/@_*AMP >', max_size=20))
def test_no_format_fails(value: float, code: str) -> None:
    assert isinstance(shown(value, code), str)
