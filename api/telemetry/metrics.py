"""The numbers of a service, as Prometheus reads them. `docs/operations.md` says what each one is for.

Flow: `requests.py`, the queue, the cache and the jobs tell **this** -> `GET /metrics`. Labels hold routes, stages,
codes and names from the settings, never anything that a client made up.

Where `PROMETHEUS_MULTIPROC_DIR` is set, each worker writes its numbers into that folder, and whichever one is asked
returns the sum, and of corpora and models what was last noted; `workers.py` keeps the folder in order.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, disable_created_metrics
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from api.jobs.queue import Result
from api.telemetry.workers import shared_folder
from errors import StorageError
from query_engine.runtime.watching import ModelCall
from query_engine.schema.events import Done
from settings import VERSION

METHODS = frozenset("GET HEAD POST PUT PATCH DELETE OPTIONS".split())
NO_ROUTE = "none"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
INGESTION_SECONDS = (1, 5, 15, 60, 300, 900, 3600, 14400, 86400)
# Of `Done.timings_ms`: stages that have no event of their own.
TIMED = ("fetch", "expand", "rerank")

disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """The numbers of one application; safe from many threads."""

    def __init__(self) -> None:
        self._shared = shared_folder()
        own = self._own = CollectorRegistry()
        model = ("provider", "model")
        self._requests = Counter("treeline_http_requests", "Requests.", ("method", "route", "status"), registry=own)
        self._request_s = Histogram(
            "treeline_http_request_seconds",
            "From a request's headers to the end of its reply, streams included.",
            ("route",),
            registry=own,
            buckets=SECONDS,
        )
        self._errors = Counter("treeline_errors", "Replies that tell an error, by its code.", ("code",), registry=own)
        self._answers = Counter(
            "treeline_answers", "Answers; without `generated_answer` declined.", ("reason", "author"), registry=own
        )
        self._stage_s = Histogram(
            "treeline_stage_seconds", "Stages of questions.", ("stage",), registry=own, buckets=SECONDS
        )
        self._lookups = Counter("treeline_cache_lookups", "Looked up earlier answers.", ("result",), registry=own)
        self._calls = Counter("treeline_model_calls", "Language model calls.", (*model, "outcome"), registry=own)
        self._call_s = Histogram(
            "treeline_model_seconds", "Language model calls.", model, registry=own, buckets=SECONDS
        )
        self._tokens = Counter("treeline_model_tokens", "Tokens, where known.", (*model, "direction"), registry=own)
        self._ingestions = Counter("treeline_ingestions", "Ingestion jobs that ended.", ("outcome",), registry=own)
        self._ingestion_s = Histogram(
            "treeline_ingestion_seconds", "Ingestion jobs that ended.", registry=own, buckets=INGESTION_SECONDS
        )
        self._documents = Counter("treeline_ingested_documents", "New, changed or failed.", ("outcome",), registry=own)
        self._leaves = Counter("treeline_ingested_leaves", "Leaves of new and changed documents.", registry=own)
        self._running = self._level("treeline_questions_running", "Questions that hold a slot.")
        self._waiting = self._level("treeline_questions_waiting", "Questions in line for a slot.")
        self._slots = self._level("treeline_slots", "Questions that may run at once.")
        self._places = self._level("treeline_queue_places", "Questions that may wait.")
        self._of_corpora = {
            name: self._state(f"treeline_corpus_{name}", about, "corpus")
            for name, about in (
                ("documents", "Documents of an open corpus."),
                ("leaves", "Leaves of an open corpus."),
                ("generation", "Number of the state of a corpus that is read; each commit raises it."),
            )
        }
        self._refused = self._state("treeline_corpora_refused", "Corpora that could not be opened.")
        self._ready = self._state("treeline_model_ready", "1 unless the language model's last answer failed.")
        self._noted: dict[tuple[Gauge, tuple[str, ...]], float] = {}
        # A counter that begins with its first event hides that event from `increase`.
        for counter, values in (
            (self._errors, (StorageError.code, "too_many_questions")),
            (self._lookups, ("hit", "miss")),
            (self._ingestions, ("done", "stopped", "failed")),
        ):
            for value in values:
                counter.labels(value)

    def request(self, method: str, route: str | None, status: int, seconds: float, error: str | None) -> None:
        """Count a request that has ended.

        Args:
            method: as it was sent.
            route: template of its route; None if there is none.
            status: of the reply.
            seconds: that it took.
            error: code of the error that the reply tells.
        """
        route = route or NO_ROUTE
        self._requests.labels(method if method in METHODS else "other", route, str(status)).inc()
        self._request_s.labels(route).observe(seconds)
        if error is not None:
            self._errors.labels(error).inc()

    def answer(self, done: Done) -> None:
        """Count an answer, kept ones included."""
        self._answers.labels(done.gate_reason, done.synthesizer or "none").inc()
        for name in TIMED:
            if name in done.timings_ms:
                self.stage(name, done.timings_ms[name] / 1000)

    def stage(self, name: str, seconds: float) -> None:
        """Count a stage of a question."""
        self._stage_s.labels(name).observe(seconds)

    def lookup(self, *, found: bool) -> None:
        """Count a look for an earlier answer."""
        self._lookups.labels("hit" if found else "miss").inc()

    def model_call(self, call: ModelCall, seconds: float, outcome: str) -> None:
        """Count a call of a language model; the outcome is `ok` or an error's code."""
        self._calls.labels(call.provider, call.model, outcome).inc()
        self._call_s.labels(call.provider, call.model).observe(seconds)
        for direction, tokens in (("input", call.input_tokens), ("output", call.output_tokens)):
            if tokens is not None:
                self._tokens.labels(call.provider, call.model, direction).inc(tokens)

    def ingestion(self, work: Callable[[], Result]) -> Result:
        """Count what an ingestion does, and return it; what it raises is raised."""
        started, outcome = time.perf_counter(), "failed"
        try:
            result = work()
            outcome = "stopped" if result["stopped"] else "done"
        finally:
            self._ingestions.labels(outcome).inc()
            self._ingestion_s.observe(time.perf_counter() - started)
        if not result["dry_run"]:
            self._documents.labels("done").inc(result["new"] + result["changed"])
            self._documents.labels("failed").inc(result["docs_failed"])
            self._leaves.inc(result["leaves"])
        return result

    def queue(self, running: int, waiting: int, slots: int, places: int) -> None:
        """Note how many questions run and wait, and how many may."""
        levels = (self._running, running), (self._waiting, waiting), (self._slots, slots), (self._places, places)
        for level, value in levels:
            level.set(value)

    def exposition(self, status: Mapping[str, Any], accept: str) -> tuple[bytes, str]:
        """Return everything, and its media type; blocks for milliseconds.

        Args:
            status: of corpora and models, see `Engines.status`.
            accept: the forms that the client takes.
        """
        self._note(status)
        registry = CollectorRegistry()
        if self._shared:
            MultiProcessCollector(registry, str(self._shared))  # type: ignore[no-untyped-call]
        else:
            registry.register(self._own)
            ProcessCollector(registry=registry)
        registry.register(_Info(status))
        encode, media_type = choose_encoder(accept)
        return encode(registry), media_type

    def _note(self, status: Mapping[str, Any]) -> None:
        """Write down what has changed since this worker last looked: another one may have seen more since."""
        now: dict[tuple[Gauge, tuple[str, ...]], float] = {
            (gauge, (corpus,)): facts[name]
            for corpus, facts in status["corpora"].items()
            for name, gauge in self._of_corpora.items()
            if name in facts
        }
        now[self._refused, ()], now[self._ready, ()] = len(status["refused"]), status["llm_ready"]
        for (gauge, labels), value in now.items():
            if self._noted.get((gauge, labels)) != value:
                (gauge.labels(*labels) if labels else gauge).set(value)
        if not self._shared:  # another worker may have open what this one has closed
            for gauge, labels in self._noted.keys() - now.keys():
                gauge.remove(*labels)
        self._noted = now

    def _state(self, name: str, about: str, *labels: str) -> Gauge:
        return Gauge(name, about, labels, registry=self._own, multiprocess_mode="livemostrecent")

    def _level(self, name: str, about: str) -> Gauge:
        return Gauge(name, about, registry=self._own, multiprocess_mode="livesum")


class _Info(Collector):
    """Release and models: the same in all workers."""

    def __init__(self, status: Mapping[str, Any]) -> None:
        self._status = status

    def collect(self) -> Iterable[Metric]:
        about = GaugeMetricFamily(
            "treeline_info", "Release and models.", labels=("version", "embedding", "synthesizer")
        )
        about.add_metric((VERSION, self._status["embedding"], self._status["synthesizer"]), 1)
        yield about
