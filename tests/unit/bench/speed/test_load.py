"""Each question is asked once and read to its end; what was not answered is told; the table says what came out."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Barrier, Event, Thread

import pytest

from bench.speed.load import Load, Measured, ask_and_time, split_warm_up, table
from eval.asking.target import NoReplyError
from tests.fakes.tables import plain_rows

THINKING: dict[str, object] = {"final_report": None, "complete": False}
WHOLE: dict[str, object] = {"final_report": "So.", "complete": True}
FAILED: dict[str, object] = {"final_report": "No.", "complete": True, "error": "It broke."}


@contextmanager
def service(
    records: Sequence[dict[str, object]], together: int = 1, status: int = 200
) -> Iterator[tuple[str, list[str]]]:
    """Stream these records once so many requests have come; yield the address, and what was asked."""
    barrier, asked = Barrier(together), []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"])))["question"])
            barrier.wait(timeout=10)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b": ping\r\n\r\n")
            for record in records:
                self.wfile.write(f"data: {json.dumps(record)}\r\n\r\n".encode())
                self.wfile.flush()
                Event().wait(0.01)

        def log_message(self, format: str, *args: object) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


def test_clients_share_the_questions_and_ask_at_the_same_time() -> None:
    load = Load()

    with service([THINKING, WHOLE], together=2) as (url, asked):
        ask_and_time(url, ["q1", "q2", "q3", "q4"], 2, load)

    assert sorted(asked) == ["q1", "q2", "q3", "q4"]
    assert len(load.first_ms) == len(load.complete_ms) == 4
    assert all(0 < first < whole for first, whole in zip(load.first_ms, load.complete_ms, strict=True))
    assert load.per_s[0] > 0


@pytest.mark.parametrize(
    ("records", "status", "told"),
    [
        ([THINKING], 200, "The stream holds no answer"),
        ([{**WHOLE, "complete": False}], 200, "The stream ended without a record that says it is complete"),
        ([], 200, "The stream holds no answer"),
        ([THINKING, FAILED], 200, "It broke."),
        ([], 429, "status 429"),
    ],
    ids=["cut", "unfinished", "empty", "failed", "refused"],
)
def test_an_answer_that_does_not_come_ends_the_measurement(
    records: list[dict[str, object]], status: int, told: str
) -> None:
    with service(records, status=status) as (url, _), pytest.raises(NoReplyError, match=told):
        ask_and_time(url, ["q1"], 1, Load())


def test_the_first_tenth_warms_up_and_is_not_timed() -> None:
    questions = [f"q{number}" for number in range(20)]

    assert split_warm_up(questions) == (questions[:2], questions[2:])
    assert split_warm_up(["q1", "q2"]) == (["q1"], ["q2"])
    assert split_warm_up(["q1"]) == (["q1"], ["q1"])


def test_the_table_compares_several_workers_and_clients_with_one_of_one() -> None:
    one = Load([2.0, 4.0], [50.0, 70.0], [16.0])
    several = Load([8.0, 8.0], [300.0, 300.0], [20.0, 24.0, 28.0])

    lines = plain_rows(table([Measured("set", 2, {1: {1: one}, 2: {1: one, 8: several}})]))

    assert lines[1] == "| set | 1 | 1 | 16.00 | ×1.00 | 60 | 69 | ×1.15 | 3.9 |"
    assert lines[3] == "| set | 2 | 8 | 24.00 | ×1.50 | 300 | 300 | ×5.00 | 8.0 |"
    assert len({line.count("|") for line in lines}) == 1
