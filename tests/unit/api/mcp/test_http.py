"""`/mcp` by the SDK's own client, of today's and of earlier versions of the protocol, and by LlamaIndex's."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from api.security.keyring import add_key
from index.documents.span_tree import SpanTree
from index.documents.store import StoredDocument
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Step, Token, Unsupported
from tests.fakes import http
from tests.fakes.engines import FakeEngine, a_citation, a_done, a_nearest, a_passage

URL = "http://127.0.0.1:8000"
ERAS = ["auto", "legacy"]
ANSWER = (Step("search", "**Searching**"), Step("found", "**Found**"), Token("Wind "), a_done())


def app_of(*engines: FakeEngine, **groups: Any) -> Any:
    """Return a service's application, which has no other name than this machine's."""
    return http.client_of(*engines, **groups).app


@asynccontextmanager
async def client_of(app: FastAPI, era: str = "auto", **headers: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), headers=headers) as connection,
        Client(streamable_http_client(f"{URL}/mcp", http_client=connection), mode=era) as client,
    ):
        yield client


async def called(app: FastAPI, tool: str, arguments: dict[str, Any], era: str = "auto") -> dict[str, Any]:
    """Return what a tool returned, the same as structure and as text."""
    async with client_of(app, era) as client:
        result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    (content,) = result.content
    assert content.type == "text"
    structured: dict[str, Any] = result.structured_content
    assert json.loads(content.text) == structured
    return structured


async def refusal(app: FastAPI, tool: str, arguments: dict[str, Any]) -> str:
    async with client_of(app) as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    (content,) = result.content
    assert content.type == "text"
    return content.text


def a_document(
    doc_id: str = "guide/wind.md", text: str = "x" * 10 + "Wind turns blades.", **fields: Any
) -> StoredDocument:
    return StoredDocument(doc_id=doc_id, title="Wind", text=text, version="0a1b2c", tree=SpanTree([]), **fields)


@pytest.mark.parametrize("era", ERAS)
async def test_every_tool_says_what_it_takes_and_returns(era: str) -> None:
    async with client_of(app_of(FakeEngine()), era) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}

    assert list(tools) == ["search", "fetch", "ask", "list_corpora"]
    assert tools["search"].input_schema["required"] == ["query"]
    assert tools["fetch"].input_schema["required"] == ["id"]
    assert set(tools["ask"].input_schema["properties"]) == {"question", "corpus", "writer"}
    for tool in tools.values():
        assert tool.description
        assert tool.annotations
        assert tool.annotations.read_only_hint
        assert tool.output_schema
        assert tool.output_schema["type"] == "object"


@pytest.mark.parametrize("era", ERAS)
async def test_a_search_returns_what_connectors_expect(era: str) -> None:
    engine = FakeEngine()
    engine.found = (a_passage(), a_passage("sea.html", url="https://example.org/sea"))

    found = await called(app_of(engine), "search", {"query": "  What turns?\n"}, era)

    assert found == {
        "results": [
            {
                "id": "default:guide/wind.md#10-28",
                "title": "Wind",
                "url": f"{URL}/documents/guide/wind.md?corpus=default&start=10&end=28#cited",
                "text": "Wind turns blades.",
            },
            {
                "id": "default:sea.html#10-28",
                "title": "Wind",
                "url": "https://example.org/sea",
                "text": "Wind turns blades.",
            },
        ]
    }
    assert engine.questions == ["What turns?"]


async def test_a_search_brings_no_more_text_than_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.mcp.tools.MAX_CHARS", 1000)
    engine = FakeEngine()

    await called(app_of(engine), "search", {"query": "What turns?"})

    assert engine.options[0].budget_chars == 1000


async def test_the_id_of_a_result_fetches_its_document() -> None:
    app = app_of(FakeEngine(documents=[a_document(metadata={"year": 1919})]))

    found = await called(app, "fetch", {"id": "default:guide/wind.md#10-28"})

    assert found == {
        "id": "default:guide/wind.md#10-28",
        "title": "Wind",
        "text": "x" * 10 + "Wind turns blades.",
        "url": f"{URL}/documents/guide/wind.md?corpus=default&start=10&end=28#cited",
        "metadata": {
            "year": 1919,
            "treeline": {
                "corpus": "default",
                "doc_id": "guide/wind.md",
                "start": 0,
                "end": 28,
                "chars": 28,
                "truncated": False,
            },
        },
    }


@pytest.mark.parametrize(
    ("span", "window"),
    [
        ("#0-5", (0, 1000)),
        ("#5000-5010", (4505, 5505)),
        ("#9990-9999", (9000, 10_000)),
        ("", (0, 1000)),
        ("#9999-99999", (0, 1000)),
    ],
)
async def test_of_a_long_document_the_part_around_the_passage_is_fetched(
    span: str, window: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.mcp.tools.MAX_CHARS", 1000)
    text = "".join(f"{number:010}" for number in range(1000))
    app = app_of(FakeEngine(documents=[a_document("long.txt", text)]))

    found = await called(app, "fetch", {"id": f"default:long.txt{span}"})

    start, end = window
    about = found["metadata"]["treeline"]
    assert (about["start"], about["end"], about["chars"], about["truncated"]) == (start, end, 10_000, True)
    assert found["text"] == text[start:end]


async def test_a_document_whose_own_name_ends_like_a_span_is_fetched() -> None:
    app = app_of(FakeEngine(documents=[a_document("page#1-2", "The whole.")]))

    assert (await called(app, "fetch", {"id": "default:page#1-2"}))["text"] == "The whole."
    assert (await called(app, "fetch", {"id": "default:page#1-2#4-9"}))["text"] == "The whole."


@pytest.mark.parametrize("id_", ["default:none.md", "default:none.md#1-2", "none", "", ":", "DEFAULT:x", "../x:y"])
async def test_an_id_that_leads_nowhere_is_told_with_a_remedy(id_: str) -> None:
    told = await refusal(app_of(FakeEngine()), "fetch", {"id": id_})

    assert "There is no document with this id. Take an id from the results of `search` or `ask`" in told


@pytest.mark.promise("G22")
@pytest.mark.parametrize("era", ERAS)
async def test_an_answer_comes_with_numbered_citations_and_its_steps_as_progress(era: str, tmp_path: Path) -> None:
    app = app_of(FakeEngine(ANSWER), feedback={"enabled": True}, index={"dir": tmp_path})
    told: list[tuple[float, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001  # the SDK's
        told.append((progress, message))

    async with client_of(app, era) as client:
        result = await client.call_tool("ask", {"question": "What turns?"}, progress_callback=note)

    app.state.service.recorder.close()
    found = result.structured_content
    answer_id = found.pop("answer_id")
    assert found == {
        "answer": "Wind turns blades. [1]",
        "message": "Wind turns blades. [1]",
        "citations": [
            {
                "number": 1,
                "id": "default:guide/wind.md#10-28",
                "title": "Wind",
                "url": f"{URL}/documents/guide/wind.md?corpus=default&start=10&end=28#cited",
                "text": "Wind turns blades.",
            }
        ],
        "closest": [],
        "unsupported": [],
        "warnings": [],
        "corpus": "default",
    }
    assert told == [(1, "**Searching**"), (2, "**Found**")]
    assert len(answer_id) == 32


async def test_a_declined_question_says_why_and_where_to_look() -> None:
    script = [a_done(None, nearest=(a_nearest(url="https://example.org/w"),), warnings=(AnswerWarning("x", "Y."),))]

    found = await called(app_of(FakeEngine(script)), "ask", {"question": "What turns?"})

    assert found["answer"] is None
    assert found["message"].startswith("I don't know.")
    assert found["closest"][0]["url"] == "https://example.org/w"
    assert found["warnings"] == ["x: Y."]


async def test_what_no_source_holds_is_named() -> None:
    done = replace(a_done("Port 8443. [1]"), unsupported=(Unsupported(5, 9, "8443"),))

    found = await called(app_of(FakeEngine([done])), "ask", {"question": "Which port?"})

    assert found["unsupported"] == ["8443"]


async def test_a_named_corpus_is_asked_and_an_unknown_one_told() -> None:
    energy = FakeEngine([a_done(citations=(a_citation(),))], corpus="energy")
    app = app_of(FakeEngine(), energy)

    found = await called(app, "ask", {"question": "What turns?", "corpus": "energy"})
    told = await refusal(app, "search", {"query": "What turns?", "corpus": "nowhere"})

    assert (found["corpus"], found["citations"][0]["id"]) == ("energy", "energy:guide/wind.md#10-28")
    assert "There is no corpus 'nowhere'. Known corpora: default, energy." in told


async def test_the_writer_of_an_answer_may_be_named_and_an_unknown_one_is_refused_with_the_list() -> None:
    engine = FakeEngine(ANSWER)
    app = app_of(engine)

    await called(app, "ask", {"question": "What turns?", "writer": "quotes"})
    told = await refusal(app, "ask", {"question": "Who turns it?", "writer": "gpt-5"})

    assert set(app.state.service.engines.unguarded.writers) == {"quotes", "gpt-5"}
    assert "Name one of quotes, or leave it out." in told
    assert engine.started == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"question": " "}, "blank"),
        ({"question": "x" * 9000}, "8000"),
        ({}, "Field required"),
        ({"question": 7}, "string"),
    ],
)
async def test_a_question_that_cannot_be_asked_is_told(arguments: dict[str, Any], said: str) -> None:
    engine = FakeEngine(ANSWER)

    assert said in await refusal(app_of(engine), "ask", arguments)
    assert engine.started == 0


async def test_a_question_too_many_is_told_when_to_come_again() -> None:
    engine = FakeEngine(ANSWER)
    app = app_of(engine, serve={"slots": 1, "queue": 0})
    place = app.state.service.slots.enter(Deadline(240))

    told = await refusal(app, "ask", {"question": "What turns?"})
    place.leave()

    assert told.endswith("this one cannot be taken. Ask again in 5 seconds.")
    assert (await called(app, "ask", {"question": "What turns?"}))["answer"]


async def test_what_the_documents_hold_is_no_reason_to_fail() -> None:
    engine = FakeEngine()
    engine.found = (a_passage(text="lone \ud800 surrogate"),)

    found = await called(app_of(engine), "search", {"query": "What turns?"})

    assert found["results"][0]["text"] == "lone ? surrogate"


async def test_a_bug_of_ours_tells_nothing_about_our_inside() -> None:
    told = await refusal(app_of(FakeEngine([ValueError("secret path")])), "ask", {"question": "What turns?"})

    assert told == "Error executing tool ask"


async def test_a_call_that_its_client_cancels_stops_and_gives_its_slot_back() -> None:
    hangs, begun = asyncio.Event(), asyncio.Event()
    engine = FakeEngine([Step("search", "**Searching**"), begun.set, hangs, a_done()])
    app = app_of(engine, serve={"slots": 1, "queue": 0})

    async with client_of(app) as client:
        call = asyncio.ensure_future(client.call_tool("ask", {"question": "What turns?"}))
        await begun.wait()
        call.cancel()
        await asyncio.wait({call})
        await until(lambda: app.state.service.slots.running == 0)

    assert engine.ended == 1


async def test_a_search_that_is_cancelled_keeps_its_slot_until_its_thread_has_ended() -> None:
    go, begun = threading.Event(), threading.Event()
    engine = FakeEngine()
    found = engine.retrieve

    def hanging(*arguments: Any) -> Any:
        begun.set()
        go.wait()
        return found(*arguments)

    engine.retrieve = hanging  # type: ignore[assignment, method-assign]
    app = app_of(engine, serve={"slots": 1, "queue": 0})

    async with client_of(app) as client:
        call = asyncio.ensure_future(client.call_tool("search", {"query": "What turns?"}))
        await until(begun.is_set)
        call.cancel()
        await asyncio.wait({call})
        held = app.state.service.slots.running
        go.set()
        await until(lambda: app.state.service.slots.running == 0)

    assert held == 1


async def test_a_client_of_an_earlier_version_that_leaves_stops_its_call() -> None:
    hangs, begun = asyncio.Event(), asyncio.Event()
    engine = FakeEngine([begun.set, hangs, a_done()])
    app = app_of(engine, serve={"slots": 1, "queue": 0})
    leaves = asyncio.Event()

    call = {"jsonrpc": "2.0", "id": 99, "method": "tools/call"}
    call["params"] = {"name": "ask", "arguments": {"question": "What turns?"}}
    request = asyncio.ensure_future(post(app, call, leaves))
    await begun.wait()
    leaves.set()
    await until(lambda: app.state.service.slots.running == 0)
    await request

    assert engine.ended == 1


async def test_only_hosts_and_pages_of_this_machine_may_come() -> None:
    app = app_of(FakeEngine())
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app)) as connection:
        by_name = await connection.post("http://evil.example/mcp", json={})
        by_page = await connection.post(f"{URL}/mcp", json={}, headers={"Origin": "https://evil.example"})
        own = await connection.post("http://localhost:9/mcp", json={}, headers={"Origin": "http://localhost:9"})

    for reply in (by_name, by_page):
        assert (reply.status_code, reply.json()["error"]["code"]) == (403, "host_refused")
    assert "jsonrpc" in own.json(), "it came through, and is refused by the protocol"


async def test_links_begin_with_the_public_address() -> None:
    app = app_of(FakeEngine(), serve={"public_url": "https://docs.example/rag"})

    found = await called(app, "search", {"query": "What turns?"})

    assert found["results"][0]["url"].startswith("https://docs.example/rag/documents/guide/wind.md?")


async def test_a_key_opens_it() -> None:
    app = app_of(FakeEngine(), serve={"keys": "first-key-0123456789"})
    async with client_of(app, Authorization="Bearer first-key-0123456789") as client:
        assert (await client.list_tools()).tools


async def test_each_request_has_its_own_key(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    every, mine = add_key(path, "every", ["read"], None, None), add_key(path, "mine", ["read"], ["default"], None)
    app = app_of(FakeEngine(), FakeEngine(corpus="secret"), serve={"keys_file": path})
    async with (
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), headers={"Api-Key": every}) as connection,
        Client(streamable_http_client(f"{URL}/mcp", http_client=connection)) as client,
    ):
        allowed = await client.call_tool("search", {"query": "What turns?", "corpus": "secret"})
        connection.headers["Api-Key"] = mine
        refused = await client.call_tool("search", {"query": "What turns?", "corpus": "secret"})
        own = await client.call_tool("search", {"query": "What turns?", "corpus": "default"})

    assert (allowed.is_error, refused.is_error, own.is_error) == (False, True, False)


async def test_llamaindex_makes_tools_of_it() -> None:
    app = app_of(FakeEngine(ANSWER))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app)) as connection:
        tools = await McpToolSpec(BasicMCPClient(f"{URL}/mcp", http_client=connection)).to_tool_list_async()
        ask = next(tool for tool in tools if tool.metadata.name == "ask")
        output = await ask.acall(question="What turns?")

    assert [tool.metadata.name for tool in tools] == ["search", "fetch", "ask", "list_corpora"]
    assert "Wind turns blades. [1]" in output.content
    assert not output.is_error


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the library's
async def test_an_agent_of_llamaindex_answers_with_what_the_tool_says() -> None:
    def written(messages: Sequence[ChatMessage], **_: object) -> ChatMessage:
        if messages[-1].role == MessageRole.TOOL:
            return ChatMessage(role="assistant", content=f"It says: {messages[-1].content}")
        call = ToolCallBlock(tool_call_id="1", tool_name="ask", tool_kwargs={"question": "What turns?"})
        return ChatMessage(role="assistant", blocks=[call])

    engine = FakeEngine(ANSWER)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app_of(engine))) as connection:
        tools = await McpToolSpec(BasicMCPClient(f"{URL}/mcp", http_client=connection)).to_tool_list_async()
        model = MockFunctionCallingLLM(response_generator=written, is_chat_model=True)
        output: Any = await FunctionAgent(tools=[*tools], llm=model, streaming=False).run("What turns?")

    assert engine.questions == ["What turns?"]
    assert "Wind turns blades. [1]" in output.response.content


@pytest.mark.parametrize("version", ["2025-03-26", "2025-06-18"])
async def test_a_session_of_an_earlier_version_goes_on_at_any_replica(version: str) -> None:
    replicas = [app_of(FakeEngine(ANSWER)) for _ in range(2)]
    headers = {
        "Accept": "application/json, text/event-stream",
        "Mcp-Protocol-Version": version,
        "Mcp-Session-Id": "0123456789abcdef",
    }
    for number in range(4):
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/list", "params": {}}
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=replicas[number % 2])) as connection:
            reply = await connection.post(f"{URL}/mcp", json=message, headers=headers)

        assert reply.status_code == 200
        assert '"list_corpora"' in reply.text
        assert "mcp-session-id" not in reply.headers


async def until(so: Callable[[], bool]) -> None:
    while not so():  # noqa: ASYNC110  # what is waited for happens in another thread, or in the SDK
        await asyncio.sleep(0)


async def post(app: FastAPI, message: dict[str, Any], leaves: asyncio.Event) -> None:
    """Send one message as a client that leaves when it is told to."""
    body = [{"type": "http.request", "body": json.dumps(message).encode(), "more_body": False}]

    async def receive() -> dict[str, Any]:
        if body:
            return body.pop()
        await leaves.wait()
        return {"type": "http.disconnect"}

    async def send(_: object) -> None:
        pass

    headers = {
        "host": "127.0.0.1:8000",
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": "2025-06-18",
    }
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "server": ("127.0.0.1", 8000),
        "client": ("127.0.0.1", 5),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    await app(scope, receive, send)


TODAYS = "2026-07-28"


async def sent(app: FastAPI, method: str, *, version: str = TODAYS, header: str | None = None) -> Any:
    """Return the reply to one message of today's protocol; `header` names another method than the message does."""
    about = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": version,
        "Mcp-Method": header or method,
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": about}}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app)) as connection:
        return await connection.post(f"{URL}/mcp", json=message, headers=headers)


async def test_todays_clients_discover_it_without_a_session_and_may_keep_the_list_of_tools() -> None:
    app = app_of(FakeEngine(ANSWER))

    discovered = await sent(app, "server/discover")
    listed = await sent(app, "tools/list")

    assert TODAYS in discovered.json()["result"]["supportedVersions"]
    assert isinstance(listed.json()["result"]["ttlMs"], int)
    assert "mcp-session-id" not in discovered.headers


@pytest.mark.parametrize(
    ("wrong", "status", "code"),
    [({"header": "tools/call"}, 400, -32020), ({"version": "2199-01-01"}, 400, -32022)],
)
async def test_headers_that_do_not_fit_the_message_are_refused(wrong: dict[str, str], status: int, code: int) -> None:
    reply = await sent(app_of(FakeEngine(ANSWER)), "tools/list", **wrong)

    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
