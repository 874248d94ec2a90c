"""`POST /answer`: from the pages of the body alone, within limits."""

from typing import Any

import pytest

from api.schemas.requests import MAX_PAGES
from api.security.body_limit import MAX_BYTES_AT
from sources.given_pages import GivenPage
from tests.fakes.engines import a_citation, a_done
from tests.fakes.http import client_of
from tests.fakes.sources import FakePageAnswers

URL = "https://example.org/betz"
BODY: dict[str, Any] = {"question": "When?", "pages": [{"url": URL, "text": "In 1919."}]}


def given(**fields: Any) -> FakePageAnswers:
    return FakePageAnswers("given pages", **fields)


def posted(answers: FakePageAnswers, **body: Any) -> tuple[int, dict[str, Any]]:
    reply = client_of(given=answers).post("/answer", json={**BODY, **body})
    return reply.status_code, reply.json()


def test_the_reply_is_that_of_query_and_cites_the_page() -> None:
    answers = given(done=a_done(citations=(a_citation(url=URL),)))

    status, reply = posted(
        answers,
        pages=[{"url": URL, "html": "<p>In 1919.", "title": "Betz"}, {"url": URL, "text": "In 1919."}],
        query_time="03/13/2024, 09:30:59 PT",
        top_k=3,
    )

    assert status == 200
    assert reply["answer"] == "Wind turns blades. [1]"
    assert [citation["url"] for citation in reply["citations"]] == [URL]
    assert answers.pages == [GivenPage(URL, "Betz", "<p>In 1919.", None), GivenPage(URL, None, None, "In 1919.")]
    (inquiry,) = answers.inquiries
    assert (inquiry.text, inquiry.query_time, inquiry.top_k) == ("When?", "03/13/2024, 09:30:59 PT", 3)
    assert inquiry.deadline is not None


def test_no_pages_are_a_question_that_is_declined() -> None:
    assert posted(given(done=a_done(None)), pages=[])[1]["answer"] is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"pages": [{"url": "javascript:alert(1)", "text": "x"}]}, "it is not fetched"),
        ({"pages": [{"url": "file:///etc/passwd", "text": "x"}]}, "http or https"),
        ({"pages": [{"url": URL}]}, "either html or text"),
        ({"pages": [{"url": URL, "html": "x", "text": "x"}]}, "either html or text"),
        ({"pages": [{"url": URL, "text": "x", "fetch": True}]}, "unknown field"),
        ({"pages": [{"url": URL, "text": "x"}] * (MAX_PAGES + 1)}, f"at most {MAX_PAGES}"),
        ({"pages": None}, "list"),
        ({"question": " "}, "question"),
        ({"corpus": "default"}, "unknown field"),
    ],
)
def test_a_body_that_makes_no_sense_is_refused(change: dict[str, Any], told: str) -> None:
    answers = given()
    status, reply = posted(answers, **change)

    assert status == 422
    assert told in reply["error"]["detail"]
    assert not answers.inquiries


def test_pages_may_be_larger_than_other_bodies_but_not_50_mb() -> None:
    client = client_of(given=given())
    pages = [{"url": URL, "text": "x" * 2_000_000}]
    assert client.post("/answer", json={**BODY, "pages": pages}).status_code == 200

    too_large = client.post("/answer", content=b"x" * (MAX_BYTES_AT["/answer"] + 1))
    assert too_large.status_code == 413
    assert too_large.json() == {"error": {"code": "body_too_large", "detail": "The body is larger than 20 MB."}}
    small = client.post("/query", content=b"x" * 1_000_001)
    assert small.json() == {"error": {"code": "body_too_large", "detail": "The body is larger than 1 MB."}}
