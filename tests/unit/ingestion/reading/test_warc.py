"""Web archives: pages with their addresses."""

import gzip
import zlib
from pathlib import Path

import pytest

from index.documents.store import Document
from ingestion.reading.options import ReadOptions
from tests.fakes.pdfs import make_pdf
from tests.fakes.readings import Items, documents, read_all, refusals, reports

PAGE = "<html><head><title>Größe</title></head><body><p>Words of a page, enough of them.</p></body></html>"


def record(
    kind: str, block: bytes, url: str = "https://example.org/a?b=1#c", content_type: str = "application/http"
) -> bytes:
    head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nContent-Type: {content_type}\r\n"
    return f"{head}Content-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"


def answer(body: bytes, content_type: str = "text/html", status: str = "200 OK", **headers: str) -> bytes:
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\n{more}\r\n".encode() + body


def read(folder: Path, *records: bytes, name: str = "a.warc") -> Items:
    return read_all(folder, name, b"".join(records), ReadOptions(max_bytes=2_000_000, max_chars=1_000_000))


def only(folder: Path, *records: bytes) -> Document:
    """Return the only page."""
    (page,) = documents(read(folder, *records)).values()
    return page


def test_a_page_is_a_document_with_its_address(tmp_path: Path) -> None:
    info = record("warcinfo", b"software: x", content_type="application/warc-fields")
    page = only(tmp_path, info, record("request", b"GET / HTTP/1.1"), record("response", answer(PAGE.encode())))

    assert (page.doc_id, page.title, page.content_type) == ("a.warc#000003", "Größe", "html")
    assert (page.url, page.source) == ("https://example.org/a?b=1#c", "a.warc")
    assert "Words of a page" in page.text


def test_compressed_archives_are_read_record_by_record(tmp_path: Path) -> None:
    pages = [gzip.compress(record("response", answer(PAGE.encode()))) for _ in range(3)]

    assert len(read(tmp_path, *pages, name="a.warc.gz")) == 3


def chunked(data: bytes) -> bytes:
    return (
        b"".join(b"%x\r\n%s\r\n" % (len(data[n : n + 7]), data[n : n + 7]) for n in range(0, len(data), 7))
        + b"0\r\n\r\n"
    )


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (gzip.compress(PAGE.encode()), {"Content_Encoding": "gzip"}),
        (zlib.compress(PAGE.encode()), {"Content_Encoding": "deflate"}),
        (chunked(PAGE.encode()), {"Transfer_Encoding": "chunked"}),
        (chunked(gzip.compress(PAGE.encode())), {"Transfer_Encoding": "chunked", "Content_Encoding": "gzip"}),
        (PAGE.encode(), {"Transfer_Encoding": "chunked", "Content_Encoding": "gzip"}),  # undone, and still said
    ],
)
def test_how_a_page_was_transferred_is_undone(tmp_path: Path, body: bytes, headers: dict[str, str]) -> None:
    assert only(tmp_path, record("response", answer(body, **headers))).title == "Größe"


def test_the_server_s_word_on_the_encoding_counts(tmp_path: Path) -> None:
    page = PAGE.encode("koi8-u", "ignore").replace(b"Gr", "Ширина".encode("koi8-u"))

    assert only(tmp_path, record("response", answer(page, "text/html; charset=koi8-u"))).title.startswith("Ширина")


def test_other_formats_are_read_by_their_readers_and_the_rest_is_counted(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        record("response", answer(make_pdf("From a PDF."), "application/pdf"), "https://example.org/download.php"),
        record("conversion", b"Plain words.", content_type="text/plain"),
        record("response", answer(b"x", "image/png")),
        record("response", answer(PAGE.encode(), status="404 Not Found")),
    )

    assert [item.content_type for item in documents(found).values()] == ["pdf", "plain text"]
    assert "image/png" in reports(found)


def test_a_page_that_cannot_be_read_costs_itself_only(tmp_path: Path) -> None:
    found = read(tmp_path, record("response", answer(b"<html></html>")), record("response", answer(PAGE.encode())))

    assert [bad.doc_id for bad in refusals(found)] == ["a.warc#000001"]
    assert list(documents(found)) == ["a.warc#000002"]


def test_a_page_that_unpacks_to_a_mountain_is_left_out(tmp_path: Path) -> None:
    bomb = gzip.compress(bytes(50_000_000))

    found = read(tmp_path, record("response", answer(bomb, Content_Encoding="gzip")))

    assert not documents(found)
    assert "unpacks to too much" in reports(found)


def test_an_archive_cut_short_is_reported_after_what_it_holds(tmp_path: Path) -> None:
    found = read(tmp_path, (record("response", answer(PAGE.encode())) * 2)[:-60])

    assert len(documents(found)) == 1
    assert "cut short" in str(*refusals(found))


def test_what_is_no_web_archive_is_refused(tmp_path: Path) -> None:
    assert "not a web archive" in str(*refusals(read(tmp_path, b"Words.\n")))
