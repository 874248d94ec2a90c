"""Watch each request: what is asked, of which corpus, who answered, in which stages, with which model.

Flow: `middleware.py` opens a `RequestWatch` -> `answering/runner.py` and `query_engine/runtime/watching.py` tell it ->
`metrics.py`, and `tracing.py` where traces are wanted; the middleware writes its line from what was noted.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from api.telemetry.metrics import Metrics
from errors import RagError, packages_for
from query_engine.runtime.watching import WATCH, ModelCall
from query_engine.schema.events import Done, Event
from settings import foreign_variable

if TYPE_CHECKING:  # loaded only where traces are wanted
    from api.telemetry.tracing import Trace, Tracing

ADDRESSES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
INSTALL_OTEL = "Install it by `pip install -e '.[otel]' -c constraints.txt`, or set OTEL_SDK_DISABLED=true."


class RequestWatch:
    """What is known of one request. Threads may tell it at the same time: each fact has one teller.

    Attributes:
        question, corpus, author, reason: what was asked, of which corpus, who answered, and the gate's reason; None
            as long as that is not known, and where there is none.
        kept: the answer was given before and kept.
        failure: code of the error that the answer broke off with; None if it did not.
    """

    def __init__(self, metrics: Metrics, trace: "Trace | None") -> None:
        self._metrics = metrics
        self._trace = trace
        self.question: str | None = None
        self.corpus: str | None = None
        self.author: str | None = None
        self.reason: str | None = None
        self.kept = False
        self.failure: str | None = None

    @property
    def trace_id(self) -> str | None:
        """Names the request's trace, 32 hex digits; None if there is none."""
        return None if self._trace is None else self._trace.id

    def asked(self, question: str) -> None:
        """Keep the question; of several, as of a report's parts, the first."""
        self.question = self.question or question

    def answering(self, corpus: str) -> None:
        """Learn that an answer from `corpus` is about to begin."""
        self.corpus = corpus
        if self._trace is not None:
            self._trace.begin()

    def note(self, event: Event) -> None:
        """Learn the next event of the answer."""
        if isinstance(event, Done):
            self.author, self.reason, self.kept = event.synthesizer, event.gate_reason, event.cache_hit
            self._metrics.answer(event)
            if self._trace is not None:
                self._trace.answered(self.question or "", event.message)

    def failed(self, error: Exception) -> None:
        """Learn that the answer broke off."""
        self.failure = _code_of(error)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Watch a stage."""
        started = time.perf_counter()
        try:
            with nullcontext() if self._trace is None else self._trace.part(name, self.corpus):
                yield
        finally:
            self._metrics.stage(name, time.perf_counter() - started)

    @contextmanager
    def model_call(self, call: ModelCall) -> Iterator[None]:
        """Watch a call of a language model."""
        started, outcome = time.perf_counter(), "ok"
        try:
            with nullcontext() if self._trace is None else self._trace.model_call(call):
                try:
                    yield
                finally:
                    _count_tokens(call)
        except Exception as error:
            outcome = _code_of(error)
            raise
        finally:
            self._metrics.model_call(call, time.perf_counter() - started, outcome)

    def close(self) -> None:
        """End the trace."""
        if self._trace is not None:
            facts = {"corpus": self.corpus, "author": self.author, "reason": self.reason, "kept": self.kept}
            known = {f"treeline.{name}": value for name, value in facts.items() if value is not None}
            self._trace.end(known, self.failure)


class Watching:
    """Watches the requests of a service.

    Raises:
        ModelError: traces are wanted, and their packages are not installed.
        SettingsError: traces are wanted in a form that is not sent.
    """

    def __init__(self) -> None:
        self.metrics = Metrics()
        self._tracing = _tracing()

    @contextmanager
    def request(self, headers: Mapping[str, str] | None = None) -> Iterator[RequestWatch]:
        """Watch what is done in the `with` block, and in the threads that begin in it.

        Args:
            headers: may name the trace that the request belongs to.
        """
        watch = RequestWatch(self.metrics, None if self._tracing is None else self._tracing.trace(headers or {}))
        token = WATCH.set(watch)
        try:
            yield watch
        finally:
            WATCH.reset(token)
            watch.close()

    def close(self) -> None:
        """Send the traces that wait; blocks, for seconds where nobody takes them."""
        if self._tracing is not None:
            self._tracing.close()


def current_watch() -> RequestWatch | None:
    """Return the watch of the request that is being answered; None where nobody watches."""
    watch = WATCH.get()
    return watch if isinstance(watch, RequestWatch) else None


def _tracing() -> "Tracing | None":
    """Return what sends traces, if the environment names an address for them."""
    wanted = any(map(foreign_variable, ADDRESSES)) and foreign_variable("OTEL_TRACES_EXPORTER") != "none"
    if not wanted or foreign_variable("OTEL_SDK_DISABLED").lower() == "true":
        return None
    with packages_for("OTEL_EXPORTER_OTLP_ENDPOINT", INSTALL_OTEL):
        from api.telemetry.tracing import Tracing  # noqa: PLC0415  # optional
    return Tracing()


def _code_of(error: Exception) -> str:
    return error.code if isinstance(error, RagError) else "internal"


def _count_tokens(call: ModelCall) -> None:
    if call.count is not None and call.input_tokens is None:
        call.input_tokens, call.output_tokens = call.count(call.prompt), call.count(call.reply)
