"""Workbooks, written out by the test."""

from itertools import zip_longest
from typing import Any

import pytest

from index.documents.store import Document
from ingestion.reading.office.xls import read_xls
from ingestion.reading.office.xlsx import read_xlsx
from tests.fakes.readings import statements
from tests.zoo.office import make_xls, make_xlsx, sheet_data

LIMIT = 10_000_000
Rows = list[list[Any]]
STYLES = (
    '<numFmts><numFmt numFmtId="170" formatCode="dd.mm.yyyy"/>'
    '<numFmt numFmtId="171" formatCode="[$€-407] #,##0.00"/></numFmts>'
    "<fonts><font/><font><b/></font></fonts>"
    '<cellXfs><xf numFmtId="0" fontId="0"/><xf numFmtId="0" fontId="1"/><xf numFmtId="10" fontId="0"/>'
    '<xf numFmtId="170" fontId="0"/><xf numFmtId="171" fontId="0"/><xf numFmtId="14" fontId="0"/></cellXfs>'
)


def read(sheet: str, **options: str) -> Document:
    return read_xlsx(make_xlsx({"Sheet1": sheet}, styles=STYLES), options.get("name", "a_b.xlsx"), LIMIT)


@pytest.mark.fault("D14")
@pytest.mark.parametrize(
    ("head", "merged", "names"),
    [
        ([["", "2021", "", "2022", ""], ["Mill", "Flour", "Bran", "Flour", "Bran"]], (),
         ["Mill", "2021 Flour", "2021 Bran", "2022 Flour", "2022 Bran"]),
        ([["Mill", "Wheat", "", "Rye", ""], ["", "Flour", "Bran", "Grist", "Husk"]], (),
         ["Mill", "Wheat Flour", "Wheat Bran", "Rye Grist", "Rye Husk"]),
        ([["Mills of the valley"], ["", "2021", "", "", "Note"], ["Mill", "Flour", "Bran", "Grist", "Sum"]],
         ("A1:E1", "B2:D2"), ["Mill", "2021 Flour", "2021 Bran", "2021 Grist", "Note Sum"]),
        ([["", "Output", "", "", ""], ["", "2021", "", "2022", ""], ["Mill", "Flour", "Bran", "Flour", "Bran"]],
         ("B1:E1", "B2:C2", "D2:E2"),
         ["Mill", "Output 2021 Flour", "Output 2021 Bran", "Output 2022 Flour", "Output 2022 Bran"]),
        ([["", "2021", "", "", ""], ["Mill", "Flour", "Bran", "Sum", "Rank"]], ("B1:C1",),
         ["Mill", "2021 Flour", "2021 Bran", "Sum", "Rank"]),
    ],
    ids=["apart", "a name above names", "below a title", "three", "not above the others"],
)  # fmt: skip
def test_names_in_several_rows_are_joined(head: Rows, merged: tuple[str, ...], names: list[str]) -> None:
    data = sheet_data([*head, ["Asp", 7, 1, 8, 2], ["Lind", 5, 1, 6, 3]])
    areas = "".join(f'<mergeCell ref="{area}"/>' for area in merged)

    rows = statements(read(data + (f"<mergeCells>{areas}</mergeCells>" if areas else "")))
    assert [list(row) for row in rows] == [names] * 2


def test_names_are_written_once_above_groups() -> None:
    data = sheet_data(
        [["Account", 2021, 2022], ["Care"], ["Wages", 7, 8], ["Tools", 1, 2], ["Garden"], ["Wages", 5, 6]]
    )
    text = read(f'{data}<mergeCells><mergeCell ref="A2:C2"/><mergeCell ref="A5:C5"/></mergeCells>').text

    assert text.count("Account | 2021 | 2022") == 1
    assert text.index("Care") < text.index("Tools | 1 | 2") < text.index("Garden") < text.index("Wages | 5 | 6")


BOATS: Rows = [["Boat", "Seats"], ["Gannet", 4], ["Tern", 2], ["Auk", 3]]
PIERS: Rows = [["Pier", "Depth", "Light"], ["North", 5, "red"], ["South", 7, "green"]]


def beside(left: Rows, right: Rows, blank: int = 1) -> Rows:
    """Return the rows of two tables side by side, with blank columns between them."""
    width = len(left[0])
    return [[*(a or [""] * width), *[""] * blank, *(b or [])] for a, b in zip_longest(left, right, fillvalue=None)]


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (sheet_data([["Share", "Day", "Price", "Due"], [(0.0315, 2), (42795, 3), (1234.5, 4), (42795, 5)]]),
         [{"Share": "3.15%", "Day": "01.03.2017", "Price": "€ 1,234.50", "Due": "2017-03-01"}]),
        (sheet_data([["Sales", 2019, 2020], ["North", 5, 6], ["South", 7, 8]]),
         [{"Sales": "North", "2019": "5", "2020": "6"}, {"Sales": "South", "2019": "7", "2020": "8"}]),
        (sheet_data([["", "2019", ""], ["Item", "Plan", "Actual"], ["Rent", 5, 6], ["", 7, 8]], bold_rows=[0, 1])
         + '<mergeCells><mergeCell ref="B1:C1"/><mergeCell ref="A3:A4"/></mergeCells>',
         [{"Item": "Rent", "2019 Plan": plan, "2019 Actual": actual} for plan, actual in ("56", "78")]),
        (sheet_data([["Boat", "Seats"], ["Gannet", 4], [], ["Tern", 2]]),
         [{"Boat": "Gannet", "Seats": "4"}, {"Boat": "Tern", "Seats": "2"}]),
        (sheet_data(beside(BOATS[:3], [BOATS[0], ["Auk", 3], ["Skua", 9]])),
         [{"Boat": one[0], "Seats": one[1]} for one in (("Gannet", "4"), ("Tern", "2"), ("Auk", "3"), ("Skua", "9"))]),
    ],
    ids=["formats", "years", "merged", "below a blank row", "folded in two"],
)  # fmt: skip
def test_rows_have_the_names_of_their_columns(data: str, shown: list[dict[str, str]]) -> None:
    document = read(data)

    assert statements(document) == shown


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([["Boats for hire"], ["Boat", "Seats"], ["Gannet", 4], ["Tern", 2]],
         "Boats for hire\n\nBoat | Seats\n--- | ---\nGannet | 4\nTern | 2"),
        ([["Boats for hire"], [], ["Boat", "Seats"], [], ["Gannet", 4]], "Boats for hire\n\nBoat | Seats\nGannet | 4"),
        ([[1, 2], [3, 4]], "1 | 2\n3 | 4"),
        ([["Name:", "Wychmoor"], ["Since:", 1984]], "Name: Wychmoor\nSince: 1984"),
    ],
    ids=["a title", "names above a blank row", "no names", "a form"],
)  # fmt: skip
def test_titles_names_and_forms(rows: Rows, text: str) -> None:
    assert read(sheet_data(rows)).text == text


@pytest.mark.parametrize("blank", [1, 3])
def test_tables_side_by_side_have_their_own_headers(blank: int) -> None:
    document = read(sheet_data(beside(BOATS, PIERS, blank)))

    assert statements(document) == [
        {"Boat": "Gannet", "Seats": "4"},
        {"Boat": "Tern", "Seats": "2"},
        {"Boat": "Auk", "Seats": "3"},
        {"Pier": "North", "Depth": "5", "Light": "red"},
        {"Pier": "South", "Depth": "7", "Light": "green"},
    ]
    assert document.text.count("--- | ---") == 2


def test_tables_side_by_side_below_a_common_title_and_titles_of_their_own() -> None:
    rows = [["The harbour"], [], ["Boats for hire", "", "", "Where they lie"], *beside(BOATS, PIERS)]
    document = read(sheet_data(rows))

    paragraphs = [document.text[slice(*one.inner)] for one in document.structure.blocks if one.kind == "paragraph"]
    assert paragraphs == ["The harbour", "Boats for hire", "Where they lie"]
    assert [len(row) for row in statements(document)] == [2, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([["Item", "Unit"], ["Rent", "EUR"], ["Oil", "EUR"], ["Rope", "EUR"]], [[2019, 2020], [5, 6], [7, 8], [9, 1]]),
        ([["Item"], ["Rent"], ["Oil"], ["Rope"]], [["Plan", "Actual"], [5, 6], [7, 8], [9, 1]]),
        (BOATS, [["Owner", "Age"], ["Ann", 31], ["Ben", 40], ["Ann", 31]]),
    ],
    ids=["figures in groups", "a lone column of names", "what is said of each row"],
)
def test_groups_of_columns_are_one_table(left: Rows, right: Rows) -> None:
    document = read(sheet_data(beside(left, right)))

    assert [len(row) for row in statements(document)] == [len(left[0]) + len(right[0])] * 3


def test_wide_tables_name_each_cell() -> None:
    names = [f"Name {chr(65 + n)}" for n in range(12)]
    document = read(sheet_data([names, [*range(11), ""]], bold_rows=[0]))

    assert document.text.startswith("Name A: 0\nName B: 1\n")
    assert "Name L" not in document.text


def test_a_table_of_the_workbook_tells_its_header() -> None:
    table = '<table xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ref="A1:B3"/>'
    rels = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="t" '
        'Type="x/table" Target="../tables/table1.xml"/></Relationships>'
    )
    data = make_xlsx(
        {"Sheet1": sheet_data([["Who", "Where"], ["Ann", "Ness"], ["Ben", "Ayr"]])},
        parts={"xl/tables/table1.xml": table, "xl/worksheets/_rels/sheet1.xml.rels": rels},
    )

    assert statements(read_xlsx(data, "a.xlsx", LIMIT))[0] == {"Who": "Ann", "Where": "Ness"}


def test_sheets_are_sections_but_hidden_and_empty_ones() -> None:
    text = sheet_data([["Words of it"]])
    sheets = {"Income": text, "Lists": text, "Blank": sheet_data([]), "Costs": text}

    assert read_xlsx(make_xlsx(sheets, hidden=["Lists"]), "a.xlsx", LIMIT).text == (
        "# Income\n\nWords of it\n\n# Costs\n\nWords of it"
    )


@pytest.mark.parametrize(("title", "expected"), [("Budget of the harbour", "Budget of the harbour"), ("Book1", "a b")])
def test_the_title_is_the_properties_unless_a_program_left_it(title: str, expected: str) -> None:
    assert read_xlsx(make_xlsx({"Plan": sheet_data([["x"]])}, title=title), "a_b.xlsx", LIMIT).title == expected


def test_shared_strings_escapes_and_truth_values_are_read() -> None:
    cells = '<c r="A1" t="s"><v>0</v></c><c r="B1" t="b"><v>1</v></c><c r="C1" t="str"><v>sum</v></c>'
    data = make_xlsx({"Sheet1": f"<sheetData><row>{cells}</row></sheetData>"}, strings=["a_x0020_b"])

    assert read_xlsx(data, "a.xlsx", LIMIT).text == "a b | TRUE | sum"


def test_a_merged_area_of_a_whole_sheet_costs_nothing() -> None:
    merged = '<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'

    assert read(sheet_data([["All"], ["of it"]]) + merged).text.startswith("All")


def test_a_workbook_of_the_old_format_is_read_alike() -> None:
    header: list[tuple[int, int, str | float, int]] = [(0, 0, "Boat", 1), (0, 1, "Since", 1), (0, 2, "Share", 1)]
    figures = [(1, 1, 42795.0, 2), (1, 2, 0.5, 3), (2, 1, 42796.0, 2), (2, 2, 0.25, 3)]
    cells = [*header, (1, 0, "Gannet", 0), *figures]
    document = read_xls(make_xls(cells, merged=[(1, 2, 0, 0)]), "a.xls")

    assert document.text.startswith("# Data\n\nBoat | Since | Share\n---")
    assert statements(document) == [
        {"Boat": "Gannet", "Since": "01.03.2017", "Share": "50.00%"},
        {"Boat": "Gannet", "Since": "02.03.2017", "Share": "25.00%"},
    ]


def test_a_formula_that_no_program_has_calculated_is_shown_itself() -> None:
    document = read(
        "<sheetData><row><c><f>SUM(A2:A3)</f><v>7</v></c><c><f>SUM(B2:B3)</f><v></v></c>"
        '<c t="str"><f>IF(1,"","x")</f><v></v></c></row></sheetData>'
    )

    assert "7" in document.text
    assert "=SUM(B2:B3)" in document.text
    assert "A2" not in document.text
    assert "IF" not in document.text
