"""Pages that come with a question are read as HTML and keep their address."""

import pytest

from ingestion.reading.pages import Page, read_pages
from settings import IngestSettings
from tests.fakes.library import OwnReader

BETZ = Page(
    "https://example.org/betz?lang=en",
    "<html><head><title>Betz</title><link rel='canonical' href='https://elsewhere.example/'></head>"
    "<body><p>Albert Betz published the limit.</p></body></html>",
)


def test_a_page_becomes_a_document_under_its_own_address() -> None:
    (document,), reasons = read_pages([BETZ], OwnReader(IngestSettings()))

    assert (document.doc_id, document.url, document.title) == (BETZ.url, BETZ.url, "Betz")
    assert "Albert Betz published the limit." in document.text
    assert reasons == []


def test_a_page_given_twice_is_read_once() -> None:
    documents, _ = read_pages([BETZ, Page(BETZ.url, BETZ.html)], OwnReader(IngestSettings()))

    assert len(documents) == 1


def test_an_empty_page_is_told_and_costs_no_other() -> None:
    documents, reasons = read_pages([Page("https://example.org/empty", ""), BETZ], OwnReader(IngestSettings()))

    assert [document.doc_id for document in documents] == [BETZ.url]
    assert [reason.partition(": ")[0] for reason in reasons] == ["https://example.org/empty"]


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "not an address"])
def test_an_address_that_is_no_web_address_becomes_no_link(url: str) -> None:
    html = "<html><body><p>Albert Betz published the limit.</p></body></html>"
    (document,), _ = read_pages([Page(url, html)], OwnReader(IngestSettings()))

    assert document.url is None


def test_half_a_surrogate_pair_in_a_page_costs_nothing_else() -> None:
    (document,), _ = read_pages(
        [Page(BETZ.url, BETZ.html.replace("Albert", "Albert \ud800"))], OwnReader(IngestSettings())
    )

    assert "Betz published the limit." in document.text
