"""Send what `requests.py` watches as traces of OpenTelemetry: one for each question, over OTLP.

Flow: `requests.py`, where an address is set -> **here** -> a collector, in the background. The SDK reads the standard
variables itself (address, headers, service name, sampling, time limits). Attributes are those of the semantic
conventions for generative AI, and the kind of each span is in OpenInference's words: docs/adr/0033 says why. Texts are
left out unless `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` asks for them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from opentelemetry import propagate, trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from errors import RagError, SettingsError
from query_engine.runtime.watching import ModelCall
from settings import VERSION, foreign_variable

PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
NAME = "treeline"
OPERATION, KIND = "gen_ai.operation.name", "openinference.span.kind"

# The span that the work of a thread belongs to; threads that it starts inherit it.
_PARENT: ContextVar[Context | None] = ContextVar("parent span", default=None)


class Tracing:
    """The way to a collector.

    Raises:
        SettingsError: the environment asks for another form than protobuf over HTTP.
    """

    def __init__(self) -> None:
        protocol = next(filter(None, map(foreign_variable, PROTOCOLS)), "http/protobuf")
        if protocol != "http/protobuf":
            raise SettingsError(
                f"OTEL_EXPORTER_OTLP_PROTOCOL is {protocol}, and traces are sent as http/protobuf only.",
                "Unset it, and name the collector's HTTP address (usually port 4318).",
            )
        named = Resource.create({"service.name": NAME, "service.version": VERSION})
        # What the environment names wins.
        named = named.merge(OTELResourceDetector().detect())
        self._provider = TracerProvider(resource=named, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer(NAME, VERSION)
        self._content = foreign_variable(CONTENT).lower() in {"true", "span_only", "span_and_event"}

    def trace(self, headers: Mapping[str, str]) -> "Trace":
        """Return the trace of a request, which has not begun; `headers` may name one that it goes on with."""
        return Trace(self._tracer, propagate.extract(headers), content=self._content)

    def close(self) -> None:
        """Send what waits, and stop; blocks."""
        self._provider.shutdown()


class Trace:
    """The spans of one request: the question, below it the stages, below these the calls of language models.

    Args:
        tracer: makes spans.
        caller: the trace of who asks.
        content: spans hold questions, prompts and answers.
    """

    def __init__(self, tracer: trace.Tracer, caller: Context, *, content: bool) -> None:
        self._tracer = tracer
        self._caller = caller
        self._content = content
        self._root: Span | None = None

    @property
    def id(self) -> str | None:
        """32 hex digits; None before it has begun."""
        return None if self._root is None else trace.format_trace_id(self._root.get_span_context().trace_id)

    def begin(self) -> None:
        """Begin with the question, unless that was done."""
        if self._root is None:
            facts = {OPERATION: "invoke_workflow", "gen_ai.agent.name": NAME, KIND: "CHAIN"}
            self._root = self._tracer.start_span("question", self._caller, SpanKind.SERVER, facts)

    def answered(self, question: str, answer: str) -> None:
        """Note both texts, if they are wanted."""
        if self._root is not None and self._content:
            self._root.set_attributes(_texts([("user", question)], answer))

    def end(self, facts: Mapping[str, Any], failure: str | None) -> None:
        """End the question's span with these attributes, and the code of the error that it ended with, if it did."""
        if self._root is not None:
            self._root.set_attributes(dict(facts))
            if failure is not None:
                _fail(self._root, failure)
            self._root.end()

    @contextmanager
    def part(self, name: str, corpus: str | None) -> Iterator[None]:
        """Trace a stage."""
        facts = {KIND: "CHAIN"}
        if name == "search":
            facts = {KIND: "RETRIEVER", OPERATION: "retrieval", "gen_ai.data_source.id": corpus or ""}
        with self._span(name, SpanKind.INTERNAL, facts) as span:
            token = _PARENT.set(trace.set_span_in_context(span))
            try:
                yield
            finally:
                _PARENT.reset(token)

    @contextmanager
    def model_call(self, call: ModelCall) -> Iterator[None]:
        """Trace a call of a language model."""
        facts = {
            OPERATION: "chat",
            "gen_ai.provider.name": call.provider,
            "gen_ai.request.model": call.model,
            "gen_ai.request.stream": True,
            KIND: "LLM",
        }
        kind = SpanKind.CLIENT if call.count is None else SpanKind.INTERNAL
        with self._span(f"chat {call.model}", kind, facts) as span:
            try:
                yield
            finally:
                for name, tokens in (("input", call.input_tokens), ("output", call.output_tokens)):
                    if tokens is not None:
                        span.set_attribute(f"gen_ai.usage.{name}_tokens", tokens)
                if self._content:
                    span.set_attributes(_texts(call.messages, call.reply))

    @contextmanager
    def _span(self, name: str, kind: SpanKind, facts: Mapping[str, Any]) -> Iterator[Span]:
        if self._root is None:  # work that belongs to no question
            yield trace.INVALID_SPAN
            return
        parent = _PARENT.get() or trace.set_span_in_context(self._root)
        span = self._tracer.start_span(name, parent, kind, dict(facts))
        try:
            yield span
        except Exception as error:
            _fail(span, error.code if isinstance(error, RagError) else type(error).__qualname__)
            raise
        finally:
            span.end()


def _fail(span: Span, kind: str) -> None:
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR))


def _texts(messages: Sequence[tuple[str, str]], reply: str) -> dict[str, str]:
    asked = [{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in messages]
    said = {"role": "assistant", "parts": [{"type": "text", "content": reply}], "finish_reason": "stop"}
    return {"gen_ai.input.messages": _json(asked), "gen_ai.output.messages": _json([said])}


def _json(value: object) -> str:
    # Escaped, because a question may hold lone surrogates, which UTF-8 cannot carry.
    return json.dumps(value)
