"""Systems are asked in turn; the service by several threads; the table says what came out."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Barrier, Thread

import numpy as np
import pytest

from bench.made_corpora import moved
from bench.speed.clients import RefusedError
from bench.speed.latency import Ask, Measured, Times, ask_in_turn, requests_per_s, table
from bench.speed.worker import answers
from tests.fakes.tables import plain_rows


def test_systems_take_turns_question_by_question_after_a_warm_up() -> None:
    asked: list[tuple[str, str]] = []
    times = {"stock": Times(documents=1), "ours": Times(documents=1, leaves=2)}

    def noting(name: str) -> Ask:
        def ask(question: str) -> float:
            asked.append((name, question))
            return float(len(asked))

        return ask

    ask_in_turn({name: noting(name) for name in times}, times, ["q1", "q2"], rounds=2)

    warm_up = [("stock", "q1"), ("ours", "q1"), ("stock", "q2"), ("ours", "q2")]
    timed = [("stock", "q1"), ("ours", "q1"), ("ours", "q2"), ("stock", "q2")]
    assert asked == warm_up + timed * 2
    assert times["stock"].ms == [5, 8, 9, 12]


def test_a_worker_answers_each_line_with_what_the_retrieval_took() -> None:
    asked: list[str] = []

    given = answers(io.StringIO('"Why?"\n'), asked.append)

    assert [float(line) >= 0 for line in given] == [True]
    assert asked == ["Why?"]


@contextmanager
def service(status: int, together: Barrier) -> Iterator[str]:
    """A service that answers with `status` once so many requests have come as the barrier waits for."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            together.wait(timeout=10)
            self.send_response(status)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: object) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_clients_ask_at_the_same_time() -> None:
    with service(200, Barrier(3)) as url:
        assert requests_per_s(url, ["q1", "q2"], clients=3) > 0


def test_a_refused_question_ends_the_measurement() -> None:
    with service(503, Barrier(1)) as url, pytest.raises(RefusedError, match=r"was not answered: 503: \{\}"):
        requests_per_s(url, ["q1"], clients=1)


def test_the_table_has_both_systems_and_throughput() -> None:
    systems = {"stock": Times(10, ms=[20.0, 20.0, 20.0]), "ours": Times(10, 100, ms=[10.0, 10.0, 16.0])}

    lines = plain_rows(table([Measured("set", systems, {2: {1: [50.0], 8: [80.0, 90.0, 99.0]}})]))

    assert lines[0] == "| set | measure | stock | ours | better |"
    assert "| set | leaves | – | 100 | – |" in lines
    assert "| set | one retrieval, p50, ms | 20.0 | 10.0 | ×2.00 |" in lines
    assert "| set | one retrieval, p95, ms | 20.0 | 15.4 | ×1.30 |" in lines
    assert "| set | `/retrieve`, workers: 2, clients: 8, 1/s | – | 90.00 | – |" in lines


def test_a_moved_vector_stays_near_and_of_unit_length() -> None:
    vectors = np.eye(4, 384, dtype=np.float32)

    near = moved(vectors, np.random.default_rng(1))

    assert np.allclose(np.linalg.norm(near, axis=1), 1)
    assert np.all(((near * vectors).sum(axis=1) > 0.85) & ((near * vectors).sum(axis=1) < 0.95))
