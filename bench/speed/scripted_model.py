"""A language model server that writes the same words at a set pace, for measurements of what reads along.

Flow: `page.py` starts **here** -> the measured service asks it as any OpenAI-compatible server.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

NAME = "scripted"


@contextmanager
def scripted_model(text: str, words_per_s: float) -> Iterator[str]:
    """Serve on a free loopback port; yield what goes into `RAG_LLM__BASE_URL`.

    Args:
        text: every answer, sent word by word.
        words_per_s: more than 0.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply({"object": "list", "data": [{"id": NAME, "object": "model"}]})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not request.get("stream"):
                message = {"role": "assistant", "content": text}
                self._reply(_body("chat.completion", {"message": message, "finish_reason": "stop"}))
                return
            self._head("text/event-stream")
            # Who has read enough leaves.
            with suppress(ConnectionError):
                self._stream()

        def _stream(self) -> None:
            for place, word in enumerate(text.split(" ")):
                self._send({"delta": {"content": word if place == 0 else f" {word}"}, "finish_reason": None})
                time.sleep(1 / words_per_s)
            self._send({"delta": {}, "finish_reason": "stop"})
            self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, *_: object) -> None:
            """Say nothing: stderr holds the measurement's progress."""

        def _send(self, choice: dict[str, Any]) -> None:
            self.wfile.write(f"data: {json.dumps(_body('chat.completion.chunk', choice))}\n\n".encode())
            self.wfile.flush()

        def _reply(self, body: dict[str, Any]) -> None:
            self._head("application/json")
            self.wfile.write(json.dumps(body).encode())

        def _head(self, content_type: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", content_type)
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, name="scripted-model", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _body(kind: str, choice: dict[str, Any]) -> dict[str, Any]:
    return {"id": "1", "object": kind, "created": 0, "model": NAME, "choices": [{"index": 0, **choice}]}
