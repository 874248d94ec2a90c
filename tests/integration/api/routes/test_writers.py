"""Who writes an answer is the client's choice, on every route that answers: two model servers, and quotes."""

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.app import create_app
from api.jobs.ingester import Ingester
from api.jobs.queue import Jobs
from ingestion.schema import RunOptions
from query_engine.build import Engines
from settings import CacheSettings, EmbedSettings, IndexSettings, LLMSettings, Settings
from sources.given_pages import PageAnswers, PageReaders
from tests.fakes.http import records_in
from tests.servers.scripted_llm import Script, ScriptedLLM

TEXT = "# Yearly report\n\nThe harbour of Quarnevik was dredged in 1931 by Halvard Brenn.\n"
QUESTION = "Who dredged the harbour of Quarnevik?"
# A model would be asked to plan it, and to put it into the words of its conversation.
MANY_PARTS = "Who dredged it, when was it dredged, and what is it called?"
TURNS = [{"role": "user", "text": "Tell me about the harbour."}, {"role": "assistant", "text": "It is in Quarnevik."}]
SAYS = {"usual": "The usual one says Brenn [1].", "big": "The big one says Brenn [1]."}


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, ScriptedLLM]]:
    with ScriptedLLM() as usual, ScriptedLLM() as big:
        yield {"usual": usual, "big": big}


@pytest.fixture(scope="module")
def opened(
    servers: dict[str, ScriptedLLM], tmp_path_factory: pytest.TempPathFactory, model_cache: Path
) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("writers")
    (folder / "report.md").write_text(TEXT, encoding="utf-8")
    settings = Settings(
        index=IndexSettings(dir=folder / "index"),
        embed=EmbedSettings(cache_dir=model_cache),
        cache=CacheSettings(entries=50),
        llm=LLMSettings(
            provider="openai",
            model="usual",
            base_url=servers["usual"].base_url,
            fallbacks=f"openai:usual@{servers['usual'].base_url}",
            writers=f"big=openai:large@{servers['big'].base_url}",
        ),
    )
    with closing(Engines(settings)) as engines, closing(PageReaders(settings)) as readers:
        ingester = Ingester(engines, settings)
        ingester.ingest("default", folder / "report.md", RunOptions(), lambda _: None, threading.Event())
        app = create_app(engines, settings, ingester, Jobs(), given=PageAnswers(engines, readers, settings))
        with TestClient(app, base_url="http://localhost") as client:
            yield client


@pytest.fixture
def client(opened: TestClient, servers: dict[str, ScriptedLLM]) -> TestClient:
    for name, server in servers.items():
        server.play(Script(text=SAYS[name]))
        server.requests.clear()
    opened.post("/cache/clear")
    return opened


BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"model": "default", "messages": [{"role": "user", "content": QUESTION}]},
    "/evaluate": {"query": QUESTION, "iid": "1"},
    "/answer": {"question": QUESTION, "pages": [{"url": "http://example.org/report", "text": TEXT}]},
    "/agent/research": {"topic": QUESTION, "max_subquestions": 3},
}


def body_of(route: str, **more: Any) -> dict[str, Any]:
    return BODIES.get(route, {"question": QUESTION}) | more


def answer_in(route: str, text: str) -> str:
    """Return the answer in the body of a reply."""
    if route == "/run":
        return str(records_in(text)[-1]["final_report"])
    if route == "/query/stream":
        text = text.rpartition("data:")[2]
    if route == "/react_streaming":
        text = text.splitlines()[-1]
    reply = json.loads(text)
    if "choices" in reply:
        return str(reply["choices"][0]["message"]["content"])
    return str(reply.get("answer") or reply.get("final_summary") or reply)


ROUTES = pytest.mark.parametrize("route", ["/query", "/query/stream", "/run", *BODIES, "/react", "/react_streaming"])


@ROUTES
@pytest.mark.parametrize(("writer", "asked"), [(None, "usual"), ("usual", "usual"), ("big", "big")])
def test_the_chosen_one_writes_and_no_other_is_asked(
    client: TestClient, servers: dict[str, ScriptedLLM], route: str, writer: str | None, asked: str
) -> None:
    reply = client.post(route, json=body_of(route, writer=writer))

    assert reply.status_code == 200, reply.text
    assert SAYS[asked].removesuffix(" [1].") in answer_in(route, reply.text)
    assert {name for name, server in servers.items() if server.requests} == {asked}


@ROUTES
def test_quotes_ask_no_model_at_all(client: TestClient, servers: dict[str, ScriptedLLM], route: str) -> None:
    reply = client.post(route, json=body_of(route, writer="quotes"))

    assert "Halvard Brenn" in answer_in(route, reply.text)
    assert not any(server.requests for server in servers.values())


@pytest.mark.parametrize("mode", ["single", "agent", "auto"])
def test_nor_do_they_for_a_question_of_many_parts_in_a_conversation(
    client: TestClient, servers: dict[str, ScriptedLLM], mode: str
) -> None:
    body = {"question": MANY_PARTS, "turns": TURNS, "mode": mode}
    assert client.post("/query", json=body | {"writer": "quotes"}).json()["synthesizer"] in {"extractive", None}
    assert not any(server.requests for server in servers.values())

    client.post("/query", json=body | {"writer": "big"})
    assert (len(servers["usual"].requests), len(servers["big"].requests) > 1) == (0, True), "it helps itself"


@ROUTES
@pytest.mark.parametrize("writer", ["small", "BIG"])
def test_a_writer_that_is_unknown_is_refused_with_those_that_are_known(
    client: TestClient, servers: dict[str, ScriptedLLM], route: str, writer: str
) -> None:
    reply = client.post(route, json=body_of(route, writer=writer))

    assert reply.status_code == (400 if route.startswith("/v1") else 422), reply.text
    told = reply.json() if route == "/run" else reply.json()["error"]
    assert told["code"] == "unknown_writer"
    assert "usual, big, quotes" in reply.text
    assert not any(server.requests for server in servers.values())


def test_answers_of_different_writers_are_kept_apart(client: TestClient, servers: dict[str, ScriptedLLM]) -> None:
    writers = ["big", "quotes", None]
    first = [client.post("/query", json=body_of("/query", writer=writer)).json() for writer in writers]
    again = [client.post("/query", json=body_of("/query", writer=writer)).json() for writer in writers]

    assert [reply["cache_hit"] for reply in first + again] == [False] * 3 + [True] * 3
    assert [reply["answer"] for reply in first] == [reply["answer"] for reply in again]
    assert len({reply["answer"] for reply in first}) == 3
    assert [len(server.requests) for server in servers.values()] == [1, 1]


def test_the_settings_fallbacks_take_over_from_a_chosen_model(
    client: TestClient, servers: dict[str, ScriptedLLM]
) -> None:
    servers["big"].play(Script(status=401))

    reply = client.post("/query", json=body_of("/query", writer="big")).json()

    assert SAYS["usual"].removesuffix(" [1].") in reply["answer"]
    assert [warning.partition(":")[0] for warning in reply["warnings"]] == ["llm_key_refused"]


def test_the_service_says_who_may_be_chosen(client: TestClient) -> None:
    assert client.get("/ready").json()["writers"] == ["usual", "big", "quotes"]
    assert client.get("/ui/config").json()["writers"] == ["usual", "big", "quotes"]
