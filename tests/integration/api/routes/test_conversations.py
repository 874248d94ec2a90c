"""What a model's server is sent when a question follows others: chat messages, over HTTP on both sides."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from query_engine.engine import Engine
from query_engine.llms.helper import PromptHelper
from query_engine.synthesis.build import build_language_models
from settings import LLMSettings, Settings
from tests.fakes.corpora import make_corpus
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.http import client_over
from tests.fakes.reading import a_leaf_reader
from tests.servers.scripted_llm import Script, ScriptedLLM

BEFORE, SAID, ASKED = (
    "Who was Albert Betz?",
    "A **physicist** from Schweinfurt [3].\n\n- born in 1885 [1]",
    "And his limit?",
)
REWORDED = Script(text="Which rotor limit did Albert Betz publish?")
ANSWER = Script(text="The rotor limit, in 1919 [1].")
NO_SYSTEM = Script(status=400, error=json.dumps({"error": {"message": "System role not supported"}}).encode())


@pytest.fixture
def client(server: ScriptedLLM, tmp_path: Path) -> Iterator[TestClient]:
    embedder = WordHashEmbedding()
    corpus = make_corpus(tmp_path / "books", {"wind.md": "Albert Betz published the rotor limit in 1919."}, embedder)
    llm = LLMSettings(provider="openai", model="scripted", base_url=server.base_url, timeout_s=20)
    settings = Settings(llm=llm)
    reader, models = a_leaf_reader(corpus), build_language_models(settings)
    assert models.query_model is not None
    engine = Engine(
        corpus,
        embedder,
        reader,
        models.writers,
        settings=settings,
        helper=PromptHelper(models.query_model, 100),
    )
    yield client_over(engine, settings)
    corpus.close()


def asked(client: TestClient, route: str) -> tuple[str, Any]:
    """Return the answer and its citations."""
    spoken = [("user", BEFORE), ("assistant", SAID)]
    if route == "/query":
        turns = [{"role": role, "text": text} for role, text in spoken]
        reply = client.post(route, json={"question": ASKED, "turns": turns}).json()
        return reply["answer"], reply["citations"]
    messages = [{"role": role, "content": text} for role, text in [*spoken, ("user", ASKED)]]
    reply = client.post(route, json={"model": client.get("/v1/models").json()["data"][0]["id"], "messages": messages})
    return reply.json()["choices"][0]["message"]["content"], reply.json()["citations"]


@pytest.mark.parametrize("route", ["/query", "/v1/chat/completions"])
@pytest.mark.parametrize("hears_system", [True, False])
def test_a_model_hears_the_conversation_as_messages_and_the_question_in_the_users_words(
    client: TestClient, server: ScriptedLLM, route: str, hears_system: bool
) -> None:
    server.play(REWORDED, *([] if hears_system else [NO_SYSTEM]), ANSWER)

    answer, citations = asked(client, route)

    assert answer.startswith("The rotor limit, in 1919 [")
    assert [one["doc_id"] for one in citations] == ["wind.md"]
    messages = server.requests[-1]["messages"]
    assert [one["role"] for one in messages] == ["system"] * hears_system + ["user", "assistant", "user"]
    *_, before, said, question = (one["content"] for one in messages)
    assert before.endswith(BEFORE)
    assert (before == BEFORE) == hears_system
    assert said == "A **physicist** from Schweinfurt.\n\n- born in 1885"
    assert "[1] " in question
    assert "published the rotor limit" in question
    assert ASKED in question
    assert not [text for text in (BEFORE, "physicist", REWORDED.text) if str(text) in question]
