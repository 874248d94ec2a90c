"""Rows that are quoted: the table that is shown for them, in files of every format that has tables."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from index.documents.store import Document
from ingestion.reading.formats import read_file
from ingestion.reading.options import ReadOptions
from query_engine.reader.reading import LeafReader
from query_engine.schema.citations import Citations
from query_engine.synthesis.extractive import ExtractiveSynthesizer
from tests.fakes.engines import a_passage
from tests.fakes.reading import WordReader
from tests.fakes.words import FakeWords
from tests.zoo.office import make_odf, make_word, make_xlsx, sheet_data

Row = Sequence[str | float]
Rows = Sequence[Row]
HARBOURS: Rows = [["Harbour", "Berths", "Depth"], *((f"Port {chr(65 + at)}", 10 + at, 2 + at) for at in range(9))]


def _xlsx(rows: Rows) -> bytes:
    return make_xlsx({"Sheet1": sheet_data(rows)})


def _odf(kind: str) -> Callable[[Rows], bytes]:
    def make(rows: Rows) -> bytes:
        cells = (
            "".join(
                f'<table:table-cell office:value-type="{"string" if isinstance(cell, str) else "float"}" '
                f'office:value="{cell}"><text:p>{cell}</text:p></table:table-cell>'
                for cell in row
            )
            for row in rows
        )
        first, *others = [f"<table:table-row>{row}</table:table-row>" for row in cells]
        header = f"<table:table-header-rows>{first}</table:table-header-rows>"
        return make_odf(kind, f'<table:table table:name="Sheet1">{header}{"".join(others)}</table:table>')

    return make


def _docx(rows: Rows) -> bytes:
    def row(cells: Row, properties: str = "") -> str:
        texts = (f"<w:tc><w:p><w:r><w:t>{cell}</w:t></w:r></w:p></w:tc>" for cell in cells)
        return f"<w:tr>{properties}{''.join(texts)}</w:tr>"

    first = row(rows[0], "<w:trPr><w:tblHeader/></w:trPr>")
    return make_word(f"<w:tbl>{first}{''.join(map(row, rows[1:]))}</w:tbl>")


def _csv(rows: Rows) -> bytes:
    return "\n".join(",".join(map(str, row)) for row in rows).encode()


def _markdown(rows: Rows) -> bytes:
    lines = [" | ".join(map(str, row)) for row in rows]
    return "\n".join([lines[0], "|".join(["---"] * len(rows[0])), *lines[1:]]).encode()


def _html(rows: Rows) -> bytes:
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows[1:])
    header = "".join(f"<th>{cell}</th>" for cell in rows[0])
    return f"<table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>".encode()


MAKERS: dict[str, Callable[[Rows], bytes]] = {
    "a.xlsx": _xlsx,
    "a.ods": _odf("spreadsheet"),
    "a.odt": _odf("text"),
    "a.docx": _docx,
    "a.csv": _csv,
    "a.md": _markdown,
    "a.html": _html,
}


def _unmarked(name: str, rows: Rows) -> bytes:
    """Return a table whose first row is marked as nothing."""
    if name == "a.docx":
        cells = ("".join(f"<w:tc><w:p><w:r><w:t>{cell}</w:t></w:r></w:p></w:tc>" for cell in row) for row in rows)
        return make_word(f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>")
    cells = ("".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in row) for row in rows)
    lines = "".join(f"<table:table-row>{row}</table:table-row>" for row in cells)
    return make_odf("text", f"<table:table>{lines}</table:table>")


def document(folder: Path, name: str, data: bytes) -> Document:
    """Return a file as a document with its structure; of several documents the one that is their table."""
    (folder / name).write_bytes(data)
    read = list(read_file(folder / name, name, ReadOptions(10**7, 10**7)))
    (found,) = (one for one in read if isinstance(one, Document))
    return found.structured()


def asked(question: str, source: Document, max_chars: int = 700) -> tuple[str, Citations]:
    """Return the answer by quotes from the document whose place with the question's last words was found."""
    reader = LeafReader(WordReader(), lambda _: source, FakeWords(), max_chars=max_chars)
    start = max(0, source.text.find(" ".join(question.strip("?").split()[-2:])))
    found = replace(a_passage(source.doc_id, source.text[start : start + 40]), start=start, end=start + 40, hits=())
    citations = Citations()
    return "".join(ExtractiveSynthesizer(reader).write(question, [found], citations, threading.Event())), citations


def table(answer: str) -> list[list[str]]:
    """Return the cells of the Markdown table of an answer."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in answer.splitlines() if line[:1] == "|"]


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("max_chars", [60, 700])
def test_a_quoted_row_stands_under_the_names_of_its_columns(tmp_path: Path, name: str, max_chars: int) -> None:
    source = document(tmp_path, name, MAKERS[name](HARBOURS))

    answer, citations = asked("What is the depth of Port G?", source, max_chars)

    header, rule, *rows = table(answer)
    assert (header, rule) == (["Harbour", "Berths", "Depth"], ["---"] * 3)
    assert ["Port G", "16", "**8**"] in rows
    (citation,) = citations.all()
    assert source.text[citation.start : citation.end] == citation.quote
    assert "Port G" in citation.quote
    assert "**" not in citation.quote


FEES: Rows = [
    ["Account", "Budget", "Spent"],
    ["5200 Ferry & Slip", "", ""],
    *((f"Fee {at}", 100 + at, 90 + at) for at in range(12)),
    ["5300 Dry Dock", "", ""],
    *((f"Rent {at}", 300 + at, 290 + at) for at in range(12)),
]


@pytest.mark.parametrize("name", sorted(MAKERS.keys() - {"a.csv"}))
@pytest.mark.parametrize(("row", "group"), [("Fee 9", "5200 Ferry & Slip"), ("Rent 9", "5300 Dry Dock")])
def test_a_row_stands_with_the_row_that_names_its_group(tmp_path: Path, name: str, row: str, group: str) -> None:
    escaped = [[str(cell).replace("&", "&amp;") for cell in one] for one in FEES]
    rows = FEES if name == "a.md" else escaped

    answer, citations = asked(f"How much was spent for {row}?", document(tmp_path, name, MAKERS[name](rows)), 60)

    first, *others = (cells[0] for cells in table(answer)[2:])
    assert first == group
    assert row in others
    assert all(group not in one.quote for one in citations.all())


def test_a_merged_row_names_the_group_of_the_rows_below_it(tmp_path: Path) -> None:
    merged = '<mergeCells><mergeCell ref="A2:C2"/><mergeCell ref="A15:C15"/></mergeCells>'
    data = make_xlsx(
        {"Sheet1": sheet_data([[str(cell).replace("&", "&amp;") for cell in row] for row in FEES]) + merged}
    )

    answer, _ = asked("How much was spent for Rent 9?", document(tmp_path, "a.xlsx", data), 60)

    assert table(answer)[2][0] == "5300 Dry Dock"


ROTA: Rows = [
    ["Keeper", "Lock", "Shift"],
    *((f"Keeper {name}", lock, "late") for name, lock in zip("abcdef", ["upper", "lower"] * 3, strict=True)),
]


@pytest.mark.parametrize("name", ["a.docx", "a.odt"])
def test_words_above_words_name_the_columns_where_nothing_marks_them(tmp_path: Path, name: str) -> None:
    source = document(tmp_path, name, _unmarked(name, ROTA))

    assert "Keeper | Lock | Shift\n--- | --- | ---\n" in source.text


def test_the_rows_of_a_single_column_answer(tmp_path: Path) -> None:
    data = b"Remark\n" + b"".join(b"Gate %c was oiled\n" % (65 + at) for at in range(6))

    answer, _ = asked("What about Gate C?", document(tmp_path, "a.csv", data))

    assert "Gate C was oiled" in answer


TWICE: Rows = [
    ["Account", "Budget", "Spent"],
    ["6100 Boathouse", "", ""],
    ["Rope", 410, 435],
    ["Paint", 82, 99],
    ["6200 Museum", "", ""],
    ["Rope", 120, 127],
    ["Lamps", 53, 61],
]


@pytest.mark.fault("D25")
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(
    ("question", "shown", "left_out"),
    [
        ("How much was spent for rope in the museum?", {"127"}, {"435"}),
        ("How much was spent on boathouse rope?", {"435"}, {"127"}),
        ("How much was spent for rope?", {"435", "6100 Boathouse", "127", "6200 Museum"}, set()),
    ],
)
def test_rows_of_one_name_are_told_apart_by_their_groups(
    tmp_path: Path, name: str, question: str, shown: set[str], left_out: set[str]
) -> None:
    answer, _ = asked(question, document(tmp_path, name, MAKERS[name](TWICE)))

    cells = {cell.strip("*") for row in table(answer) for cell in row}
    assert shown <= cells
    assert left_out.isdisjoint(cells)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("title.xlsx", make_xlsx({"Sheet1": sheet_data([["Slips of the yard"], *HARBOURS])})),
        (
            "merged.xlsx",
            make_xlsx(
                {
                    "Sheet1": sheet_data([["Slips of the yard"], *HARBOURS])
                    + '<mergeCells><mergeCell ref="A1:C1"/></mergeCells>'
                }
            ),
        ),
        ("a.html", _html(HARBOURS).replace(b"<table>", b"<table><caption>Slips of the yard</caption>")),
        ("a.md", b"Slips of the yard\n\n" + _markdown(HARBOURS)),
    ],
)
def test_a_table_s_title_stands_above_its_rows_and_names_no_column(tmp_path: Path, name: str, data: bytes) -> None:
    answer, _ = asked("What is the depth of Port G?", document(tmp_path, name, data), 60)

    assert answer.startswith("Slips of the yard\n\n| Harbour | Berths | Depth |\n")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", b"\n".join(b"Port %c,%d,%d" % (65 + at, 10 + at, at) for at in range(9))),
        ("a.xlsx", _xlsx([[f"Port {chr(65 + at)}", 10 + at, at] for at in range(9)])),
    ],
)
def test_a_table_without_a_header_is_given_no_names(tmp_path: Path, name: str, data: bytes) -> None:
    answer, _ = asked("What about Port G?", document(tmp_path, name, data))

    header, rule, *rows = table(answer)
    assert (header, rule) == ([""] * 3, ["---"] * 3)
    assert ["**Port G**", "**16**", "**6**"] in rows


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("What is the depth of Port?", HARBOURS),  # no row
        ("What is the depth of Port G?", [*HARBOURS, ["Port G", 1, 1]]),  # two rows
        ("What is the depth of Port G or Port B?", HARBOURS),
    ],
)
def test_nothing_is_bold_unless_the_question_names_one_row(tmp_path: Path, question: str, rows: Rows) -> None:
    answer, _ = asked(question, document(tmp_path, "a.xlsx", _xlsx(rows)))

    assert "**" not in answer
    assert table(answer)


@pytest.mark.parametrize(
    "question",
    ["What is there of Port G?", "What are berths and depth of Port G?", "What is the harbour of Port G?"],
)
def test_a_row_that_is_named_is_marked_where_no_single_column_is(tmp_path: Path, question: str) -> None:
    answer, citations = asked(question, document(tmp_path, "a.csv", _csv(HARBOURS)))
    (citation,) = citations.all()

    assert [row for row in table(answer) if "**" in "".join(row)] == [["**Port G**", "**16**", "**8**"]]
    marked = [citation.quote[start - citation.start : end - citation.start] for start, end in citation.marks]
    assert marked == ["Harbour: Port G\nBerths: 16\nDepth: 8"]


def test_the_longest_names_that_the_question_has_tell_row_and_column(tmp_path: Path) -> None:
    rows: Rows = [
        ["Harbour", "Year", "Berths", "Dry berths"],
        ["Port A", "since 2001", 3, 4],
        ["Port A", "since 2002", 5, 6],
        ["Port A North", "since 2002", 7, 8],
    ]

    answer, _ = asked("How many dry berths since 2002 has Port A?", document(tmp_path, "a.xlsx", _xlsx(rows)))

    assert ["Port A", "since 2002", "5", "**6**"] in table(answer)


def test_a_table_is_whole_though_cells_hold_bars_and_lines_of_text_stand_around_it(tmp_path: Path) -> None:
    rows = b"| a\\|b | either <object data=x> |\n| c | ![x](http://x.y/z) |"
    data = b"Before it.\n\n| Flag | Use |\n|---|---|\n%b\n\nAfter it." % rows

    answer, _ = asked("What stands before and after it?", document(tmp_path, "a.md", data))

    assert "Before it.\n\n| Flag | Use |\n| --- | --- |\n| a\\|b | either < object data=x> |\n| c |" in answer
    assert "|\n\nAfter it." in answer
    assert "![" not in answer


def test_rows_of_many_columns_are_one_table_of_the_columns_that_are_filled(tmp_path: Path) -> None:
    names: list[str] = ["Boat", *(f"Week {at}" for at in range(9))]
    rows: Rows = [names, ["Tern", *range(9)], ["Gull", *range(5), "", *range(6, 9)]]

    answer, _ = asked("What did the boat Gull do in Week 7?", document(tmp_path, "a.xlsx", _xlsx(rows)))

    assert table(answer)[0] == names
    assert ["Gull", "0", "1", "2", "3", "4", "", "6", "**7**", "8"] in table(answer)
