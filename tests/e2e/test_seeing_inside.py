"""What an operator sees of the real service: traces at a collector, JSON lines, metrics."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import BETZ, MAIN
from tests.e2e.program import Process
from tests.servers.collector import Collector, ReceivedSpan
from tests.servers.scripted_llm import Script, ScriptedLLM

STAGES = {"understand", "search", "read", "decide", "write"}
TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def own(copied: dict[str, str]) -> dict[str, str]:
    """Return the settings of a service whose lines are JSON."""
    return copied | {"RAG_SERVE__LOG_FORMAT": "json"}


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as collector:
        yield collector


def url_of(service: Process) -> str:
    return service.wait_for(r'"url": "(http[^"]+)"', 120)[1]


def lines_of(service: Process) -> list[dict[str, Any]]:
    return [json.loads(line) for line in service.log.splitlines()]


def ended(service: Process) -> list[dict[str, Any]]:
    """Stop the service and return what it wrote."""
    service.signal(signal.SIGTERM)
    service.exit_code()
    service._listener.join()
    return lines_of(service)


def ask(url: str, question: str, headers: dict[str, str] | None = None) -> None:
    assert httpx.post(f"{url}/run", json={"question": question}, headers=headers, timeout=60).status_code == 200


@pytest.mark.promise("G17")
def test_a_question_is_one_trace_with_its_stages_and_model_calls_and_every_line_is_json(
    own: dict[str, str], collector: Collector, folder: Path, tmp_path: Path
) -> None:
    with ScriptedLLM() as model:
        model.play(Script(text="Albert Betz published the limit in 1919 [1]."))
        own |= {"RAG_LLM__PROVIDER": "openai", "RAG_LLM__MODEL": "scripted", "RAG_LLM__BASE_URL": model.base_url}
        own |= {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_EXPORTER_OTLP_HEADERS": "x-api-key=k1"}
        with Process([MAIN, "--ingest", str(folder / "sources")], own, tmp_path) as service:
            url = url_of(service)
            ask(url, BETZ, {"traceparent": TRACEPARENT})
            ask(url, BETZ)
            told = httpx.get(f"{url}/metrics", timeout=60).text
            lines = ended(service)  # what waits is sent before the end

    assert any(line["event"] == "started" and line["url"] == url for line in lines)
    assert [line["status"] for line in lines if line["event"] == "request"] == [200, 200, 200]
    assert collector.headers[0]["x-api-key"] == "k1"
    traces: dict[str, list[ReceivedSpan]] = {}
    for span in collector.spans:
        traces.setdefault(span.trace_id, []).append(span)
    requests = [line for line in lines if line.get("route") == "/run"]
    assert [line["trace_id"] for line in requests] == list(traces)
    first, second = traces.values()
    assert first[0].trace_id == TRACEPARENT.split("-")[1]
    for spans in (first, second):
        check_trace(spans)
    assert next(span for span in first if span.name == "question").parent_id == TRACEPARENT.split("-")[2]
    assert not any("Betz" in str(span.facts) for span in collector.spans), "texts are left out unless asked for"
    written = sum(span.facts["gen_ai.usage.output_tokens"] for span in collector.spans if span.name == "chat scripted")
    assert f'treeline_model_tokens_total{{direction="output",model="scripted",provider="openai"}} {written:.1f}' in told
    assert {stage for stage in STAGES if f'treeline_stage_seconds_count{{stage="{stage}"}} ' in told} == STAGES


def check_trace(spans: list[ReceivedSpan]) -> None:
    by_id = {span.span_id: span for span in spans}
    parents = {(span.name, by_id[span.parent_id].name) for span in spans if span.parent_id in by_id}
    assert {name for name, _ in parents} == {*STAGES, "chat scripted"}
    assert {("search", "question"), ("read", "decide"), ("write", "question"), ("chat scripted", "write")} <= parents
    root = next(span for span in spans if span.name == "question")
    assert root.resource["service.name"] == "treeline"
    assert root.facts["gen_ai.operation.name"] == "invoke_workflow"
    assert (root.facts["treeline.corpus"], root.facts["treeline.author"]) == ("default", "openai")
    assert root.facts["treeline.reason"] == "generated_answer"
    search = next(span for span in spans if span.name == "search")
    assert (search.facts["gen_ai.operation.name"], search.facts["gen_ai.data_source.id"]) == ("retrieval", "default")
    chat = next(span for span in spans if span.name == "chat scripted")
    assert (chat.facts["gen_ai.usage.input_tokens"], chat.facts["gen_ai.usage.output_tokens"]) == (1, 8)
    assert (chat.facts["gen_ai.request.model"], chat.facts["openinference.span.kind"]) == ("scripted", "LLM")
    for span in spans:
        assert root.start_ns <= span.start_ns <= span.end_ns <= root.end_ns
        assert not span.failed


def test_texts_are_traced_where_a_variable_asks_for_them(
    own: dict[str, str], collector: Collector, tmp_path: Path
) -> None:
    own |= {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_SERVICE_NAME": "handbook"}
    own |= {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"}
    with Process([MAIN], own, tmp_path) as service:
        ask(url_of(service), BETZ)
        ended(service)

    root = next(span for span in collector.spans if span.name == "question")
    assert json.loads(root.facts["gen_ai.input.messages"])[0]["parts"][0]["content"] == BETZ
    assert "Albert Betz" in root.facts["gen_ai.output.messages"]
    assert root.resource["service.name"] == "handbook"


def test_a_collector_that_is_gone_holds_nothing_up(own: dict[str, str], tmp_path: Path) -> None:
    with Collector() as gone:
        address = gone.url
    own |= {"OTEL_EXPORTER_OTLP_ENDPOINT": address}
    with Process([MAIN], own, tmp_path) as service:
        ask(url_of(service), BETZ)
        lines = ended(service)

    assert [line["status"] for line in lines if line.get("route") == "/run"] == [200]


def test_a_start_that_fails_is_told_as_json(own: dict[str, str], tmp_path: Path) -> None:
    own |= {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    with Process([MAIN], own, tmp_path) as service:
        code = service.exit_code()
        service._listener.join()
        lines = lines_of(service)

    assert code == 1
    assert lines[-1]["event"] == "error"
    assert "http/protobuf" in lines[-1]["fact"]
