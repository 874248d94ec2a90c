"""`/query` and `/evaluate` answer the same question alike, with quotes and when they decline."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.app import create_app
from api.jobs.ingester import Ingester
from api.jobs.queue import Jobs
from ingestion.build import ingest
from query_engine.build import Engines
from settings import CacheSettings, EmbedSettings, IndexSettings, Settings

CORPUS = Path(__file__).parents[4] / "data" / "corpus" / "wind"
QUESTIONS = (
    "How much does the power in the wind grow when its speed doubles?",
    "What is the Betz limit?",
    "Why do turbines have gearboxes?",
    "Who may climb a turbine?",
    "Wie hoch ist die Grenze von Betz?",
    "What is the annual salary of a turbine technician in Quarnevik?",
    "Which model is the TX-900?",
    "Which foundations do offshore turbines stand on?",
    "Quelle est la capitale du Pérou ?",
    "Hello!",
)
SAME = ("citations", "answered", "gate_reason", "decline_text", "unsupported", "synthesizer", "warnings", "fingerprint")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Iterator[TestClient]:
    settings = Settings(
        index=IndexSettings(dir=tmp_path_factory.mktemp("same")),
        embed=EmbedSettings(cache_dir=model_cache),
        cache=CacheSettings(entries=0),
    )
    ingest(CORPUS, settings, corpus="default")
    with closing(Engines(settings)) as engines:
        app = create_app(engines, settings, Ingester(engines, settings), Jobs())
        with TestClient(app, base_url="http://localhost") as opened:
            yield opened


@pytest.mark.promise("G02")
@pytest.mark.fault("F4")
def test_ten_questions_have_one_answer_on_both_routes(client: TestClient) -> None:
    outcomes = set[bool]()
    for question in QUESTIONS:
        queried: dict[str, Any] = client.post("/query", json={"question": question}).json()
        evaluated: dict[str, Any] = client.post("/evaluate", json={"query": question, "iid": "1"}).json()

        assert evaluated["generated_response"].startswith(queried["message"])
        assert {key: queried[key] for key in SAME} == {key: evaluated[key] for key in SAME}
        # Doubt belongs to quotes that are shown.
        assert queried["answered"] or not any(one.startswith("low_confidence") for one in queried["warnings"])
        outcomes.add(queried["answered"])
    assert outcomes == {True, False}
