import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest

from eval.asking.http import HttpTarget, retry_after_s
from eval.asking.target import NoReplyError
from eval.cases import Case, Region
from eval.rows import Row
from tests.unit.eval.asking.fakes import a_case


async def ask(handler: Callable[[httpx.Request], httpx.Response], case: Case | None = None, **wanted: Any) -> Row:
    async with httpx.AsyncClient(base_url="http://service", transport=httpx.MockTransport(handler)) as client:
        return await HttpTarget(client, **wanted).ask(case or a_case())


def replying(status: int, body: Any, **headers: str) -> Callable[[httpx.Request], httpx.Response]:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda _: httpx.Response(status, content=content, headers=headers)


async def test_the_question_goes_as_the_competition_wants_it_with_what_else_is_given() -> None:
    sent: list[Any] = []

    def note(request: httpx.Request) -> httpx.Response:
        sent.append((str(request.url), json.loads(request.content)))
        return httpx.Response(200, json={"query_id": "q1", "generated_response": "So."})

    row = await ask(note)
    await ask(note, corpus="papers", filters={"filters": []})
    await ask(note, a_case(query_time="03/10/2024, 23:19:21 PT"))

    assert row.answer == "So."
    assert row.seconds > 0
    plain = {"query": "What is q1?", "iid": "q1"}
    assert sent == [
        ("http://service/evaluate", plain),
        ("http://service/evaluate", {**plain, "corpus": "papers", "filters": {"filters": []}}),
        ("http://service/evaluate", {**plain, "query_time": "03/10/2024, 23:19:21 PT"}),
    ]


@pytest.mark.parametrize(
    ("status", "refused", "lasting"),
    [
        (500, False, False),
        (503, False, False),
        (429, False, False),
        (408, False, False),
        (422, True, True),
        (413, True, True),
        (404, False, True),
        (302, False, True),
    ],
)
async def test_a_status_tells_whether_to_ask_again(status: int, refused: bool, lasting: bool) -> None:
    with pytest.raises(NoReplyError, match=rf"status {status}: It is so\.") as caught:
        await ask(replying(status, {"error": {"code": "x", "detail": "It is so."}}))

    assert (caught.value.refused, caught.value.lasting) == (refused, lasting)


async def test_a_busy_service_says_when_to_come_back() -> None:
    with pytest.raises(NoReplyError) as caught:
        await ask(replying(429, b"busy", **{"Retry-After": "7"}))

    assert caught.value.retry_after_s == 7
    assert "busy" in str(caught.value)


async def test_a_connection_that_breaks_is_worth_another_call() -> None:
    def broken(_: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("Connection reset by peer")

    with pytest.raises(NoReplyError, match=r"cannot be reached.*ReadError: Connection reset by peer") as caught:
        await ask(broken)

    assert not caught.value.lasting


async def test_an_abstention_because_the_time_was_over_is_no_reply() -> None:
    late = {"answered": False, "warnings": ["out_of_time: The time was over."]}

    with pytest.raises(NoReplyError, match=r"The time was over\. Raise RAG_ANSWER__DEADLINE_S"):
        await ask(replying(200, {"query_id": "q1", "generated_response": "I don't know: too late.", **late}))


@pytest.mark.parametrize(("value", "seconds"), [("", 0), ("3", 3), ("soon", 0), ("-1", 0)])
def test_a_wait_in_seconds(value: str, seconds: float) -> None:
    assert retry_after_s(value) == seconds


def test_a_wait_until_a_date() -> None:
    now = datetime.now(UTC)

    assert 50 < retry_after_s(format_datetime(now + timedelta(minutes=1))) < 61
    assert retry_after_s(format_datetime(now - timedelta(minutes=1))) == 0


@pytest.mark.parametrize(
    ("shown", "confirmed"),
    [
        ({"text": f"{'Vindeby':90}Taken down in 2017."}, (0,)),
        ({"text": f"{'Vindeby':90}Taken down in 2016."}, ()),
        ({"text": "Vindeby"}, ()),
        ({"text": None}, ()),
        (None, ()),
    ],
    ids=["holds the quote", "another text", "no such place", "no text", "shows no documents"],
)
async def test_a_quote_that_no_passage_holds_is_looked_up_in_its_document(
    shown: Any, confirmed: tuple[int, ...]
) -> None:
    seen = []

    def reply(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/evaluate":
            quotes = [
                {"number": 1, "doc_id": "a b/v.txt", "start": 90, "end": 109, "quote": "Taken down in 2017."},
                {"number": 2, "doc_id": "a b/v.txt", "start": 0, "end": 7, "quote": "Vindeby"},
            ]
            source = {"doc_id": "a b/v.txt", "start": 0, "end": 7}
            extras = {"citations": quotes, "contexts": ["Vindeby"], "context_sources": [source]}
            return httpx.Response(200, json={"query_id": "q1", "generated_response": "So. [1]", **extras})
        seen.append((request.url.path, dict(request.url.params)))
        return httpx.Response(404) if shown is None else httpx.Response(200, json=shown)

    row = await ask(reply, corpus="papers")

    assert row.confirmed == confirmed
    assert seen == [("/documents/a b/v.txt", {"corpus": "papers"})]


@pytest.mark.parametrize(
    ("shown", "region", "on_topic"),
    [
        ({"text": "Sea. The sun dries it, by hand. Tea."}, {}, (0, 1)),
        ({"text": "Sea."}, {}, "a region of salt.md is not in the document as it was read"),
        (None, {}, "the service does not show the documents that it cites"),
        (None, {"text": "The sun dries it, by hand."}, (0, 1)),
    ],
    ids=["its documents are read", "another text", "shows no documents", "the region has its text"],
)
async def test_quotes_are_placed_in_the_regions_of_the_documents_that_the_service_shows(
    shown: Any, region: dict[str, str], on_topic: object
) -> None:
    seen = []

    def reply(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/evaluate":
            said = [("guides/salt.md", "the sun dries"), ("guides/salt.md", "By hand"), ("tea.md", "The sun dries it")]
            quotes = [{"number": n, "doc_id": doc, "quote": text} for n, (doc, text) in enumerate(said, start=1)]
            return httpx.Response(200, json={"query_id": "q1", "generated_response": "So.", "citations": quotes})
        seen.append(request.url.path)
        return httpx.Response(404) if shown is None else httpx.Response(200, json=shown)

    topic = Region.model_validate({"doc": "salt.md", "quote_start": "The sun", "quote_end": "hand.", **region})
    row = await ask(reply, a_case(regions=(topic,)))

    assert row.on_topic == on_topic
    assert seen == ([] if region else ["/documents/guides/salt.md"])
