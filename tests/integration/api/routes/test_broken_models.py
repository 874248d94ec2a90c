"""What a broken model server sends never becomes a failure of the routes that answer: quotes take over."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from query_engine.engine import Engine
from query_engine.synthesis.build import build_language_models
from settings import LLMSettings, Settings
from tests.fakes.corpora import make_corpus
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.http import client_over, records_in
from tests.fakes.reading import a_leaf_reader
from tests.servers.scripted_llm import Script, ScriptedLLM

QUESTION = "Who published the rotor limit in 1919?"
QUOTE = "published the rotor limit in 1919. ["
DEEP = "[" * 100_000
BROKEN = {
    "JSON nested too deeply": (Script(garbage_after=0, garbage=f"data: {DEEP}"), "llm_bad_json"),
    "JSON nested too deeply after a sentence": (
        Script(text="Betz published the limit [1]. It", garbage_after=5, garbage=f"data: {DEEP}"),
        "llm_bad_json",
    ),
    "a text of brackets": (Script(text=DEEP), "llm_empty"),
}


@pytest.fixture
def client(server: ScriptedLLM, tmp_path: Path) -> Iterator[TestClient]:
    embedder = WordHashEmbedding()
    texts = {"wind.md": "Turbines turn wind into power. Albert Betz published the rotor limit in 1919."}
    corpus = make_corpus(tmp_path / "books", texts, embedder)
    settings = Settings(llm=LLMSettings(provider="openai", model="scripted", base_url=server.base_url, timeout_s=20))
    reader = a_leaf_reader(corpus)
    writers = build_language_models(settings).writers
    engine = Engine(corpus, embedder, reader, writers, settings=settings)
    yield client_over(engine, settings)
    corpus.close()


def asked(client: TestClient, route: str) -> tuple[str, list[str]]:
    """Return the answer and its warnings."""
    if route == "/evaluate":
        reply = client.post(route, json={"query": QUESTION, "iid": "1"})
        assert reply.status_code == 200, reply.text
        return reply.json()["generated_response"], reply.json()["warnings"]
    if route == "/run":
        last = records_in(client.post(route, json={"question": QUESTION}).text)[-1]
        assert last["complete"]
        assert not last.get("error"), last
        return last["final_report"], []
    messages: list[dict[str, Any]] = [{"role": "user", "content": QUESTION}]
    reply = client.post(route, json={"model": client.get("/v1/models").json()["data"][0]["id"], "messages": messages})
    assert reply.status_code == 200, reply.text
    return reply.json()["choices"][0]["message"]["content"], reply.json()["treeline"]["warnings"]


@pytest.mark.fault("C4")
@pytest.mark.parametrize("route", ["/evaluate", "/run", "/v1/chat/completions"])
@pytest.mark.parametrize(("script", "code"), BROKEN.values(), ids=BROKEN)
def test_quotes_take_over_from_a_reply_that_cannot_be_read(
    client: TestClient, server: ScriptedLLM, script: Script, code: str, route: str
) -> None:
    server.play(script)

    answer, warnings = asked(client, route)

    assert QUOTE in answer.replace("**", "")
    assert [warning.partition(":")[0] for warning in warnings] == ([] if route == "/run" else [code])
    assert DEEP not in json.dumps(warnings)
