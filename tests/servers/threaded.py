"""What the scripted HTTP services share: threads behind a loopback port, and an end without a wait.

Flow: a handler of `http.server` -> **here** -> `url`. Servers whose connections break off in odd ways are written by
hand: `scripted_server.py`.
"""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class QuietHandler(BaseHTTPRequestHandler):
    """Writes no log, and sends whole bodies."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        """Send a reply; names of headers have `_` for `-`."""
        self.send_response(status)
        for name, value in {"content_length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)


class ThreadedServer:
    """A service on a loopback port; a context manager that ends it.

    Args:
        handler: answers; the service is its attribute `service`.
        port: to listen on; 0 takes a free one.
    """

    def __init__(self, handler: type[QuietHandler], port: int = 0) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", port), type("Handler", (handler,), {"service": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def serve(self) -> None:
        """Answer until the process ends."""
        self._server.serve_forever()
