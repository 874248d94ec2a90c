"""Which reader a file gets, by suffix and by content."""

import bz2
import gzip
import os
import re
import zipfile
from collections.abc import Callable
from io import BytesIO
from itertools import islice
from pathlib import Path

import pytest

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.formats import read_file
from ingestion.reading.options import ReadOptions
from tests.fakes.pdfs import make_pdf
from tests.fakes.readings import documents, read_all, refusals
from tests.fakes.word import make_docx
from tests.zoo.office import make_epub, make_odf, make_pptx, make_xls, make_xlsx, shape, sheet_data
from tests.zoo.outlook import make_ole

SHEET = make_xlsx({"Sheet1": sheet_data([["x"]])})
OPTIONS = ReadOptions(max_bytes=256_000_000, max_chars=1_000_000)
PAGE = b"\n<!-- saved -->\n<!DOCTYPE html><html><head><title>A page</title></head><body><p>Some text.</p></body></html>"


def read_one(path: Path, data: bytes, options: ReadOptions = OPTIONS) -> Document:
    path.write_bytes(data)
    (item,) = read_file(path, path.name, options)
    assert isinstance(item, Document)
    return item


@pytest.mark.promise("G27")
@pytest.mark.parametrize(
    ("name", "data", "title"),
    [
        ("a_b.MD", b"# Heading", "Heading"),
        ("a_b.txt", b"# no heading", "a b"),
        ("a_b.htm", b"<p>x</p><h1>Top</h1>", "Top"),
        ("a_b.ndjson", b'{"text": "x", "title": "Record"}', "Record"),
    ],
)
def test_the_suffix_decides(tmp_path: Path, name: str, data: bytes, title: str) -> None:
    assert read_one(tmp_path / name, data).title == title


@pytest.mark.parametrize(
    ("name", "data", "content_type"),
    [
        ("a.rst", b"Top\n===\n\nx", "restructuredtext"),
        ("a.adoc", b"= Top\n\nx", "asciidoc"),
        ("a.org", b"* Top\nx", "org"),
        ("a.ipynb", b'{"cells": [{"cell_type": "markdown", "source": "# Top"}]}', "notebook"),
        ("a.xml", b"<book><title>Top</title></book>", "xml"),
        ("b.xml", b"<?xml version='1.0'?><html><title>Top</title><p>x</p></html>", "html"),
    ],
)
def test_documentation_is_read_with_its_structure(tmp_path: Path, name: str, data: bytes, content_type: str) -> None:
    document = read_one(tmp_path / name, data)

    assert (document.title, document.content_type) == ("Top", content_type)
    assert document.structure


@pytest.mark.fault("D15")
def test_a_document_says_which_encoding_was_guessed_for_it(tmp_path: Path) -> None:
    text = "Zítra bude pršet, řekl rybář."
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("old.txt", text.encode("cp1250"))
        packed.writestr("new.txt", text)

    old, new = documents(read_all(tmp_path, "both.zip", archive.getvalue())).values()
    page = read_one(tmp_path / "a.html", f"<meta charset=iso-8859-2><p>{text}</p>".encode("iso-8859-2"))

    assert (old.text, new.text, page.text) == (text, text, text)
    assert [one.metadata.get("guessed_encoding") for one in (old, new, page)] == ["cp1250", None, None]


@pytest.mark.parametrize("suffix", ["pdf", "docx", "parquet", "xls", "doc", "rtf", "epub"])
def test_text_under_the_name_of_a_binary_format_is_read_as_text(tmp_path: Path, suffix: str) -> None:
    document = read_one(tmp_path / f"wind_power.{suffix}", "Größe, in plain words.".encode())

    assert (document.text, document.content_type) == ("Größe, in plain words.", "plain text")


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_archive_of_documents_is_not_one_of_them(tmp_path: Path, compression: int) -> None:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr("a.docx", make_docx([("Normal", "x")]))
        archive.writestr("word/list.txt", "y")

    assert [*documents(read_all(tmp_path, "a.txt", buffer.getvalue()))] == ["a.txt/a.docx", "a.txt/word/list.txt"]


@pytest.mark.fault("D7")
def test_binary_data_under_a_text_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="binary data"):
        read_one(tmp_path / "a.md", bytes(range(256)) * 10)


@pytest.mark.parametrize("name", ["a.txt", "a.json"])
def test_a_file_over_the_limit_is_refused_unread(tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("wb") as sparse:
        sparse.truncate(5_000_000_000)

    with pytest.raises(UnreadableError, match=r"larger than 256 MB.*RAG_INGEST__MAX_FILE_MB"):
        list(read_file(tmp_path / name, name, OPTIONS))


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.txt", b" \n\t\n", "holds no text"),
        ("a.txt.gz", gzip.compress(b" ", mtime=0), "holds no text"),
        ("a.html", b"<html><body><script>x()</script></body></html>", "no text"),
        ("a.txt", b"PK\x03\x04 and so on", "zip archive"),
        ("a.docx", b"PK\x03\x04 and so on", "no Word document"),
        ("a.doc", make_ole({"WordDocument": bytes(4096)}), r"old format \(\.doc\)"),
        ("a.docx", make_ole({"EncryptedPackage": bytes(4096)}), "encrypted"),
        ("a.doc", b"no document\0\1\2\3\4", "old Office format"),
        ("a.parquet", b"no parquet\0\1\2\3\4", "not a Parquet file"),
        ("a.docx", b"no zip\0\1\2\3\4", "no Word document"),
        ("a.txt.gz", gzip.compress(b"text " * 1000, mtime=0)[:-9], "damaged or cut short"),
        ("a.txt.gz", gzip.compress(bytes(1_000_000), mtime=0) * 300, "holds more than 256 MB"),
        ("a.txt.bz2", bz2.compress(bytes(5_000_000)) * 60, "holds more than 256 MB"),
        ("a.txt", b"word " * 300_000, r"'a.txt' is longer than 1,000,000 characters.*RAG_INGEST__MAX_DOCUMENT_CHARS"),
        ("a.txt", b"x" * 20_000_000, r"holds no words\..*20,000,000 characters"),
    ],
)
def test_bad_files_are_refused_with_the_reason(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    (refusal,) = read_all(tmp_path, name, data, OPTIONS)

    assert re.search(reason, str(refusal))


@pytest.mark.parametrize("name", ["wind_power.txt.gz", "wind_power.TXT.BZ2", "wind_power.txt"])
@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_compressed_text_is_read_under_any_name(tmp_path: Path, name: str, compress: Callable[[bytes], bytes]) -> None:
    document = read_one(tmp_path / name, compress("Größe".encode()))

    assert (document.doc_id, document.title, document.text) == (name, "wind power", "Größe")
    assert document.content_type == "plain text"


def test_compressed_records_are_streamed(tmp_path: Path) -> None:
    rows = gzip.compress(b'{"id":"a","text":"x"}\nbad\n{"id":"b","text":"y"}\n', mtime=0)
    found = read_all(tmp_path, "a.jsonl.gz", rows)

    assert [(one.doc_id, one.source) for one in documents(found).values()] == [("a", "a.jsonl.gz"), ("b", "a.jsonl.gz")]
    assert len(refusals(found)) == 1


def test_records_before_the_end_of_a_file_cut_short_are_kept(tmp_path: Path) -> None:
    lines = b"".join(b'{"id":"%d","text":"%s"}\n' % (n, os.urandom(500).hex(" ", 8).encode()) for n in range(1000))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines, mtime=0)[:-1000])
    items = read_file(tmp_path / "a.jsonl.gz", "a.jsonl.gz", OPTIONS)

    assert all(isinstance(item, Document) for item in islice(items, 500))
    with pytest.raises(UnreadableError, match="damaged or cut short"):
        list(items)


def test_the_limit_of_a_whole_file_holds_for_what_is_in_a_compressed_one(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="larger than 0 MB"):
        read_one(
            tmp_path / "b.txt.gz", gzip.compress(os.urandom(1000).hex().encode(), mtime=0), ReadOptions(1500, 10_000)
        )


def test_json_lines_under_the_name_of_json_are_streamed_as_such(tmp_path: Path) -> None:
    rows = gzip.compress(b'{"ClueWeb22-ID":"a","Clean-Text":"x"}\n{"ClueWeb22-ID":"b","Clean-Text":"y"}\n', mtime=0)
    found = read_all(tmp_path, "en0000-00.json.gz", rows, ReadOptions(max_bytes=5, max_chars=100))

    assert [*documents(found)] == ["a", "b"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_files_of_records_may_be_larger_than_the_limit_for_whole_files(tmp_path: Path, name: str) -> None:
    rows = {"a.jsonl": b'{"id":"a","text":"x"}\n{"id":"b","text":"y"}\n', "a.csv": b"id,text\na,x\nb,y\n"}

    assert len(documents(read_all(tmp_path, name, rows[name], ReadOptions(max_bytes=5, max_chars=100)))) == 2


@pytest.mark.fault("D7")
@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.csv", b"a,b\n1,2\n", "csv"),
        ("a.tsv", b"a\tb\n1\t2\n", "csv"),
        ("a.json", b'{"text": "x"}', "json"),
        ("a.md", b"x", "markdown"),
        ("a.md", b"<p align=center>\n\n# Heading", "markdown"),
        ("a.md", b"<!-- markdownlint-disable MD013 -->\n" * 32 + b"# Heading\n\nText.", "markdown"),
        *((f"a.{suffix}", make_pdf("From a PDF."), "pdf") for suffix in ("txt", "md", "html", "docx")),
        *((f"a.{suffix}", PAGE, "html") for suffix in ("txt", "md", "pdf")),
        ("a.docx", make_docx([("Normal", "x")]), "docx"),
        ("a.txt", make_docx([("Normal", "x")]), "docx"),
        ("a.xlsm", SHEET, "xlsx"),
        ("a.docx", SHEET, "xlsx"),
        ("a.txt", SHEET, "xlsx"),
        ("a.xlsx", make_xls([(0, 0, "x", 0)]), "xls"),
        ("a.pptx", make_pptx([shape("x")]), "pptx"),
        ("a.bin.txt", make_odf("text", "<text:p>x</text:p>"), "odt"),
        (
            "a.zip.md",
            make_odf("presentation", "<draw:page><draw:frame><text:p>x</text:p></draw:frame></draw:page>"),
            "odp",
        ),
        ("a.epub", make_epub({"a": "<p>x</p>"}, spine=["a"]), "epub"),
        ("a.doc", rb"{\rtf1 x}", "rtf"),
        ("a.doc", b"<html><body><p>x</p></body></html>", "html"),
        ("a.json.gz", gzip.compress(b'{"text": "x"}', mtime=0), "json"),
    ],
)
def test_a_document_tells_the_format_it_was_read_from(tmp_path: Path, name: str, data: bytes, kind: str) -> None:
    assert read_one(tmp_path / name, data).content_type == kind


def test_the_language_is_named_unless_the_document_names_it_itself(tmp_path: Path) -> None:
    text = "The quick brown fox jumps over the lazy dog, and then it sleeps in the sun for a while. " * 4

    assert read_one(tmp_path / "a.txt", text.encode()).metadata == {"language": "en"}
    assert read_one(tmp_path / "a.md", f"---\nlang: pt-BR\n---\n{text}".encode()).metadata["language"] == "pt"


def test_the_text_of_a_paper_is_known_by_its_name(tmp_path: Path) -> None:
    document = read_one(tmp_path / "5f6a1b2c3d4e5f6a1b2c3d4e.fig1.txt", b"Figure 1. A curve.\n\nReferences\n[1] X.")

    assert document.text == "Figure 1. A curve."
    assert document.metadata["cosmos_object_id"] == "fig1"


def test_every_text_is_a_paper_where_a_person_says_so(tmp_path: Path) -> None:
    papers = ReadOptions(OPTIONS.max_bytes, OPTIONS.max_chars, papers=True)

    assert read_one(tmp_path / "PMC7.txt", b"Text.", papers).metadata["paper_id"] == "PMC7"
    assert "paper_id" not in read_one(tmp_path / "PMC7.txt", b"Text.").metadata
    assert "paper_id" not in read_one(tmp_path / "PMC7.md", b"Text.", papers).metadata


def test_a_file_that_is_gone_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="cannot be opened: No such file or directory"):
        list(read_file(tmp_path / "gone.md", "gone.md", OPTIONS))


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.csv", "a.zip", "a.mbox", "a.warc", "a.json"])
@pytest.mark.parametrize("data", [b"", b"\n\n"])
def test_a_file_without_records_says_so(tmp_path: Path, name: str, data: bytes) -> None:
    (item,) = read_all(tmp_path, name, data, OPTIONS)

    assert isinstance(item, UnreadableError)
