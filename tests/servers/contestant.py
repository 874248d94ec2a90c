"""A competition service that keeps the contract, or breaks one rule of it.

    with Contestant(run=lambda question: good_stream()) as server:
        check(server.url)

It listens on a free loopback port, in its own thread.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tests.servers.threaded import QuietHandler, ThreadedServer

Record = dict[str, Any]


@dataclass(frozen=True)
class Sent:
    """A whole reply; `declared` bytes are promised where the body shall be cut short."""

    body: bytes
    status: int = 200
    content_type: str = "text/event-stream; charset=utf-8"
    declared: int | None = None


def record(steps: str | None, report: str | None, *, thinks: bool, complete: bool = False, **more: object) -> Record:
    """Return one record of a stream."""
    return {
        "intermediate_steps": steps,
        "final_report": report,
        "is_intermediate": thinks,
        "complete": complete,
        **more,
    }


def good_records() -> list[Record]:
    """Return a stream that keeps every rule."""
    steps = "**Searching**.|||---|||**Found** 2 passages."
    return [
        record("**Searching**.", None, thinks=True),
        record(steps, None, thinks=True),
        record(steps, "Heat pumps", thinks=False),
        record(steps, "Heat pumps move heat [1].", thinks=False),
        record(steps, "Heat pumps move heat [1].", thinks=False, complete=True, citations=["http://localhost/heat.md"]),
    ]


def stream_of(records: Iterable[Record]) -> bytes:
    """Return records as server-sent events."""
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in records)


def good_run(body: Record) -> Sent:
    """Answer `/run`, or refuse a body without a question."""
    if not isinstance(body.get("question"), str):
        return Sent(b'{"detail": "question is missing"}', 422, "application/json")
    return Sent(b": ping\n\n" + stream_of(good_records()))


def good_evaluate(body: Record) -> Sent:
    """Answer `/evaluate`, or refuse a body that is not whole."""
    if not {"query", "iid"} <= body.keys():
        return Sent(b'{"detail": "query and iid are required"}', 422, "application/json")
    reply = {"query_id": body["iid"], "generated_response": "Heat pumps move heat.", "citations": []}
    return Sent(json.dumps(reply).encode(), content_type="application/json")


def good_health() -> Sent:
    """Answer `/health`."""
    return Sent(b'{"status": "ok"}', content_type="application/json")


class Contestant(ThreadedServer):
    """The server; a context manager.

    Args:
        run, evaluate: make the reply to a POST from its JSON body.
        health: makes the reply to `GET /health`.
    """

    def __init__(
        self,
        run: Callable[[Record], Sent] = good_run,
        evaluate: Callable[[Record], Sent] = good_evaluate,
        health: Callable[[], Sent] = good_health,
    ) -> None:
        posts = {"/run": run, "/evaluate": evaluate}

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                self._send(health())

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                self._send(posts[self.path](json.loads(self.rfile.read(length))))

            def _send(self, sent: Sent) -> None:
                length = str(sent.declared or len(sent.body))
                self.reply(sent.status, sent.body, content_type=sent.content_type, content_length=length)

        super().__init__(Handler)
