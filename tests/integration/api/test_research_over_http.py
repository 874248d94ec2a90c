"""Research over HTTP with a model server on the wire: a gap, reasoning, a server that dies, a reader that leaves."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.llms.helper import PromptHelper
from query_engine.schema.events import Event
from query_engine.synthesis.build import build_language_models
from research.modes import stream
from settings import AnswerSettings, LLMSettings, Settings
from tests.fakes.corpora import make_corpus
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.http import client_over, records_in
from tests.fakes.reading import a_leaf_reader
from tests.fakes.threads import question_threads_end
from tests.servers.scripted_llm import Script, ScriptedLLM

TEXTS = {
    "wind.md": "Turbines turn wind into power. Albert Betz published the rotor limit in 1919.",
    "water.md": "Dams hold water back. Fish need ladders of many steps. Rivers run turbines too.",
}
QUESTION = "Who published the rotor limit in 1919?"
QUERIES = Script(text="<query>rotor limit</query>")
GAP = Script(
    text="<useful-docs>1</useful-docs><is-sufficient>no</is-sufficient><new-query>fish ladders</new-query>",
    reasoning="The fish are missing.",
)
SUFFICIENT = Script(text="<useful-docs>1</useful-docs><summary>Steps.</summary><is-sufficient>yes</is-sufficient>")
ANSWER = Script(text="Albert Betz published the rotor limit in 1919 [1].")


@pytest.fixture
def settings(server: ScriptedLLM) -> Settings:
    return Settings(
        llm=LLMSettings(provider="openai", model="scripted", base_url=server.base_url, timeout_s=20),
        answer=AnswerSettings(mode="agent"),
    )


@pytest.fixture
def engine(settings: Settings, tmp_path: Path) -> Iterator[Engine]:
    embedder = WordHashEmbedding()
    corpus = make_corpus(tmp_path / "books", TEXTS, embedder)
    models = build_language_models(settings)
    assert models.query_model is not None
    reader = a_leaf_reader(corpus)
    yield Engine(
        corpus,
        embedder,
        reader,
        models.writers,
        settings=settings,
        helper=PromptHelper(models.query_model, settings.llm.max_new_tokens),
    )
    corpus.close()


@pytest.fixture
def client(engine: Engine, settings: Settings) -> TestClient:
    return client_over(engine, settings)


def run(client: TestClient) -> tuple[list[str], str]:
    """Return the steps and the answer."""
    last = records_in(client.post("/run", json={"question": QUESTION}).text)[-1]
    assert last["complete"]
    return [step.strip() for step in last["intermediate_steps"].split("|||---|||")], last["final_report"]


def test_rounds_reasoning_and_a_model_s_answer(client: TestClient, server: ScriptedLLM) -> None:
    server.play(QUERIES, GAP, SUFFICIENT, ANSWER)

    steps, report = run(client)

    told = [step.split("**")[1] for step in steps]
    assert told[:6] == ["Searching", "Round 1", "Thinking", "Round 1", "Round 2", "Round 2"]
    assert "The fish are missing." in steps[2]
    assert "**Still missing**: fish ladders" in steps[3]
    assert "[water.md](http://localhost/documents/water.md?" in steps[5]
    assert report == "Albert Betz published the rotor limit in 1919 [1]."
    assert len(server.requests) == 4


def test_a_server_that_dies_in_mid_loop_ends_in_quotes(client: TestClient, server: ScriptedLLM) -> None:
    server.play(QUERIES, GAP, Script(cut_after=1))

    steps, report = run(client)

    assert "published the rotor limit in 1919. [1]" in report.replace("**", "")
    assert any(step.startswith("**Researching with less**: The language model failed") for step in steps)
    assert any(step.startswith("**The openai model failed**") for step in steps)


async def test_a_reader_that_leaves_stops_the_model_and_all_threads(engine: Engine, server: ScriptedLLM) -> None:
    server.play(QUERIES, Script(text="<useful-docs>1 ", endless=True, token_s=0.001))
    events: AsyncGenerator[Event, None] = stream(engine, Inquiry(QUESTION, mode="agent"))

    async with aclosing(events):
        async for event in events:
            if "**Round 1**, searching" in getattr(event, "text", ""):
                break
        assert server.wait_until(lambda one: len(one.requests) == 2)

    assert server.wait_until(lambda one: not one.open_streams)
    assert question_threads_end()
