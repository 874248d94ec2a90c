"""What `GET /metrics` tells."""

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from api.jobs.queue import Jobs
from api.mcp.tools import Tools
from api.telemetry.metrics import Metrics
from api.telemetry.workers import begin_sharing, worker_ended
from errors import LLMError
from query_engine.runtime.watching import ModelCall, model_call, part
from query_engine.schema.events import Token
from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.http import client_of
from tests.fakes.ingesting import FakeIngester

HOME = Path(__file__).parents[4]
QUESTION = {"question": "What is the salary of Ada Lovelace?"}
WORKER = """
import os, sys
from api.telemetry.metrics import Metrics
metrics = Metrics()
metrics.request("GET", "/health", 200, 0.01, None)
metrics.queue(1, 0, 2, 16)
if sys.argv[1] == "work":
    print(os.getpid())
else:
    status = {"embedding": "minilm", "synthesizer": "extractive", "corpora": {}, "refused": {}, "llm_ready": True}
    print(metrics.exposition(status, "")[0].decode())
"""

SEEING = """
import json, sys
from api.telemetry.metrics import Metrics
metrics = Metrics()
for line in sys.stdin:
    status = {"embedding": "minilm", "synthesizer": "extractive", "refused": {}, "llm_ready": True}
    text = metrics.exposition(status | {"corpora": json.loads(line)}, "")[0].decode()
    print(json.dumps(text), flush=True)
"""


def told_by(text: str) -> dict[str, dict[str, float]]:
    """Return the values of each sample by their labels, as `a=1,b=2`, sorted."""
    found: dict[str, dict[str, float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            found.setdefault(sample.name, {})[labels] = sample.value
    return found


def metrics_of(client: TestClient) -> dict[str, dict[str, float]]:
    reply = client.get("/metrics")
    assert reply.status_code == 200
    return told_by(reply.text)


def call_model(outcome: Exception | None = None) -> None:
    """Do what an engine does in its thread."""
    with part("write"), model_call(ModelCall("huggingface", "tiny", prompt="one two", reply="three", count=len)):
        if outcome is not None:
            raise outcome


def test_requests_are_counted_by_route_and_status() -> None:
    client = client_of(FakeEngine([a_done()]))
    client.post("/query", json=QUESTION)
    client.post("/query", json={})
    client.get("/documents/guide/wind.md")
    client.get("/no/such/path")
    client.request("BREW", "/query")

    told = metrics_of(client)

    requests = told["treeline_http_requests_total"]
    assert requests["method=POST,route=/query,status=200"] == 1
    assert requests["method=POST,route=/query,status=422"] == 1
    assert requests["method=GET,route=none,status=404"] == 1
    assert requests["method=other,route=/query,status=405"] == 1
    assert told["treeline_http_request_seconds_count"]["route=/query"] == 3
    assert told["treeline_errors_total"]["code=invalid_request"] == 1


def test_answers_are_counted_by_reason_and_author_and_looked_up_ones_by_result() -> None:
    client = client_of(FakeEngine([Token("Wind."), a_done()]))
    for _ in range(3):
        client.post("/query", json=QUESTION)
    client.post("/run", json=QUESTION)

    told = metrics_of(client)

    assert told["treeline_answers_total"] == {"author=extractive,reason=generated_answer": 4}
    assert told["treeline_cache_lookups_total"] == {"result=miss": 1, "result=hit": 2}


def test_nothing_is_looked_up_where_no_answer_is_kept() -> None:
    client = client_of(FakeEngine([a_done()]), cache={"entries": 0})
    client.post("/query", json=QUESTION)

    assert metrics_of(client)["treeline_cache_lookups_total"] == {"result=miss": 0, "result=hit": 0}


def test_stages_and_model_calls_are_counted() -> None:
    client = client_of(FakeEngine([call_model, a_done()]))
    client.post("/run", json=QUESTION)

    told = metrics_of(client)

    assert told["treeline_stage_seconds_count"]["stage=write"] == 1
    assert told["treeline_model_calls_total"] == {"model=tiny,outcome=ok,provider=huggingface": 1}
    assert told["treeline_model_tokens_total"] == {
        "direction=input,model=tiny,provider=huggingface": len("one two"),
        "direction=output,model=tiny,provider=huggingface": len("three"),
    }


def test_a_model_that_fails_is_counted_by_its_code() -> None:
    def fail() -> None:
        with pytest.raises(LLMError):
            call_model(LLMError("It is gone.", "Fetch it.", code="gone"))
        with pytest.raises(ZeroDivisionError):
            call_model(ZeroDivisionError())

    client = client_of(FakeEngine([fail, a_done()]))
    client.post("/run", json=QUESTION)

    calls = metrics_of(client)["treeline_model_calls_total"]

    assert calls == {f"model=tiny,outcome={code},provider=huggingface": 1 for code in ("gone", "internal")}


def test_slots_and_the_queue_are_levels() -> None:
    seen: list[dict[str, dict[str, float]]] = []
    client = client_of(FakeEngine([lambda: seen.append(metrics_of(client)), a_done()]), serve={"slots": 3, "queue": 5})
    client.post("/run", json=QUESTION)

    (during,) = seen
    after = metrics_of(client)
    assert (during["treeline_questions_running"], after["treeline_questions_running"]) == ({"": 1}, {"": 0})
    assert (after["treeline_slots"], after["treeline_queue_places"]) == ({"": 3}, {"": 5})
    assert after["treeline_questions_waiting"] == {"": 0}


def test_a_question_that_nobody_has_room_for_is_an_error_of_its_own_code() -> None:
    def ask_another() -> None:
        assert client.post("/query", json=QUESTION).status_code == 429

    client = client_of(FakeEngine([ask_another, a_done()]), serve={"slots": 1, "queue": 0})
    client.post("/run", json=QUESTION)

    assert metrics_of(client)["treeline_errors_total"]["code=too_many_questions"] == 1


def test_ingestions_are_counted(tmp_path: Path) -> None:
    (tmp_path / "wind.md").write_text("Wind.")
    ingester = FakeIngester()
    client = client_of(FakeEngine(), ingester=ingester, jobs=Jobs(), ingested=tmp_path)
    client.post("/ingest", json={"path": str(tmp_path)})
    ingester.failure = LLMError("It failed.", "Repair it.", code="broken")
    client.post("/ingest", json={"path": str(tmp_path)})

    told = metrics_of(client)

    assert told["treeline_ingestions_total"] == {"outcome=done": 1, "outcome=failed": 1, "outcome=stopped": 0}
    assert told["treeline_ingested_documents_total"] == {"outcome=done": 2, "outcome=failed": 0}
    assert told["treeline_ingested_leaves_total"] == {"": 8}
    assert told["treeline_ingestion_seconds_count"] == {"": 2}


def test_corpora_and_models_are_as_they_were_last_seen() -> None:
    client = client_of(FakeEngine())
    facts = {
        "corpora": {"default": {"documents": 3, "leaves": 12, "generation": 7}},
        "refused": {"old": {"code": "index_damaged", "detail": "…"}},
        "llm_ready": False,
    }
    client.app.state.service.engines.unguarded.facts.update(facts)  # type: ignore[attr-defined]  # it is an application

    told = metrics_of(client)

    for name, value in facts["corpora"]["default"].items():  # type: ignore[index]  # a mapping
        assert told[f"treeline_corpus_{name}"] == {"corpus=default": value}
    assert told["treeline_corpora_refused"] == {"": 1}
    assert told["treeline_model_ready"] == {"": 0}


async def test_answers_over_mcp_are_counted() -> None:
    client = client_of(FakeEngine([call_model, a_done()]))
    tools = Tools(client.app.state.service)  # type: ignore[attr-defined]  # it is an application

    async def tell(_step: str) -> None:
        """Say nothing."""

    await tools.ask("What turns?", None, "http://127.0.0.1", tell)

    told = metrics_of(client)
    assert told["treeline_answers_total"] == {"author=extractive,reason=generated_answer": 1}
    assert told["treeline_stage_seconds_count"]["stage=write"] == 1


@pytest.mark.fault("E6")
def test_nothing_of_a_client_becomes_a_label() -> None:
    client = client_of(FakeEngine([a_done()]))
    client.post("/query", json=QUESTION | {"corpus": "canary"})
    client.get("/canary/canary")
    client.get("/documents/canary?corpus=canary", headers={"X-Request-ID": "canary"})
    client.post("/query", json=QUESTION)

    text = client.get("/metrics").text

    assert "canary" not in text
    assert "salary" not in text


def test_open_metrics_where_it_is_asked_for() -> None:
    reply = client_of(FakeEngine()).get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})

    assert reply.headers["content-type"].startswith("application/openmetrics-text")
    assert reply.text.endswith("# EOF\n")


def test_workers_that_share_a_folder_are_summed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path / "metrics"))

    def run(act: str) -> str:
        command = [sys.executable, "-c", WORKER, act]
        return subprocess.run(command, cwd=HOME, capture_output=True, text=True, check=True).stdout

    pid = int(run("work"))
    told = told_by(run("tell"))
    worker_ended(pid)
    without_one = told_by(run("tell"))
    begin_sharing()
    alone = told_by(run("tell"))

    assert told["treeline_http_requests_total"] == {"method=GET,route=/health,status=200": 2}
    assert told["treeline_slots"] == {"": 4}
    assert told["treeline_model_ready"] == {"": 1}
    assert without_one["treeline_http_requests_total"] == {"method=GET,route=/health,status=200": 3}
    assert without_one["treeline_slots"] == {"": 4}  # the second teller's and the third's
    assert alone["treeline_slots"] == {"": 2}


def test_of_a_corpus_the_workers_tell_what_one_of_them_saw_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path / "metrics"))
    command = [sys.executable, "-c", SEEING]
    with ExitStack() as stack:
        stale, fresh, idle = (
            stack.enter_context(Popen(command, cwd=HOME, stdin=PIPE, stdout=PIPE, text=True)) for _ in range(3)
        )

        def seen(worker: Popen[str], generation: int | None) -> float:
            assert worker.stdin is not None
            assert worker.stdout is not None
            print(
                json.dumps({} if generation is None else {"papers": {"generation": generation}}),
                file=worker.stdin,
                flush=True,
            )
            return told_by(json.loads(worker.stdout.readline()))["treeline_corpus_generation"]["corpus=papers"]

        assert [seen(stale, 6), seen(fresh, 7), seen(stale, 6), seen(idle, None), seen(stale, 8)] == [6, 7, 7, 7, 8]


def test_a_corpus_that_is_open_no_more_is_told_no_more() -> None:
    metrics = Metrics()
    status = {"embedding": "minilm", "synthesizer": "extractive", "refused": {}, "llm_ready": True}
    metrics.exposition(status | {"corpora": {"papers": {"documents": 3}}}, "")

    assert "papers" not in metrics.exposition(status | {"corpora": {}}, "")[0].decode()
