"""Tables of Office files: which rows name the columns."""

import pytest

from ingestion.reading.office.tables import split_names


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ([["Key", "Holder", "Since"], ["A-17", "Lund", "2019-04-02"], ["B-4", "Graz", "2021-10-30"]], True),
        ([["Net", "Mesh (mm)", "Price"], ["Trawl", "80", "1,200"], ["Seine", "16", "900"]], True),
        ([["A-17", "Lund", "2019-04-02"], ["B-4", "Graz", "2021-10-30"], ["C-9", "Bea", "2020-01-12"]], False),
        ([["Net", "Colour", "Maker"], ["Trawl", "green", "Aune"], ["Seine", "blue", "Ravi"]], False),  # may be a row
        ([["Tenant", "Lund"], ["Rent", "700"], ["Deposit", "2100"]], False),  # names and values
        ([["", "2020", "2021"], ["Sales", "10", "12"], ["Costs", "8", "9"]], False),
        ([["Key", "Holder", "Since"], ["A-17", "Lund", "2019-04-02"]], False),
    ],
)
def test_a_first_row_names_the_columns_where_the_figures_below_it_say_so(rows: list[list[str]], named: bool) -> None:
    body, names = split_names(rows, 0)

    assert list(names) == (rows[0] if named else [])
    assert body == rows[named:]


def test_rows_that_are_marked_as_names_are_names() -> None:
    assert split_names([["a", "b"], ["c", "d"]], 1) == ([["c", "d"]], ["a", "b"])
