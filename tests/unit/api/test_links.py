from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from api.links import Links, web_url
from tests.fakes.engines import a_citation

LINKS = Links("https://guide.example/treeline/", "energy")


def test_a_document_with_an_address_is_cited_by_it() -> None:
    assert LINKS.of(a_citation(url="https://wind.example/a?b=1")) == "https://wind.example/a?b=1"


def test_any_other_document_is_cited_by_its_page_here() -> None:
    link = LINKS.of(a_citation(doc_id="notes/wind & sun?#1.md", start=7))

    assert link.startswith("https://guide.example/treeline/documents/notes/wind%20%26%20sun%3F%231.md?")
    assert parse_qs(urlsplit(link).query) == {"corpus": ["energy"], "start": ["7"], "end": ["25"]}


@pytest.mark.fault("E8")
@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,hi",
        "file:///etc/passwd",
        "//elsewhere.example/x",
        "https://",
        "http://[::1",
        "https://a.example/\nx",
        " https://a.example",
    ],
)
def test_no_address_but_a_web_address_leaves_the_service(url: str) -> None:
    assert not web_url(url)
    assert LINKS.of(a_citation(url=url)).startswith("https://guide.example/treeline/documents/guide/wind.md?")


@pytest.mark.parametrize("doc_id", ["a//b", "../secret", "./a", "/abs", "https://x.example/a", "a/"])
def test_names_that_proxies_would_fold_are_encoded_whole(doc_id: str) -> None:
    path = urlsplit(LINKS.document(doc_id, 0, 1)).path.removeprefix("/treeline/documents/")

    assert "/" not in path
    assert unquote(path) == doc_id


def test_several_quotes_of_a_document_share_the_first_ones_address() -> None:
    citations = [a_citation(1, "a.md", start=5), a_citation(1, "a.md", start=90), a_citation(2, "b.md")]

    urls = LINKS.numbered(citations)

    assert list(urls) == [1, 2]
    assert "/a.md?corpus=energy&start=5" in urls[1]
    assert "/b.md?" in urls[2]
