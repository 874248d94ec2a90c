import asyncio
import threading
from typing import Any

import httpx
import pytest

from errors import CorpusLockedError, IndexDamagedError, StoreUnavailableError
from query_engine.runtime.deadline import Deadline
from query_engine.runtime.lease_pool import Lease
from settings import VERSION
from tests.fakes.engines import FakeEngine, FakeEngines
from tests.fakes.http import client_of_engines as client_of
from tests.fakes.threads import busy_pool

KILL_S = 10
EMPTY = {"corpora": {"default": {"documents": 0, "leaves": 0}}}


def engines_with(**facts: Any) -> FakeEngines:
    return FakeEngines({"default": FakeEngine()}, facts=facts)


def refused(error: type[Exception], code: str, *stores: str) -> dict[str, dict[str, Any]]:
    return {"other": {"code": code, "detail": f"{error.__name__} of the index.", "stores": list(stores)}}


@pytest.fixture
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every probe look."""
    monkeypatch.setattr("api.routes.health.FRESH_S", 0.0)


@pytest.mark.promise("E02")
def test_health_reports_index_and_language_model() -> None:
    reply = client_of(engines_with()).get("/health")

    assert reply.status_code == 200
    assert reply.json() == {
        "status": "ok",
        "chroma": "ok",
        "failing_stores": [],
        "llm_ready": True,
        "llm_reason": "No language model is used.",
    }


def test_health_is_degraded_but_200_when_the_language_model_failed() -> None:
    reply = client_of(engines_with(llm_ready=False, llm_reason="The last answer failed.")).get("/health")

    assert reply.status_code == 200
    assert (reply.json()["status"], reply.json()["llm_ready"]) == ("degraded", False)


def test_health_is_degraded_when_no_corpus_is_open_or_one_was_refused() -> None:
    damaged = refused(IndexDamagedError, IndexDamagedError.code)

    for engines in (FakeEngines(), engines_with(refused=damaged)):
        assert client_of(engines).get("/health").json()["status"] == "degraded"


@pytest.mark.fault("C8")
def test_health_names_the_stores_that_fail_each_once() -> None:
    code = StoreUnavailableError.code
    broken = {
        "one": refused(StoreUnavailableError, code, "words", "vectors")["other"],
        "two": refused(StoreUnavailableError, code, "vectors")["other"],
    }
    reply = client_of(engines_with(refused=broken)).get("/health")

    assert (reply.status_code, reply.json()["status"]) == (200, "degraded")
    assert reply.json()["failing_stores"] == ["vectors", "words"]


@pytest.mark.promise("G19")
def test_ready_says_what_is_loaded_with_versions() -> None:
    reply = client_of(engines_with()).get("/ready")

    assert reply.status_code == 200
    body = reply.json()
    assert body["ready"] is True
    assert body["corpora"] == {"default": {"documents": 3, "leaves": 12}}
    assert (body["embedding"], body["synthesizer"], body["default_corpus"]) == ("minilm", "extractive", "default")
    assert body["writers"] == ["quotes"]
    assert body["versions"]["treeline"] == VERSION
    assert body["versions"].keys() == {"treeline", "python", "llama-index-core", "chromadb", "tantivy"}


def test_ready_counts_the_questions_that_run_and_wait() -> None:
    client = client_of(engines_with(), serve={"slots": 2})
    for _ in range(5):
        client.app.state.service.slots.enter(Deadline(240))  # type: ignore[attr-defined]  # a FastAPI application

    body = client.get("/ready").json()
    assert (body["slots"], body["questions"]) == (2, {"running": 2, "waiting": 3})


def test_a_service_without_documents_is_not_ready() -> None:
    for engines in (FakeEngines(), engines_with(**EMPTY)):
        reply = client_of(engines).get("/ready")
        assert reply.status_code == 503
        assert "python -m ingestion PATH" in reply.json()["reasons"][0]


def test_a_damaged_index_makes_the_service_not_ready() -> None:
    reply = client_of(engines_with(refused=refused(IndexDamagedError, IndexDamagedError.code))).get("/ready")

    assert reply.status_code == 503
    assert reply.json()["reasons"] == ["IndexDamagedError of the index."]


def test_a_corpus_that_another_process_holds_does_not() -> None:
    reply = client_of(engines_with(refused=refused(CorpusLockedError, CorpusLockedError.code))).get("/ready")

    assert reply.status_code == 200


def test_without_an_open_corpus_the_disk_is_looked_at_and_nothing_is_opened() -> None:
    class Looks(FakeEngines):
        def look_at_disk(self) -> None:
            super().look_at_disk()
            self.facts["on_disk"] = {"energy": 2}

        def lease(
            self,
            name: str | None = None,
            *,
            create: bool = False,
            writer: str | None = None,
            **_: Any,
        ) -> Lease[FakeEngine]:
            pytest.fail(f"{name} was opened, create={create}, writer={writer}")

    engines = Looks({"energy": FakeEngine(corpus="energy")}, facts={"corpora": {}})

    assert client_of(engines).get("/ready").status_code == 200
    assert engines.looks == 1


@pytest.mark.usefixtures("_fresh")
def test_a_corpus_whose_server_was_down_is_looked_at_again() -> None:
    class Recovers(FakeEngines):
        def look_at_disk(self) -> None:
            super().look_at_disk()
            if self.looks == 2:
                self.facts["refused"] = {}

    down = refused(StoreUnavailableError, StoreUnavailableError.code)
    engines = Recovers({"default": FakeEngine()}, facts={"refused": down})

    with client_of(engines) as client:
        assert [client.get("/ready").status_code for _ in range(2)] == [503, 200]


@pytest.mark.fault("C9")
def test_however_many_probes_come_within_a_second_the_stores_are_looked_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("api.routes.health.FRESH_S", 60.0)
    engines = engines_with()

    with client_of(engines) as client:
        assert {client.get(path).status_code for path in ["/health", "/ready"] * 10} == {200}
    assert engines.looks == 1


@pytest.mark.fault("C9")
def test_a_disk_that_hangs_is_looked_at_once_and_holds_up_no_probe() -> None:
    release = threading.Event()

    class Hangs(FakeEngines):
        def look_at_disk(self) -> None:
            super().look_at_disk()
            release.wait()

    engines = Hangs(facts={"corpora": {}})
    with client_of(engines) as client:  # one event loop for all requests
        try:
            assert [client.get("/ready").status_code for _ in range(3)] == [503] * 3
        finally:
            release.set()

    assert engines.looks == 1


@pytest.mark.parametrize("probe", ["/health", "/ready"])
async def test_a_probe_needs_no_thread_of_the_pool_that_slow_routes_hold(probe: str) -> None:
    transport = httpx.ASGITransport(client_of(engines_with()).app)
    with busy_pool():
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            reply = await asyncio.wait_for(client.get(probe), KILL_S)

    assert reply.status_code == 200


@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize(
    "index",
    [{}, {"chroma_url": "http://127.0.0.1:1"}, {"database_url": "postgresql://a:b@127.0.0.1:1/c"}],
    ids=["folder", "chroma", "postgres"],
)
def test_stores_of_an_open_corpus_are_looked_at_wherever_they_are(index: dict[str, str]) -> None:
    class GoesDown(FakeEngines):
        def look_at_disk(self) -> None:
            super().look_at_disk()
            self.facts["refused"] = (
                refused(StoreUnavailableError, StoreUnavailableError.code) if self.looks == 2 else {}
            )

    engines = GoesDown({"default": FakeEngine()})

    with client_of(engines, index=index) as client:
        assert [client.get("/ready").status_code for _ in range(3)] == [200, 503, 200]
