"""A stand-in of an OpenTelemetry collector: takes spans as protobuf over HTTP.

with Collector() as collector:
    ...  # OTEL_EXPORTER_OTLP_ENDPOINT=collector.url
    assert collector.wait_for("question")
"""

import gzip
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

from tests.servers.threaded import QuietHandler, ThreadedServer


@dataclass(frozen=True)
class ReceivedSpan:
    """Attributes: ids are hex; `parent_id` is empty of a root; times in nanoseconds; `failed`: its status is error."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start_ns: int
    end_ns: int
    failed: bool
    facts: Mapping[str, Any]
    resource: Mapping[str, Any]


class Collector(ThreadedServer):
    """The server; a context manager.

    Attributes:
        spans: in the order in which they arrived.
        headers: of each request.
    """

    def __init__(self) -> None:
        self.spans: list[ReceivedSpan] = []
        self.headers: list[dict[str, str]] = []
        self._arrived = threading.Condition()
        collector = self

        class Handler(QuietHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                collector._take(self.path, dict(self.headers), body)
                self.reply(200, b"", content_type="application/x-protobuf")

        super().__init__(Handler)

    def wait_for(self, name: str, number: int = 1, timeout_s: float = 30) -> bool:
        """Wait until this many spans of a name have arrived, and say whether they have."""

        def enough() -> bool:
            return sum(span.name == name for span in self.spans) >= number

        with self._arrived:
            return self._arrived.wait_for(enough, timeout_s)

    def _take(self, path: str, headers: dict[str, str], body: bytes) -> None:
        assert path == "/v1/traces", path
        request = ExportTraceServiceRequest.FromString(body)
        found = [
            ReceivedSpan(
                span.trace_id.hex(),
                span.span_id.hex(),
                span.parent_span_id.hex(),
                span.name,
                span.start_time_unix_nano,
                span.end_time_unix_nano,
                span.status.code == 2,
                _values(span.attributes),
                _values(group.resource.attributes),
            )
            for group in request.resource_spans
            for scope in group.scope_spans
            for span in scope.spans
        ]
        with self._arrived:
            self.spans += found
            self.headers.append(headers)
            self._arrived.notify_all()


def _values(attributes: Any) -> dict[str, Any]:
    def value(pair: KeyValue) -> Any:
        kind = pair.value.WhichOneof("value")
        return getattr(pair.value, kind) if kind else None

    return {pair.key: value(pair) for pair in attributes}
