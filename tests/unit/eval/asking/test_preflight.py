from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import pytest

from eval.asking.asking import FirstReplies
from eval.asking.http import look_at_service
from eval.asking.target import check_author, check_chunks
from eval.run_folder import Header
from tests.failing import failing
from tests.fakes.engines import FakeEngine
from tests.fakes.http import client_of
from tests.unit.eval.asking.fakes import a_case, a_header, a_row

HEALTH = {"status": "ok", "chroma": "ok", "llm_ready": True, "llm_reason": "No language model is used."}
STATS = {"total_chunks": 120, "corpus": "papers", "documents": 9, "leaves": 120, "model": "minilm", "state": "5"}
READY = {"ready": True, "synthesizer": "openai", "versions": {"treeline": "1"}}


async def look(
    replies: dict[str, tuple[int, Any]] | None = None, *, corpus: str | None = None, require_llm: bool = False
) -> tuple[Header, Sequence[str]]:
    known = {"/health": (200, HEALTH), "/stats": (200, STATS), "/ready": (200, READY), **(replies or {})}

    def handle(request: httpx.Request) -> httpx.Response:
        status, body = known[request.url.path]
        if request.url.path == "/stats":
            assert request.url.params.get("corpus") == corpus
        return httpx.Response(status, json=body)

    async with httpx.AsyncClient(base_url="http://service", transport=httpx.MockTransport(handle)) as client:
        return await look_at_service(client, a_header(), corpus, require_llm=require_llm)


async def test_what_our_service_tells_is_kept() -> None:
    header, warnings = await look(corpus="papers", require_llm=True)

    assert (header.target, header.corpus, warnings) == ("t", "papers", [])
    assert header.settings["index"]["leaves"] == 120
    assert header.settings["llm"] == {"provider": "openai"}
    assert header.versions == {"treeline": "1"}


async def test_the_real_routes_tell_it() -> None:
    http = client_of(FakeEngine())

    def handle(request: httpx.Request) -> httpx.Response:
        reply = http.get(request.url.raw_path.decode())
        return httpx.Response(reply.status_code, content=reply.content)

    async with httpx.AsyncClient(base_url="http://service", transport=httpx.MockTransport(handle)) as client:
        with failing("preflight", match="The corpus 'default' is empty"):
            await look_at_service(client, a_header(), None, require_llm=False)
        with failing("preflight", match=r"http://service refuses: There is no corpus 'papers'\. Known corpora"):
            await look_at_service(client, a_header(), "papers", require_llm=False)


async def test_a_reply_that_breaks_off_is_not_that_of_a_strangers_service() -> None:
    async def part() -> AsyncIterator[bytes]:
        yield b'{"llm_ready": '
        raise httpx.ReadError("Connection reset by peer")

    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=part()))
    async with httpx.AsyncClient(base_url="http://service", transport=transport) as client:
        with failing("preflight", match="Nothing answers at http://service: ReadError: Connection reset"):
            await look_at_service(client, a_header(), None, require_llm=False)


@pytest.mark.parametrize("health", [(404, {"detail": "Not Found"}), (200, {"status": "ok"}), (405, {})])
async def test_a_strangers_service_is_taken_as_it_is_with_a_warning(health: tuple[int, Any]) -> None:
    header, warnings = await look({"/health": health}, corpus="papers")

    assert (header.corpus, header.settings, header.versions) == ("papers", {}, {})
    assert "only its replies can be judged" in warnings[0]


async def test_a_service_that_is_broken_is_not_asked() -> None:
    with failing("preflight", match="http://service/health replies with status 502"):
        await look({"/health": (502, {})})


async def test_a_corpus_that_cannot_be_opened_stops_the_run() -> None:
    damaged = {"error": {"code": "index_damaged", "detail": "The index is damaged."}}

    with failing("preflight", match=r"refuses: The index is damaged\."):
        await look({"/stats": (503, damaged)})


async def test_another_corpus_may_be_damaged() -> None:
    header, _ = await look({"/ready": (503, {**READY, "ready": False})}, corpus=None)

    assert header.versions == {"treeline": "1"}


async def test_a_language_model_that_is_down_is_a_warning() -> None:
    _, warnings = await look({"/health": (200, {**HEALTH, "llm_ready": False, "llm_reason": "It is down."})})

    assert warnings == ["The language model did not write when it was last asked: It is down."]


@pytest.mark.promise("E25")
async def test_where_a_model_has_to_write_one_has_to_be_set() -> None:
    with failing("preflight", match="no language model is set"):
        await look({"/ready": (200, {**READY, "synthesizer": "extractive"})}, require_llm=True)
    with failing("preflight", match="no language model is set"):
        check_author("extractive")


@pytest.mark.promise("E25")
def test_a_corpus_must_hold_something_and_should_hold_more() -> None:
    with failing("preflight", match=r"'x' is empty.*python -m ingestion PATH --corpus x"):
        check_chunks("x", 0)
    assert check_chunks("x", 49) == ["The corpus 'x' holds 49 chunks, fewer than 50: is it whole?"]
    assert check_chunks("x", 50) == []


@pytest.mark.promise("E25")
def test_five_abstentions_at_the_beginning_are_told_once() -> None:
    first = FirstReplies()

    told = [first.add(a_case(), a_row(outcome="declined")) for _ in range(9)]

    assert [place for place, warning in enumerate(told) if warning] == [4]
    assert "The first 5 questions were all declined" in told[4][0]


def test_one_answer_among_the_first_is_enough_and_others_do_not_count() -> None:
    first = FirstReplies()

    assert not any(first.add(a_case(answer=None), a_row(outcome="declined")) for _ in range(9))
    assert not any(first.add(a_case(), a_row(outcome="failed")) for _ in range(9))
    rows = [a_row(outcome=outcome) for outcome in ["declined", "declined", "answered", *["declined"] * 9]]
    assert not any(first.add(a_case(), row) for row in rows)


def test_quotes_in_place_of_the_model_that_is_set_are_told_once() -> None:
    first, quoted = FirstReplies("openai"), a_row(synthesizer="extractive", warnings=("llm_failed: It is down.",))

    assert first.add(a_case(), a_row(outcome="declined")) == []
    (warning,) = first.add(a_case(), quoted)
    assert warning.startswith("The first answer is quotes, not written by 'openai'. llm_failed: It is down.")
    assert first.add(a_case(), quoted) == []
    assert FirstReplies("extractive").add(a_case(), quoted) == []
    assert FirstReplies().add(a_case(), quoted) == []


def test_a_first_answer_by_the_model_is_no_reason_to_warn() -> None:
    first = FirstReplies("openai")

    assert first.add(a_case(), a_row(synthesizer="openai")) == []
    assert first.add(a_case(), a_row(synthesizer="extractive")) == []
