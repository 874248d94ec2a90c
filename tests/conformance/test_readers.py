"""What every reader owes: each word of a whole file; what is empty, damaged or hostile is refused, or read whole.

What a format shows of its own (its headings, lists, tables) is in the tests of its reader.
"""

import gc
import io
import re
import struct
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errors import UnreadableError
from index.documents.store import Document
from index.documents.structure import check_blocks
from ingestion.reading.csv import read_csv
from ingestion.reading.format_table import TABLE
from ingestion.reading.jsonl import read_jsonl
from ingestion.reading.mbox import read_mbox
from ingestion.reading.parquet import read_parquet
from ingestion.reading.pdf import read_pdf
from ingestion.reading.rst import MAX_LINE_CHARS
from tests.fakes.pdfs import make_pdf
from tests.fakes.readings import documents, read_all, refusals
from tests.zoo.archives import make_zip
from tests.zoo.damage import damaged
from tests.zoo.kinds import KINDS
from tests.zoo.office import make_epub, make_odf, make_pptx, make_word, make_xls, make_xlsx, shape, sheet_data
from tests.zoo.outlook import make_ole

LIMIT = 1_000_000
WORD_TABLE = (
    "<w:tbl>" + "<w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc></w:tr>" * 2 + "</w:tbl>"
)
FILES = {
    "xlsx": make_xlsx({"Data": sheet_data([["Boat", "Seats"], ["Gannet", 4], ["Tern", 2]])}),
    "docx": make_word(f"<w:p><w:r><w:t>Words</w:t></w:r></w:p>{WORD_TABLE}"),
    "pptx": make_pptx([shape("Heat pumps", role="title") + shape("Air", "Ground", role="body")], notes={1: "Hello."}),
    "odt": make_odf("text", '<text:h text:outline-level="1">Kinds</text:h><text:p>Words</text:p>'),
    "ods": make_odf(
        "spreadsheet",
        "<table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row>"
        "</table:table>",
    ),
    "epub": make_epub({"one": "<h1>First</h1><p>Words</p>"}, spine=["one"]),
    "xls": make_xls([(0, 0, "Boat", 1), (0, 1, "Seats", 1), (1, 0, "Gannet", 0), (1, 1, 4.0, 0)]),
    "rtf": rb"{\rtf1{\fonttbl{\f0 A;}}{\stylesheet{\s1 heading 1;}}\s1 Title\par\trowd\cellx1\intbl x\cell\row\u8364?}",
}
OLD = ("WordDocument", "EncryptedPackage", "PowerPoint Document", "Contents")
MAIN_PARTS = {
    "xlsx": "xl/workbook.xml", "docx": "word/document.xml", "pptx": "ppt/presentation.xml", "odt": "content.xml",
    "ods": "content.xml", "epub": "OPS/book.opf",
}  # fmt: skip


BLANK_WORD = make_word("<w:p><w:r><w:t> </w:t></w:r></w:p>")
NO_WORD = "no Word document, or a damaged one"
PROTECTED = (
    '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>'
    '<e:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></e:EncryptedData></encryption>'
)
LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
LONG_STRING = "<sheetData>" + ("<row>" + '<c t="s"><v>0</v></c>' * 1000 + "</row>") * 10 + "</sheetData>"
# Of each format: what cannot be read, and the reasons that are given.
REFUSED: dict[str, dict[bytes, str]] = {
    "pdf": {
        **dict.fromkeys((b"", b"no pdf at all", make_pdf("text")[:200]), "not a PDF, or a damaged one"),
        make_pdf("secret", password="key"): "encrypted",
        make_pdf("", ""): r"no text on its 2 pages.*extra `ocr`.*RAG_INGEST__OCR",
    },
    "docx": {
        **dict.fromkeys((b"no zip", make_word("<w:p/>")[:-500], make_zip({"word/document.xml": "x"})), NO_WORD),
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": NO_WORD,
        make_zip({"readme.txt": "x"}): "zip archive, but no Word document",
        BLANK_WORD: "no text",
        make_word("<w:sdt><w:sdtContent>" * 3000 + "<w:p/>" + "</w:sdtContent></w:sdt>" * 3000): "",
    },
    "pptx": {make_pptx([shape(" ")]): "no text"},
    "xlsx": {
        make_xlsx({"Sheet1": LONG_STRING}, strings=["long " * 6000]): "too much text",
        **{make_ole({name: bytes(4096)}): "Save it" for name in OLD},
    },
    "xls": {make_ole({name: bytes(4096)}): "Save it" for name in OLD},
    "odt": {
        make_odf(
            "text", "<text:p>x</text:p>", manifest="<m:file-entry><m:encryption-data/></m:file-entry>"
        ): "encrypted",
        make_odf("drawing", "<draw:page/>"): "damaged",
    },
    "epub": {make_zip({"META-INF/container.xml": "<container/>", "META-INF/encryption.xml": PROTECTED}): "protected"},
    "rtf": dict.fromkeys((b"no rtf", rb"{\rtf1 }", b"{\\rtf1" + b"{" * 100_000), ""),
    "csv": {
        **dict.fromkeys((b"", b" \n\n"), "no text"),
        bytes(range(256)) * 10: "binary data",
        b"a,b\n" + b"1,2\n" * 50_000: r"longer than 100,000 characters.*RAG_INGEST__MAX_DOCUMENT_CHARS",
    },
    "json": {
        b"{": "The file is not valid JSON",
        b"[" * 100_000: "nested too deeply",
        b"7": "a single value, no record",
        b"{}": "The file holds no text",
        b'{"text": "x", "n": NaN}': "a number that JSON does not allow",
        bytes(range(256)) * 10: "binary data",
    },
    "jsonl": {'{"id":"a","text":"x"}\n'.encode("utf-16"): "UTF-16; JSON Lines must be UTF-8"},
    "parquet": dict.fromkeys((b"", b"PAR1garbagePAR1", KINDS[".parquet"]("a", ["b"])[:-10]), "not a Parquet file, or"),
    "mbox": {b"Subject: A\n\nText.": "not a mailbox"},
    "html": {
        **dict.fromkeys((b"", b"<html><body></body></html>", b"<!-- only a comment -->"), "no text"),
        b"<html><script>var a = 'text';</script></html>": "no text",
        b"<html><body>" + b"<div>" * 50_000 + b"deep" + b"</div>" * 50_000 + b"<p>Words.</p></body></html>": (
            "cannot be read in full: Excessive depth"
        ),
    },
    "notebook": dict.fromkeys((b"", b"{", b"[1]", b"{}", b'{"cells": 3}', b'{"cells": []}', b"[" * 100_000), ""),
    "restructuredtext": {
        b"": "",
        b".. a comment\n": "",
        b"x" * (MAX_LINE_CHARS + 1): "",
        b"".join(b" " * n + b"x\n\n" for n in range(2000)): "",
    },
    "asciidoc": {b"// only a comment\n:attribute: x\n": ""},
    "org": {b"# only a comment\n:PROPERTIES:\n:ID: x\n:END:\n": ""},
    "xml": {
        **dict.fromkeys((b"", b"no XML", b"<a><b></a>", b"<a>", b"<a/>"), ""),
        b"<a>" * 300 + b"x" + b"</a>" * 300: "",
        f'<!DOCTYPE x [<!ENTITY a0 "ha">{LAUGHS}]><x>&a11;</x>'.encode(): "",
    },
}


def items(kind: str, data: bytes) -> list[object]:
    """Return what a reader finds in a file, whatever its content looks like."""
    name = f"a.{kind}"
    stream: Any = io.BufferedReader(cast("io.RawIOBase", io.BytesIO(data)), 200_000)
    match kind:
        case "pdf":
            return [read_pdf(data, name)]
        case "csv":
            return list(read_csv(stream, name, 100_000))
        case "jsonl":
            return list(read_jsonl(stream, name, len(data)))
        case "parquet":
            return list(read_parquet(stream, name))
        case "mbox":
            return list(read_mbox(stream, name, len(data)))
    found = TABLE[kind].reader()(data, name, *((LIMIT,) if TABLE[kind].is_zip else ()))
    return [found] if isinstance(found, Document) else list(found)


def whole(kind: str, data: bytes) -> Document:
    """Read a file of one document."""
    (document,) = items(kind, data)
    assert isinstance(document, Document)
    return document


def read(kind: str, data: bytes) -> None:
    """Read a file; only refusals are let pass."""
    try:
        document = whole(kind, data)
    except UnreadableError:
        return
    check_blocks(document.structure.blocks, document.text)
    assert document.text


@pytest.mark.parametrize("suffix", KINDS)
def test_whole_files_are_read_with_every_word_in_order(tmp_path: Path, suffix: str) -> None:
    first, second = "Wind turns the blades of a Größe-3 mill", "and water its wheel"

    found = read_all(tmp_path, f"a{suffix}", KINDS[suffix]("Harbour", [f"{first}.", f"{second}."]))

    text = " ".join(document.text for document in documents(found).values())
    assert text.index(first) < text.index(second)
    assert refusals(found) == []


@pytest.mark.fault("D5")
@pytest.mark.parametrize("suffix", KINDS)
def test_damage_is_read_or_refused_and_what_is_read_is_whole(tmp_path: Path, suffix: str) -> None:
    healthy = {suffix: KINDS[suffix]("Harbour", ["Wind turns the blades.", "Water turns the wheel."])}

    for name, data in damaged(healthy, flips=12, seed=7):
        documents(read_all(tmp_path, name, data))  # whose blocks tile their texts


@pytest.mark.fault("D5", "D6", "D7")
@pytest.mark.parametrize(("kind", "at"), [(kind, at) for kind, cases in REFUSED.items() for at in range(len(cases))])
def test_what_cannot_be_read_is_refused_with_the_reason(kind: str, at: int) -> None:
    data, reason = list(REFUSED[kind].items())[at]

    with pytest.raises(UnreadableError) as refused:
        items(kind, data)

    assert re.search(reason, str(refused.value))
    assert gc.isenabled()


def rewritten(data: bytes, change: Callable[[str, bytes], bytes | None]) -> bytes:
    """Return the archive with its members changed; a member that becomes None is left out."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        members = {name: change(name, archive.read(name)) for name in archive.namelist()}
    return make_zip({name: content for name, content in members.items() if content is not None})


@pytest.mark.fault("D5")
@pytest.mark.parametrize("kind", FILES)
@given(share=st.floats(0, 1))
@settings(max_examples=20, deadline=None)
def test_files_that_are_cut_short(kind: str, share: float) -> None:
    read(kind, FILES[kind][: int(share * len(FILES[kind]))])


@pytest.mark.fault("D5")
@pytest.mark.parametrize("kind", FILES)
@given(flips=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=10))
@settings(max_examples=40, deadline=None)
def test_files_with_wrong_bytes(kind: str, flips: list[tuple[float, int]]) -> None:
    data = bytearray(FILES[kind])
    for share, byte in flips:
        data[int(share * len(data))] = byte

    read(kind, bytes(data))


@pytest.mark.parametrize("kind", MAIN_PARTS)
@given(flips=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(32, 126)), min_size=1, max_size=4))
@settings(max_examples=30, deadline=None)
def test_archives_that_are_whole_with_wrong_bytes_in_their_main_part(kind: str, flips: list[tuple[float, int]]) -> None:
    def change(name: str, content: bytes) -> bytes:
        if name != MAIN_PARTS[kind]:
            return content
        changed = bytearray(content)
        for share, byte in flips:
            changed[int(share * len(changed))] = byte
        return bytes(changed)

    read(kind, rewritten(FILES[kind], change))


@pytest.mark.parametrize("kind", MAIN_PARTS)
def test_archives_without_one_of_their_members(kind: str) -> None:
    with zipfile.ZipFile(BytesIO(FILES[kind])) as archive:
        names = archive.namelist()
    for missing in names:
        read(kind, rewritten(FILES[kind], lambda name, content: None if name == missing else content))  # noqa: B023
    with pytest.raises(UnreadableError):
        whole(kind, rewritten(FILES[kind], lambda name, content: None if name == MAIN_PARTS[kind] else content))


@pytest.mark.fault("D5")
@pytest.mark.parametrize("kind", MAIN_PARTS)
def test_archives_that_unpack_to_too_much_are_refused_before_they_are_unpacked(kind: str) -> None:
    data = rewritten(FILES[kind], lambda _, content: content)
    buffer = BytesIO(data)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.xml", bytes(2 * LIMIT))

    with pytest.raises(UnreadableError, match="larger than 1 MB unpacked"):
        whole(kind, buffer.getvalue())


def test_a_member_that_holds_more_than_it_declares_is_refused() -> None:
    bomb = f"<w:p><w:r><w:t>{'x' * 900_000}</w:t></w:r></w:p>"
    data = make_word(bomb)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        size = archive.getinfo("word/document.xml").file_size
    lying = data.replace(struct.pack("<I", size), struct.pack("<I", 1000))

    with pytest.raises(UnreadableError):
        whole("docx", lying)


@pytest.mark.fault("D5", "E2")
@pytest.mark.parametrize("kind", MAIN_PARTS)
def test_entities_are_neither_fetched_nor_expanded(kind: str) -> None:
    def change(name: str, content: bytes) -> bytes:
        if name != MAIN_PARTS[kind]:
            return content
        return b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>' + content

    with pytest.raises(UnreadableError):
        whole(kind, rewritten(FILES[kind], change))
