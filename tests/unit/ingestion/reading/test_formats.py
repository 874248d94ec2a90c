"""Which reader a file gets, by suffix and by content."""

from pathlib import Path

import pytest

from errors import UnreadableError
from index.documents import Document
from ingestion.reading.formats import read_file
from ingestion.reading.limits import Limits
from tests.fakes.pdfs import make_pdf

LIMITS = Limits(max_bytes=256_000_000, max_chars=1_000_000)
PAGE = b"\n<!-- saved -->\n<!DOCTYPE html><html><head><title>A page</title></head><body><p>Some text.</p></body></html>"


def read_one(path: Path, data: bytes, limits: Limits = LIMITS) -> Document:
    path.write_bytes(data)
    (item,) = read_file(path, path.name, limits)
    assert isinstance(item, Document)
    return item


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


@pytest.mark.parametrize("suffix", ["txt", "md", "html"])
def test_a_pdf_under_another_name_is_read_as_pdf(tmp_path: Path, suffix: str) -> None:
    assert read_one(tmp_path / f"a.{suffix}", make_pdf("From a PDF.")).pages == (0,)


@pytest.mark.parametrize("suffix", ["txt", "md", "pdf"])
def test_a_web_page_under_another_name_is_read_as_one(tmp_path: Path, suffix: str) -> None:
    assert read_one(tmp_path / f"a.{suffix}", PAGE).title == "A page"


def test_markdown_that_begins_with_a_tag_stays_markdown(tmp_path: Path) -> None:
    assert read_one(tmp_path / "a.md", b"<p align=center>\n\n# Heading").title == "Heading"


def test_binary_data_under_a_text_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="binary data"):
        read_one(tmp_path / "a.md", bytes(range(256)) * 10)


@pytest.mark.parametrize("name", ["a.txt", "a.json"])
def test_a_file_over_the_limit_is_refused_unread(tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("wb") as sparse:
        sparse.truncate(5_000_000_000)

    with pytest.raises(UnreadableError, match=r"larger than 256 MB.*RAG_INGEST__MAX_FILE_MB"):
        list(read_file(tmp_path / name, name, LIMITS))


def test_a_file_that_is_gone_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="cannot be opened: No such file or directory"):
        list(read_file(tmp_path / "gone.md", "gone.md", LIMITS))
