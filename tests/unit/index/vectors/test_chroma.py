"""What is used of Chroma beyond its documented interface is still there."""

from contextlib import closing

import httpx
import numpy as np
import pytest
from chromadb.api.fastapi import FastAPI
from chromadb.config import Settings, System

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
    assert connections.timeout == httpx.Timeout(None)  # Chroma's own; with a bound of its own ours could go
    connections._transport = httpx.MockTransport(answer)
    server.heartbeat()

    assert sent == ["/api/v2/heartbeat"]


def test_an_embedded_store_takes_few_vectors_a_call_because_nothing_else_runs_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with closing(open_in_memory()) as collection:
        taken: list[int] = []
        monkeypatch.setattr(collection.raw, "upsert", lambda **rows: taken.append(len(rows["ids"])))
        collection.upsert([f"v.{row}" for row in range(100)], np.ones((100, 2), np.float32), ["v"] * 100)

    assert taken == [32, 32, 32, 4]


def test_a_release_that_keeps_them_elsewhere_is_told() -> None:
    with pytest.raises(TypeError, match="no wait can be bounded"):
        _connections(object())  # type: ignore[arg-type]
