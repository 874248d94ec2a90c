"""Workbooks with binary parts, written out by the test."""

import struct
from io import BytesIO
from zipfile import ZipFile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errors import UnreadableError
from index.documents.structure import check_blocks
from ingestion.reading.kind import kind_of
from ingestion.reading.office.xlsb import _rk
from ingestion.reading.office.xlsx import read_xlsx
from tests.zoo.archives import make_zip
from tests.zoo.xlsb import make_xlsb

LIMIT = 10_000_000
Cells = list[tuple[int, int, str | float | bool, int]]
BOATS: Cells = [
    (0, 0, "Boat", 1), (0, 1, "Seats", 1), (0, 2, "Since", 1), (0, 3, "Full", 1), (0, 4, "Sails", 1),
    (1, 0, "Gannet", 0), (1, 1, 4, 0), (1, 2, 42795.0, 2), (1, 3, 0.0315, 3), (1, 4, True, 0),
]  # fmt: skip
WHOLE = make_xlsb({"Boats": BOATS}, strings=["Gannet"])


def test_cells_are_shown_as_their_formats_have_them() -> None:
    document = read_xlsx(WHOLE, "a.xlsb", LIMIT)

    row = document.structure.blocks[-1]
    assert row.columns == ("Boat", "Seats", "Since", "Full", "Sails")
    assert [document.text[slice(*cell)] for cell in row.cells] == ["Gannet", "4", "01.03.2017", "3.15%", "TRUE"]


def test_hidden_sheets_are_left_out_and_merged_cells_filled() -> None:
    plan: Cells = [(0, 0, "Harbour", 0), (1, 0, "Pier", 1), (1, 1, "Depth", 1), (2, 0, "North", 0), (2, 1, 5, 0)]
    data = make_xlsb({"Plan": plan, "Lists": [(0, 0, "x", 0)]}, hidden=["Lists"], merged=[(0, 0, 0, 1)])

    assert read_xlsx(data, "a.xlsb", LIMIT).text == "# Plan\n\nHarbour\n\nPier | Depth\n--- | ---\nNorth | 5"


@pytest.mark.parametrize(
    ("packed", "number"),
    [(4 << 2 | 2, 4.0), ((-5 << 2 | 2) % 2**32, -5.0), (1234 << 2 | 3, 12.34), (0x3FF80000, 1.5), (0x40590001, 1.0)],
)
def test_numbers_in_30_bits(packed: int, number: float) -> None:
    assert _rk(packed) == number


def test_the_content_tells_it_from_other_archives() -> None:
    assert kind_of("a.zip", WHOLE) == kind_of("a.xlsb", WHOLE) == "xlsx"


@given(
    flips=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=6),
    part=st.sampled_from(["workbook", "styles", "sharedStrings", "worksheets/sheet1"]),
)
@settings(max_examples=200, deadline=None)
def test_parts_with_wrong_bytes_are_read_or_refused(flips: list[tuple[float, int]], part: str) -> None:
    with ZipFile(BytesIO(WHOLE)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    wrong = bytearray(members[f"xl/{part}.bin"])
    for share, byte in flips:
        wrong[int(share * len(wrong))] = byte
    try:
        document = read_xlsx(make_zip(members | {f"xl/{part}.bin": bytes(wrong)}), "a.xlsb", LIMIT)
    except UnreadableError:
        return
    check_blocks(document.structure.blocks, document.text)


def test_a_string_that_is_shown_very_often_is_refused() -> None:
    cells: Cells = [(row, 0, "x" * 1000, 0) for row in range(100)]

    with pytest.raises(UnreadableError, match="too much text"):
        read_xlsx(make_xlsb({"Data": cells}, strings=["x" * 1000]), "a.xlsb", 400_000)


def test_a_length_that_leads_out_of_the_part_is_damage() -> None:
    with ZipFile(BytesIO(WHOLE)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["xl/workbook.bin"] += struct.pack("<BB", 0x9C, 0x01) + b"\x7f"

    with pytest.raises(UnreadableError):
        read_xlsx(make_zip(members), "a.xlsb", LIMIT)
