"""Small files that become large texts: cells, rows, spans, members, strings and entities that repeat."""

import gzip
import json
import zipfile
from base64 import b64encode
from io import BytesIO
from pathlib import Path

import pytest

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.compression import MAX_RATIO
from ingestion.reading.options import ReadOptions
from ingestion.reading.text_budget import MAX_REFUSALS, SMALL_SHARE, Growth, TextBudget
from ingestion.reading.text_builder import TextBuilder
from tests.fakes.readings import read_all, refusals
from tests.zoo.office import make_epub, make_odf, make_pptx, make_word, make_xlsx

OPTIONS = ReadOptions(max_bytes=50_000_000, max_chars=4_000_000)
LEAST = OPTIONS.max_chars // SMALL_SHARE
WORDS = "Gannets dive. "


def packed(files: dict[str, bytes]) -> bytes:
    """Return a zip archive whose members are compressed."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def repacked(data: bytes) -> bytes:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        return packed({name: archive.read(name) for name in archive.namelist()})


def ods(rows: str) -> bytes:
    return repacked(make_odf("spreadsheet", f'<table:table table:name="Sheet1">{rows}</table:table>'))


def ods_row(text: str, *, rows: int = 1, columns: int = 1) -> str:
    shown = f"<text:p>{text}</text:p>" if text else ""
    return (
        f'<table:table-row table:number-rows-repeated="{rows}">'
        f'<table:table-cell table:number-columns-repeated="{columns}">{shown}</table:table-cell></table:table-row>'
    )


def word_table(width: int, rows: int) -> bytes:
    cell = (
        f'<w:tc><w:tcPr><w:gridSpan w:val="{width}"/></w:tcPr><w:p><w:r><w:t>{WORDS * 20}</w:t></w:r></w:p></w:tc>'
        "<w:tc><w:p/></w:tc>"
    )
    return repacked(make_word(f"<w:tbl>{f'<w:tr>{cell}</w:tr>' * rows}</w:tbl>"))


def xlsx_of_one_string(rows: int) -> bytes:
    cells = "".join(f'<row r="{at}"><c r="A{at}" t="s"><v>0</v></c></row>' for at in range(1, rows + 1))
    return repacked(make_xlsx({"Data": f"<sheetData>{cells}</sheetData>"}, strings=[WORDS * 1000]))


def merged_xlsx(rows: int) -> bytes:
    cells = "".join(f'<row r="{at}"><c r="B{at}"><v>{at}</v></c></row>' for at in range(2, rows))
    first = f'<row r="1"><c r="A1" t="inlineStr"><is><t>{WORDS * 1000}</t></is></c></row>'
    merged = f'<mergeCells><mergeCell ref="A1:A{rows}"/></mergeCells>'
    return repacked(make_xlsx({"Data": f"<sheetData>{first}{cells}</sheetData>{merged}"}))


def slides(rows: int) -> bytes:
    first = (
        f'<a:tc gridSpan="200" rowSpan="200"><a:txBody><a:p><a:r><a:t>{WORDS * 20}</a:t></a:r></a:p></a:txBody></a:tc>'
    )
    lines = f"<a:tr>{first}</a:tr>" + "<a:tr/>" * rows
    return repacked(
        make_pptx(
            [
                f"<p:graphicFrame><a:graphic><a:graphicData><a:tbl>{lines}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
            ]
        )
    )


def book() -> bytes:
    return repacked(make_epub({"one": f"<p>{WORDS * 50}</p>"}, spine=["one"] * 2000))


def doubling_rst() -> bytes:
    lines = "".join(f".. |a{at}| replace:: |a{at - 1}| |a{at - 1}|\n" for at in range(1, 40))
    return f"Top\n===\n\n|a39|\n\n.. |a0| replace:: {WORDS}\n{lines}".encode()


def mail_with(name: str, content: bytes) -> bytes:
    return (
        b"From: a@example.org\r\nSubject: Boats\r\nMIME-Version: 1.0\r\n"
        b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nHello.\r\n--x\r\n"
        b"Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n"
        + f'Content-Disposition: attachment; filename="{name}"\r\n\r\n'.encode()
        + b64encode(content)
        + b"\r\n--x--\r\n"
    )


def wiki(text: str) -> bytes:
    page = f"<page><title>T</title><ns>0</ns><revision><text>{text}</text></revision></page>"
    return f"<mediawiki>{page}</mediawiki>".encode()


ENTITIES = (f'<!DOCTYPE d [<!ENTITY e "{WORDS * 70}">]><d><p>' + "&e;" * 5000 + "</p></d>").encode()
BOMB = ods(ods_row(WORDS, rows=40_000, columns=1000))
EXPANDING = {
    "rows.ods": ods(ods_row(WORDS, rows=1_000_000)),
    "columns.ods": ods(ods_row(WORDS * 20, columns=16_384)),
    "cells.ods": BOMB,
    "many.ods": ods(ods_row("x", rows=30_000) * 40),
    "long.ods": ods(ods_row(WORDS * 1000, rows=4000)),
    "spans.docx": word_table(200, 2000),
    "spans.pptx": slides(1000),
    "strings.xlsx": xlsx_of_one_string(3000),
    "merged.xlsx": merged_xlsx(3000),
    "chapters.epub": book(),
    "doubling.rst": doubling_rst(),
    "many.rst": b"|a| " * 10_000 + b"\n\n.. |a| replace:: " + WORDS.encode() * 1000 + b"\n",
    "wide.rst": b".. csv-table::\n\n   " + b"a," * 20_000 + b"\n" + b"   a\n" * 5000,
    "names.csv": b"a" * 4000 + b",b\n" + b"1,2\n" * 6000,
    "text.txt.gz": gzip.compress(WORDS.encode() * 30_000),
    "rows.jsonl.gz": gzip.compress(b'{"text": "Gannets dive."}\n' * 30_000),
    "short.jsonl.gz": gzip.compress(b'{"text": "a"}\n' * 30_000),
    "members.zip": packed({f"{at}.ods": ods(ods_row(WORDS * 100, rows=120)) for at in range(30)}),
    "texts.zip": packed({f"{at}.txt": WORDS.encode() * 10_000 for at in range(30)}),
    "nested.zip": packed({"inner.zip": packed({"a.txt": WORDS.encode() * 60_000})}),
    "mail.eml": mail_with("a.ods", BOMB),
    "archive.eml": mail_with("a.zip", packed({f"{at}.txt": WORDS.encode() * 10_000 for at in range(30)})),
}


def read(
    folder: Path, name: str, data: bytes, options: ReadOptions = OPTIONS
) -> tuple[list[Document], list[UnreadableError]]:
    found = read_all(folder, name, data, options)
    return [item for item in found if isinstance(item, Document)], refusals(found)


@pytest.mark.fault("D10")
@pytest.mark.parametrize("name", EXPANDING)
def test_a_small_file_does_not_become_a_large_text(tmp_path: Path, name: str) -> None:
    data = EXPANDING[name]
    allowed = max(LEAST, MAX_RATIO * len(data))

    documents, refusals = read(tmp_path, name, data)

    assert sum(len(document.text) for document in documents) <= allowed
    assert any(f"{allowed:,} characters" in refusal.fact for refusal in refusals)
    assert any("RAG_INGEST__MAX_DOCUMENT_CHARS" in refusal.remedy for refusal in refusals)


@pytest.mark.fault("D10")
@pytest.mark.parametrize(
    ("name", "data"),
    [
        (
            "page.html",
            f"<table><tr><td colspan=1000 rowspan=1000>{WORDS * 20}<td>b</tr>{'<tr><td>c' * 90}</table>".encode(),
        ),
        ("page.adoc", f"|===\n50.50+|{WORDS * 20}\n{'|c ' * 90}\n|===\n".encode()),
        (
            "page.xml",
            wiki("{|\n|colspan=1000 rowspan=1000| " + WORDS * 20 + "\n" + "|-\n| c\n" * 90 + "|}"),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_spans_a_thousand_cells_stays_small(tmp_path: Path, name: str, data: bytes) -> None:
    documents, _ = read(tmp_path, name, data)

    assert documents
    assert sum(len(document.text) for document in documents) <= MAX_RATIO * len(data)


@pytest.mark.fault("D10")
def test_entities_that_repeat_are_refused_by_the_parser(tmp_path: Path) -> None:
    documents, refusals = read(tmp_path, "a.xml", ENTITIES)

    assert not documents
    assert len(refusals) == 1


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        (
            "blank.ods",
            ods(ods_row("Gannet", columns=2) + ods_row("", columns=16_384) + ods_row("", rows=1_048_576, columns=1024)),
            "Gannet",
        ),
        ("blanks.ods", ods(ods_row("", rows=1_000_000) + ods_row("Gannet")), "Gannet"),
    ],
)
def test_blank_cells_that_repeat_cost_nothing(tmp_path: Path, name: str, data: bytes, text: str) -> None:
    documents, refusals = read(tmp_path, name, data)

    assert [document.text for document in documents] == [text]
    assert not refusals


@pytest.mark.fault("D10")
def test_a_member_that_repeats_without_end_costs_itself(tmp_path: Path) -> None:
    data = packed({"a.txt": b"Before.", "b.ods": BOMB, "c.txt": b"After."})

    documents, refusals = read(tmp_path, "a.zip", data)

    assert [document.text for document in documents] == ["Before.", "After."]
    assert [refusal.doc_id for refusal in refusals] == ["a.zip/b.ods"]


@pytest.mark.fault("D10")
def test_members_that_repeat_without_end_are_given_up_after_some(tmp_path: Path) -> None:
    data = packed({f"{at:03}.ods": ods(ods_row(WORDS, rows=1_000_000)) for at in range(MAX_REFUSALS + 20)})

    documents, refusals = read(tmp_path, "a.zip", data)

    assert not documents
    assert len(refusals) == MAX_REFUSALS + 1


@pytest.mark.fault("D10")
def test_what_a_page_includes_counts_with_its_own_size(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text((WORDS * 5 + "\n") * 6000)
    many = b".. literalinclude:: long.txt\n   :lines: " + b"1," * 50_000 + b"\n"
    (tmp_path / "line.txt").write_text(WORDS * 5)

    documents, refusals = read(tmp_path, "a.rst", b".. include:: long.txt\n")
    repeated, _ = read(tmp_path, "b.rst", many.replace(b"long", b"line"), OPTIONS)

    assert len(documents[0].text) > LEAST
    assert not refusals
    assert sum(len(document.text) for document in repeated) <= MAX_RATIO * (len(many) + 100)


def test_a_larger_limit_of_documents_lets_a_small_file_become_more(tmp_path: Path) -> None:
    data = ods(ods_row("x", rows=60_000))

    refused = read(tmp_path, "a.ods", data)
    documents, refusals = read(tmp_path, "a.ods", data, ReadOptions(OPTIONS.max_bytes, SMALL_SHARE * 250_000))

    assert not refused[0]
    assert len(documents[0].text) == 2 * 60_000 - 1
    assert not refusals


def test_nothing_is_counted_where_no_file_is_read() -> None:
    growth = Growth()
    growth.add(10**12)
    budget = TextBudget(1, 1000)
    builder = TextBuilder()
    for _ in budget.lent(iter((1,))):
        builder.paragraph("x" * 1000)  # this loop is not the reader

    assert len(builder) == 1000


def test_a_notebook_repeats_nothing(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "source": "1", "outputs": [{"output_type": "stream", "text": WORDS * 20_000}]}
    data = json.dumps({"cells": [cell]}).encode()

    documents, refusals = read(tmp_path, "a.ipynb", data)

    assert documents
    assert not refusals
