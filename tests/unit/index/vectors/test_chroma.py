"""What is used of Chroma beyond its documented interface is still there."""

from contextlib import closing
from pathlib import Path

import httpx
import numpy as np
import pytest
from chromadb.api.client import Client
from chromadb.api.fastapi import FastAPI
from chromadb.config import Settings, System
from chromadb.errors import InternalError
from tenacity import stop_after_attempt

from errors import StorageError
from index.vectors import chroma
from index.vectors.chroma import _connections, open_in_memory

SETTINGS = Settings(
    anonymized_telemetry=False,
    chroma_api_impl="chromadb.api.fastapi.FastAPI",
    chroma_server_host="localhost",
    chroma_server_http_port=1,
)


def test_the_connections_of_chromas_client_are_found_and_all_it_sends_goes_through_them() -> None:
    server = System(SETTINGS).instance(FastAPI)
    sent: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.url.path)
        return httpx.Response(200, json={"nanosecond heartbeat": 1})

    connections = _connections(server)
    assert connections.timeout == httpx.Timeout(None)  # Chroma's own; if it set a bound, ours could go
    connections._transport = httpx.MockTransport(answer)
    server.heartbeat()

    assert sent == ["/api/v2/heartbeat"]


def test_an_embedded_store_takes_few_vectors_a_call_because_nothing_else_runs_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with closing(open_in_memory()) as collection:
        taken: list[int] = []
        monkeypatch.setattr(collection.raw, "upsert", lambda **rows: taken.append(len(rows["ids"])))
        collection.upsert([f"v.{row}" for row in range(100)], np.ones((100, 2), np.float32))

    assert taken == [32, 32, 32, 4]


def test_a_release_that_keeps_them_elsewhere_is_told() -> None:
    with pytest.raises(TypeError, match="no wait can be bounded"):
        _connections(object())  # type: ignore[arg-type]


def test_a_store_that_another_process_locks_for_a_moment_is_opened_when_it_lets_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chroma.open_embedded.retry, "sleep", lambda _: None)  # type: ignore[attr-defined]
    opened = chroma._embedded_client
    refusals = iter([InternalError("Database error: (code: 5) database is locked")] * 2)

    def client(folder: Path) -> Client:
        if refusal := next(refusals, None):
            raise refusal
        return opened(folder)

    monkeypatch.setattr(chroma, "_embedded_client", client)
    collection = chroma.open_embedded(tmp_path)

    assert collection.count() == 0
    collection.close()


def test_a_store_that_stays_locked_is_told_as_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(_: Path) -> Client:
        raise InternalError("Database error: (code: 5) database is locked")

    monkeypatch.setattr(chroma, "_embedded_client", locked)
    monkeypatch.setattr(chroma.open_embedded.retry, "stop", stop_after_attempt(1))  # type: ignore[attr-defined]
    with pytest.raises(StorageError, match="is locked by another process"):
        chroma.open_embedded(tmp_path)
