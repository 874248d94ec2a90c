"""The react routes over a folder of papers in real stores: conditions, used documents, a model that fails."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from errors import LLMError
from query_engine.engine import Engine
from query_engine.retrieval.papers import PaperQuestion
from query_engine.runtime.deadline import Deadline
from query_engine.schema.events import Done, Step
from query_engine.synthesis.base import Writer
from research.react import TRIES, PaperTrail, pause_s, react
from settings import ChunkSettings, Settings
from tests.fakes.http import client_over
from tests.fakes.library import Library
from tests.fakes.reading import a_leaf_reader
from tests.fakes.synthesizers import ScriptedSynthesizer

MODEL, MASKS = "5e7b1f2a98f3bd0a7c4d1e01", "5e7b1f2a98f3bd0a7c4d1e02"
PAPERS = {
    MODEL: "The SIDARTHE model of the epidemic has eight stages of infection.\n\n"
    "Its parameters are fitted with data from Italy, and the WHO publishes such numbers every day of the week.",
    MASKS: "Masks slow the spread of droplets in closed rooms.\n\n"
    "The WHO advises to wear them in trains and buses, wherever many people stand close to each other for long.",
}
ASK: dict[str, Any] = {"topic": "covid", "question": "What is the SIDARTHE model of the epidemic?", "top_k": 3}
FIELDS = {"paper_id", "doc_type", "text", "distance", "cosmos_object_id", "article_terms", "paragraph_terms"}
OPEN = Settings.model_validate({"answer": {"min_confidence": 0}})
BUSY = LLMError("The model is busy.", "Wait.", code="llm_busy")

Make = Callable[..., Engine]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    made = Library(
        tmp_path_factory.mktemp("papers"), chunk=ChunkSettings(root_tokens=64, middle_tokens=32, leaf_tokens=16)
    )
    for name, text in PAPERS.items():
        (made.files / f"{name}.txt").write_text(text)
    made.ingest(metadata={"topic": "covid"})
    yield made
    made.close()


@pytest.fixture
def make(library: Library) -> Make:
    reader = a_leaf_reader(library.corpus)

    def engine(*writers: Writer) -> Engine:
        return Engine(library.corpus, library.embedder, reader, writers, settings=OPEN)

    return engine


@pytest.fixture
def client(make: Make) -> TestClient:
    return client_over(make(), OPEN)


@pytest.mark.promise("C06")
def test_the_answer_numbers_the_documents_that_it_used(client: TestClient) -> None:
    reply = client.post("/react", json=ASK)

    assert reply.status_code == 200, reply.text
    found = reply.json()
    assert "SIDARTHE model of the epidemic has eight stages" in found["answer"]
    assert "[1]" in found["answer"]
    assert all(set(document) > FIELDS for document in found["used_docs"])
    assert found["used_docs"][0]["paper_id"] == MODEL
    assert "eight stages" in found["used_docs"][0]["text"]


def test_conditions_hold_for_every_search(client: TestClient) -> None:
    asked = {**ASK, "question": "Who publishes numbers and advises masks?"}
    found = [client.post("/react", json=asked | more).json()["used_docs"] for more in ({}, {"paper_ids": [MASKS]})]

    assert [{document["paper_id"] for document in documents} for documents in found] == [{MODEL, MASKS}, {MASKS}]
    assert client.post("/react", json={**ASK, "topic": "geo"}).status_code == 404


def test_the_stream_ends_in_what_the_route_beside_it_replies(client: TestClient) -> None:
    records = [json.loads(line) for line in client.post("/react_streaming", json=ASK).text.splitlines()]

    whole = client.post("/react", json=ASK).json()
    assert records[-2:] == [{"used_docs": whole["used_docs"]}, {"answer": whole["answer"]}]
    assert records[0].keys() == {"thoughts"}


async def answered(engine: Engine, deadline_s: float = 240) -> tuple[Done, list[str], list[float]]:
    """Return the last event, the steps, and the pauses that were made."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    trail = PaperTrail(PaperQuestion(ASK["question"], top_k=3, topic="covid", screening_top_k=100))
    events = [event async for event in react(engine, trail, Deadline(deadline_s), sleep)]
    done = events[-1]
    assert isinstance(done, Done)
    assert trail.paragraphs(done.passages)
    return done, [event.text for event in events if isinstance(event, Step)], pauses


class Recovering(ScriptedSynthesizer):
    """Fails so often before it writes."""

    def __init__(self, failures: int) -> None:
        super().__init__("The model says so. ", "[cite]")
        self.calls = 0
        self._failures = failures

    def write(self, *arguments: Any) -> Iterator[Any]:
        self.calls += 1
        if self.calls <= self._failures:
            raise BUSY
        return super().write(*arguments)


async def test_a_model_that_recovers_writes_the_answer(make: Make) -> None:
    model = Recovering(failures=2)

    done, told, pauses = await answered(make(model))

    assert (done.synthesizer, model.calls) == ("openai", 3)
    assert pauses == [pause_s(1), pause_s(2)]
    assert "**The language model failed** (try 2 of 6): The model is busy." in told
    assert not any(warning.code == "llm_busy" for warning in done.warnings)


@pytest.mark.promise("C09")
async def test_after_six_tries_quotes_answer_and_the_failure_is_told(make: Make) -> None:
    model = Recovering(failures=99)

    done, _, pauses = await answered(make(model))

    assert (done.synthesizer, model.calls, len(pauses)) == ("extractive", TRIES, TRIES - 1)
    assert done.answer
    assert any(warning.code == "llm_busy" for warning in done.warnings)


async def test_there_is_no_other_try_without_time_for_it(make: Make) -> None:
    model = Recovering(failures=99)

    done, _, pauses = await answered(make(model), deadline_s=5)

    assert (model.calls, pauses) == (1, [])
    assert done.answer
