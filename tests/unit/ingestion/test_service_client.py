"""A command that hands its work to a service: what it asks, what it shows, how it ends."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from ingestion.schema import Progress, RunOptions, Summary
from ingestion.service_client import ServiceClient
from settings import ServeSettings
from tests.failing import failing

PROGRESS = {
    **{"source": "a.md", "outcome": "new", "reason": None, "files": 1, "files_total": 2, "bytes": 5, "bytes_total": 9},
    **{"documents": 1, "leaves": 3, "elapsed_s": 1.0, "leaves_per_s": 3.0, "eta_s": None},
}
RESULT = {**Summary("books", new=2, leaves=6).to_dict(), "docs_total": 2, "skipped_total": 0}


class Service:
    """Answers as the service does: a job that is looked at, and ends after the given states."""

    def __init__(self, *states: dict[str, Any]) -> None:
        self.asked: list[tuple[str, str, Any]] = []
        self._states = list(states)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append((request.method, request.url.path, json.loads(request.content or b"null")))
        if request.method == "POST":
            return httpx.Response(202, json=job("queued"))
        return httpx.Response(200, json=self._states.pop(0) if request.method == "GET" else job("running"))


def job(state: str, **values: Any) -> dict[str, Any]:
    return {"job": "j1", "state": state, "progress": None, "error": None, "result": None, **values}


def client(answer: Callable[[httpx.Request], httpx.Response]) -> ServiceClient:
    return ServiceClient("http://service", transport=httpx.MockTransport(answer), poll_s=0)


def ingest(service: ServiceClient, tell: Callable[[Progress], None] = lambda _: None, **options: Any) -> Summary:
    with service:
        return service.ingest(Path("/docs"), "books", RunOptions(**options), on_progress=tell, stop=threading.Event())


def test_the_service_is_asked_for_what_the_command_was_asked_for() -> None:
    service = Service(job("done", result=RESULT))

    options: dict[str, Any] = {
        "root_name": "r",
        "metadata": {"year": 2024},
        "limit": 3,
        "dry_run": True,
        "files": ("a.md",),
    }
    summary = ingest(client(service), **options)

    assert summary == Summary("books", new=2, leaves=6)
    asked = {"path": "/docs", "corpus": "books", "root": "r", "metadata": {"year": 2024}, "limit": 3, "dry_run": True}
    asked["files"] = ["a.md"]
    assert service.asked[0] == ("POST", "/ingest", asked | {"wait": False})


def test_the_first_key_is_sent_if_there_is_one() -> None:
    sent: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers.get("authorization"))
        return httpx.Response(200, json={"documents": [], "next": None})

    for serve in (ServeSettings(), ServeSettings(keys=SecretStr("the-first-key-of-all,the-second-key-of-all"))):
        with ServiceClient("http://service", serve.key_headers(), transport=httpx.MockTransport(answer)) as service:
            service.documents("books", 10, None, None)

    assert sent == [None, "Bearer the-first-key-of-all"]


def test_progress_is_told_once_and_without_a_single_files_outcome() -> None:
    told: list[Progress] = []
    running = job("running", progress=PROGRESS)

    ingest(client(Service(running, running, job("done", progress=PROGRESS, result=RESULT))), told.append)

    assert told == [Progress("a.md", None, None, 1, 2, 5, 9, 1, 3)]


def test_a_stop_cancels_the_job_and_waits_for_its_end() -> None:
    stop = threading.Event()
    stop.set()
    stopped = {**RESULT, "stopped": True}
    service = Service(job("running", cancelling=True), job("cancelled", result=stopped))

    with client(service) as asked:
        summary = asked.retry_failed("books", on_progress=lambda _: None, stop=stop)

    assert summary.stopped
    assert [method for method, _, _ in service.asked] == ["POST", "DELETE", "GET", "GET"]


def test_a_job_that_never_began_counts_as_stopped() -> None:
    assert ingest(client(Service(job("cancelled")))) == Summary("books", stopped=True)


def test_a_failed_job_says_why() -> None:
    failed = job("failed", error={"code": "storage_full", "detail": "The disk is full. Make room."})

    with failing("service_error", match=r"http://service.* says storage_full: The disk is full. Make room."):
        ingest(client(Service(failed)))


def test_a_refusal_is_shown_with_its_remedy() -> None:
    refusal = {"error": {"code": "ingest_refused", "detail": "/docs lies outside. Set RAG_INGEST__ROOT."}}

    with failing("service_error", match=r"says ingest_refused: /docs lies outside. Set RAG_INGEST__ROOT."):
        ingest(client(lambda _request: httpx.Response(403, json=refusal)))


def test_a_service_that_is_gone_is_told() -> None:
    def gone(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with failing("service_error", match="does not answer"):
        ingest(client(gone))


@pytest.mark.parametrize("body", [b"<html>", b"[" * 100_000], ids=["no JSON", "JSON nested too deeply"])
def test_a_service_of_another_kind_is_told(body: bytes) -> None:
    with failing("service_error", match="does not answer"):
        ingest(client(lambda _request: httpx.Response(200, content=body)))
