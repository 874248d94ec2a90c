"""Whether and how traces are sent, beside what `tests/e2e/test_seeing_inside.py` sees of the real service."""

import sys

import pytest

from api.telemetry.requests import Watching
from errors import LLMError, ModelError, SettingsError
from query_engine.runtime.watching import ModelCall, model_call, part
from tests.fakes.engines import FakeEngine
from tests.fakes.http import client_of
from tests.servers.collector import Collector

QUESTION = {"question": "What turns?"}


def test_without_an_address_there_are_no_traces() -> None:
    with Watching().request() as watch, part("write"):
        assert watch.trace_id is None


@pytest.mark.parametrize("variable", [{"OTEL_SDK_DISABLED": "TRUE"}, {"OTEL_TRACES_EXPORTER": "none"}])
def test_a_standard_variable_turns_them_off(variable: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318", **variable}.items():
        monkeypatch.setenv(name, value)

    with Watching().request() as watch:
        watch.answering("default")
        assert watch.trace_id is None


def test_an_extra_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    monkeypatch.delitem(sys.modules, "api.telemetry.tracing", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)

    with pytest.raises(ModelError) as failure:
        Watching()

    assert "[otel]" in failure.value.remedy


def test_another_protocol_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")

    with pytest.raises(SettingsError):
        Watching()


def test_what_fails_is_told_by_its_code_and_calls_without_a_question_are_not_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail() -> None:
        with part("write"), model_call(ModelCall("openai", "tiny")):
            raise LLMError("It is gone.", "Fetch it.", code="gone")

    with Collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{collector.url}/v1/traces")
        client = client_of(FakeEngine([fail]))
        client.post("/run", json=QUESTION)
        client.get("/health")
        client.app.state.service.watching.close()  # type: ignore[attr-defined]  # it is an application

    spans = {span.name: span for span in collector.spans}
    assert spans.keys() == {"question", "write", "chat tiny"}
    assert spans["chat tiny"].parent_id == spans["write"].span_id
    assert spans["write"].parent_id == spans["question"].span_id
    assert {(span.failed, span.facts["error.type"]) for span in collector.spans} == {(True, "gone")}
    assert "gen_ai.usage.input_tokens" not in spans["chat tiny"].facts
