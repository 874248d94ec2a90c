"""CSV files: tables, and collections of texts."""

import io
from typing import Any, cast

import pytest

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading import csv


def read(data: bytes, max_chars: int = 100_000, sample_bytes: int = 200_000) -> list[Document | UnreadableError]:
    stream: Any = io.BufferedReader(cast("io.RawIOBase", io.BytesIO(data)), sample_bytes)
    return list(csv.read_csv(stream, "dir/sales_2024.csv", max_chars))


def one(data: bytes) -> Document:
    (document,) = read(data)
    assert isinstance(document, Document)
    return document


def facts(items: list[Document | UnreadableError]) -> list[str]:
    return [item.fact if isinstance(item, UnreadableError) else item.doc_id for item in items]


def test_a_row_with_text_is_a_document() -> None:
    data = b'id,title,Text,year\nr1,One,"First, and\nsecond line.",2024\nr2,,Other words.,\n'

    assert read(data) == [
        Document("r1", "One", "First, and\nsecond line.", metadata={"year": "2024"}, source="dir/sales_2024.csv"),
        Document("r2", "Other words.", "Other words.", source="dir/sales_2024.csv"),
    ]


def test_a_table_without_a_column_of_text_is_one_document_whose_rows_name_their_columns() -> None:
    document = one(b"Region,Q1,Q2\nNorth,10,12\n,,\nSouth,9,\n")

    assert document.text == "Region | Q1 | Q2\n\nRegion: North\nQ1: 10\nQ2: 12\n\nRegion: South\nQ1: 9"
    assert (document.doc_id, document.title) == ("dir/sales_2024.csv", "sales 2024")


def test_a_table_without_header_numbers_its_columns() -> None:
    assert one(b"1,2\n3,4\n").text == "column 1: 1\ncolumn 2: 2\n\ncolumn 1: 3\ncolumn 2: 4"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_that_of_the_header(delimiter: str) -> None:
    assert one(f"a{delimiter}b\n1{delimiter}2\n".encode()).text.endswith("a: 1\nb: 2")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_the_encoding_is_detected(encoding: str) -> None:
    rows = "Größe;Wärme\nzwölf;für Häuser\n" * 3

    assert one(rows.encode(encoding)).text.startswith("Größe | Wärme\n\nGröße: zwölf\nWärme: für Häuser")


def test_bad_rows_are_reported_by_their_number_and_the_others_go_on() -> None:
    wide = b"b,x,surplus\n"
    broken = b"c,\xff\n"

    assert facts(read(b"id,text\na,x\n" + wide + broken + b"a,again\nd,\ne,y\n", sample_bytes=16)) == [
        "a",
        "Row 3 has 3 values for 2 columns.",
        "Row 4 is not valid UTF-8.",
        "Row 5 repeats the id 'a' of row 2, which is kept.",
        "Row 6 has no text in any of text, contents, body.",
        "e",
    ]


def test_a_huge_line_is_reported_and_the_next_row_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv, "MAX_LINE_CHARS", 1000)

    assert facts(read(b"id,text\na," + b"x" * 5000 + b"\nb,y\n")) == [
        "Row 2 cannot be read: A line is longer than 0 million characters.",
        "b",
    ]


def test_a_quotation_mark_that_is_never_closed_is_told_and_rows_before_it_stay() -> None:
    assert facts(read(b'id,text\na,x\nb,"open\nc,y\n')) == [
        "a",
        "The quotation mark opened in row 3 is never closed; this row and what follows it is lost.",
    ]


def test_zero_bytes_are_dropped_from_text() -> None:
    assert [item.text for item in read(b"id,text\na,x\x00y\n") if isinstance(item, Document)] == ["xy"]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("sep=;\ntree;rings\nelm;40\n", "tree | rings\n\ntree: elm\nrings: 40"),
        ('"sep=\t"\r\ntree\trings\r\nelm\t40\r\n', "tree | rings\n\ntree: elm\nrings: 40"),
        ("# cut in May, by saw\n\ntree,rings\nelm,40\n", "cut in May, by saw\n\ntree | rings\n\ntree: elm\nrings: 40"),
        (
            "Felled trees\nYard;North\n\ntree;rings;width\nelm;40;1,5\nash;38;2,25\n",
            "Felled trees\n\nYard: North\n\ntree | rings | width\n\n"
            "tree: elm\nrings: 40\nwidth: 1,5\n\ntree: ash\nrings: 38\nwidth: 2,25",
        ),
        ("007;1,50\n008;2,00\n", "column 1: 007\ncolumn 2: 1,50\n\ncolumn 1: 008\ncolumn 2: 2,00"),
        (
            ",May,,June,\ntree,old,new,old,new\nelm,4,5,6,7\n",
            "tree | May old | May new | June old | June new\n\n"
            "tree: elm\nMay old: 4\nMay new: 5\nJune old: 6\nJune new: 7",
        ),
    ],
)
@pytest.mark.fault("D14")
def test_names_of_columns_are_found_below_what_stands_above_them(data: str, text: str) -> None:
    assert one(data.encode()).text == text


def test_texts_below_a_title_are_documents() -> None:
    data = b"# Letters of June\nid,text\nr1,First words.\nr2,Other words.\n"

    assert [item.text for item in read(data) if isinstance(item, Document)] == ["First words.", "Other words."]
