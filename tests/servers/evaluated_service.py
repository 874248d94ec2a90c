"""A service with `POST /evaluate` that does what a script says: answers, declines, fails, lies, breaks off.

    with EvaluatedService(lambda asked, call: a_reply(asked)) as service:
        ask(service.url)
    assert service.asked == ["q1"]

It listens on a free loopback port, in separate threads. It has none of Treeline's other routes.
"""

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from tests.servers.threaded import QuietHandler, ThreadedServer

Asked = dict[str, Any]
"""The body that was sent."""


class Reply:
    """What is sent back.

    Args:
        body: JSON-ready values, or bytes to be sent as they are; None breaks the connection off.
        status: of HTTP.
        headers: extra ones.
    """

    def __init__(self, body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self.body = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        self.status = status
        self.headers = dict(headers or {})


Script = Callable[[Asked, int], Reply]
"""The body, and how often this question was asked before -> the reply."""


def a_reply(asked: Asked, text: str | None = None, **extra: Any) -> Reply:
    """Return what a stranger's service says: the two keys that the competition wants."""
    return Reply({"query_id": asked["iid"], "generated_response": text or f"Answer to {asked['query']}", **extra})


class EvaluatedService(ThreadedServer):
    """The running service; a context manager that ends it.

    Attributes:
        asked: the ids, in the order in which they were asked.
        keys: the Authorization headers that came, of every request.
    """

    def __init__(self, script: Script) -> None:
        self.asked: list[str] = []
        self.keys: set[str | None] = set()
        self._lock = threading.Lock()

        class Handler(QuietHandler):
            def do_POST(handler) -> None:
                body = handler.rfile.read(int(handler.headers["Content-Length"]))
                if not body:
                    return  # the client was killed
                asked = json.loads(body)
                self.keys.add(handler.headers["Authorization"])
                with self._lock:
                    before = self.asked.count(asked["iid"])
                    self.asked.append(asked["iid"])
                _send(handler, script(asked, before) if handler.path == "/evaluate" else Reply({}, 404))

            def do_GET(handler) -> None:
                self.keys.add(handler.headers["Authorization"])
                _send(handler, Reply({}, 404))

        super().__init__(Handler)


def _send(handler: QuietHandler, reply: Reply) -> None:
    if reply.body is None:
        handler.close_connection = True
        return
    with suppress(ConnectionError):  # the client was killed
        handler.reply(reply.status, reply.body, **reply.headers)
