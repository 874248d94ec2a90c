import re
from dataclasses import replace
from urllib.parse import urljoin, urlsplit

import httpx2
import pytest

from api.links import Links
from index.documents.span_tree import NO_PARENT, Span, SpanTree
from index.documents.store import Document, StoredDocument
from tests.fakes.engines import FakeEngine
from tests.fakes.http import client_of

TEXT = "Wind & weather.\nWind turns blades.\nThe end."
DOCUMENT = StoredDocument(
    doc_id="guide/wind & more.md",
    title="Wind <power>",
    text=TEXT,
    pages=(0, 16),
    metadata={"year": 2024},
    version="0a1b2c",
)
HTML = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


def get(path: str, headers: dict[str, str] | None = None, document: StoredDocument = DOCUMENT) -> httpx2.Response:
    return client_of(FakeEngine(documents=[document])).get(path, headers=headers)


def cited(start: int, end: int) -> str:
    link = urlsplit(Links("http://testserver", "default").document(DOCUMENT.doc_id, start, end))
    return f"{link.path}?{link.query}"


def test_a_program_gets_the_document_with_the_cited_span() -> None:
    assert get(cited(16, 34)).json() == {
        "corpus": "default",
        "doc_id": "guide/wind & more.md",
        "title": "Wind <power>",
        "url": None,
        "pages": [0, 16],
        "metadata": {"year": 2024},
        "ocr": None,
        "original": None,
        "span": {"start": 16, "end": 34, "pages": [1], "quote": "Wind turns blades."},
        "notice": None,
        "text": TEXT,
        "content_type": "",
    }


def test_a_program_gets_the_tree_if_it_asks_for_it() -> None:
    tree = SpanTree([Span(0, 0, 44, NO_PARENT), Span(1, 0, 44, 0), Span(2, 0, 16, 1), Span(2, 16, 44, 1)])
    found = get("/documents/x?nodes=true", document=StoredDocument.of(Document("x", "x", TEXT), "0a1b2c", tree)).json()

    assert found["nodes"] == [[0, 0, 44, -1], [1, 0, 44, 0], [2, 0, 16, 1], [2, 16, 44, 1]]
    assert {block["kind"] for block in found["blocks"]} == {"paragraph"}
    assert [TEXT[block["start"] : block["end"]] for block in found["blocks"]] == TEXT.splitlines(keepends=True)


def test_a_browser_gets_a_page_with_the_cited_span_marked() -> None:
    page = get(cited(16, 34), HTML)

    assert page.headers["content-type"].startswith("text/html")
    assert '<mark id="cited">Wind turns blades.</mark>' in page.text
    assert "page 2" in page.text
    assert "Wind &amp; weather.\n<mark" in page.text


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("text/html", "text/html"),
        ("text/html, application/json", "text/html"),
        ("*/*", "application/json"),
        ("application/json", "application/json"),
        ("application/json, text/html;q=0.5", "application/json"),
        ("text/html;q=nonsense", "application/json"),
    ],
)
def test_the_accept_header_chooses_the_form(accept: str, form: str) -> None:
    reply = get(cited(16, 34), {"accept": accept})

    assert reply.headers["content-type"].startswith(form)
    assert reply.headers["vary"] == "Accept"


@pytest.mark.parametrize("span", [(34, 16), (16, 16), (0, len(TEXT) + 1)], ids=["reversed", "empty", "past the end"])
def test_a_span_outside_the_text_is_reported_and_the_document_shown(span: tuple[int, int]) -> None:
    reply = get(cited(*span)).json()

    assert reply["span"] is None
    assert "may have changed" in reply["notice"]
    assert "may have changed" in get(cited(*span), HTML).text


def test_without_a_span_the_whole_document_is_shown() -> None:
    page = get("/documents/guide/wind%20%26%20more.md", HTML)

    assert page.status_code == 200
    assert "<mark" not in page.text
    assert "may have changed" not in page.text


@pytest.mark.parametrize(
    "path",
    ["/documents/none", "/documents/%00", "/documents/%ff", "/documents/..%2f..%2fetc%2fpasswd", "/documents/"],
)
def test_an_unknown_document_is_a_404_with_a_remedy(path: str) -> None:
    reply = get(path)

    assert reply.status_code == 404
    assert reply.json()["error"]["code"] == "unknown_document"
    assert "POST /retrieve" in reply.json()["error"]["detail"]


@pytest.mark.parametrize("query", ["start=x", "end=-1", "end=1e3", "corpus=../up", "end=" + "9" * 30])
def test_a_bad_query_is_refused_with_its_field(query: str) -> None:
    reply = get(f"/documents/guide/wind%20%26%20more.md?{query}")

    assert reply.status_code == 422
    assert reply.json()["error"]["field"] == query.partition("=")[0]


HOSTILE = [
    "<script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}{% raw %}",
    "<svg onload=alert(1)>",
    "&lt;script&gt;",
]


@pytest.mark.fault("E8")
@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_in_a_document_becomes_markup(hostile: str) -> None:
    document = StoredDocument("x.md", hostile, f"{hostile} text", metadata={hostile: hostile}, version="0a")

    head, page = get(f"/documents/x.md?end={len(hostile)}", HTML, document).text.split("<main")

    assert re.findall(r"<script[^>]*>", head) == ['<script type="module" src="../ui/static/document.js">']
    assert head.count("</style>") == 1
    assert not re.search(r"<(script|img|svg)", page)
    assert "49" not in page
    assert page.count("<mark") == 1


@pytest.mark.fault("E8")
@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x"])
def test_only_web_addresses_become_links(url: str) -> None:
    document = StoredDocument("x.md", "X", "text", url=url, version="0a")

    assert url not in get("/documents/x.md", HTML, document).text
    assert get("/documents/x.md", None, document).json()["url"] is None


@pytest.mark.parametrize(("kind", "rendered"), [("markdown", True), ("docx", True), ("pdf", False), ("", False)])
def test_only_text_that_is_markdown_is_rendered_as_such(kind: str, *, rendered: bool) -> None:
    document = StoredDocument("x.md", "X", "text", version="0a", content_type=kind)

    assert ("data-markdown" in get("/documents/x.md", HTML, document).text) is rendered


@pytest.mark.parametrize(
    "path", ["/documents/a.md", "/documents/a/b/c.md", "/documents/a%2Fb", "/none", "/documents/x?end=-1"]
)
def test_pages_find_their_files_from_every_address(path: str) -> None:
    documents = [
        StoredDocument(name, "X", "text", version=f"0{place}") for place, name in enumerate(("a.md", "a/b/c.md", "a/b"))
    ]
    reply = client_of(FakeEngine(documents=documents)).get(path, headers=HTML)

    for address in re.findall(r'(?:href|src)="([^"]*ui[^"]*)"', reply.text):
        assert urljoin(f"http://testserver{path}", address).startswith("http://testserver/ui")
    assert 'href="' in reply.text


def test_an_error_page_says_which_field_is_wrong() -> None:
    page = get("/documents/x.md?end=-1", HTML)

    assert page.status_code == 422
    assert "<code>end</code>: Input should be greater" in page.text
    assert "422 Unprocessable" in page.text
    assert "<script" not in page.text


def test_the_page_may_run_only_our_modules_and_be_framed_by_nobody() -> None:
    page = get(cited(16, 34), HTML)
    policy = page.headers["content-security-policy"]

    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-inline" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"


def test_what_is_attached_to_a_mail_of_a_mailbox_has_a_page_of_its_own() -> None:
    attached = replace(DOCUMENT, doc_id="box.mbox#000003/a b.pdf", metadata={"attached_to": "box.mbox#000003"})
    link = urlsplit(Links("http://testserver", "default").document(attached.doc_id, 16, 34))

    reply = get(f"{link.path}?{link.query}", document=attached).json()

    assert (reply["doc_id"], reply["metadata"]["attached_to"]) == (attached.doc_id, "box.mbox#000003")
    assert reply["span"]["quote"] == "Wind turns blades."


def test_pages_that_ocr_read_are_named() -> None:
    scanned = replace(DOCUMENT, metadata={"ocr_pages": "2", "ocr_confidence": 0.91})

    assert get(cited(16, 34), document=scanned).json()["ocr"] == {"pages": [2], "confidence": 0.91}
    assert 'data-text="byOcr"' in get(cited(16, 34), HTML, scanned).text
    assert 'data-text="byOcr"' not in get(cited(16, 34), HTML).text
