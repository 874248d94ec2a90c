"""A service is started on a port of its own, and ends with the block."""

import signal
from pathlib import Path

import httpx
import pytest

from eval.rehearsal.command import ServiceEndedError, started

SERVER = """
import os
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(os.environ["RAG_INDEX__CORPUS"].encode())

HTTPServer((os.environ["RAG_SERVE__HOST"], int(os.environ["RAG_SERVE__PORT"])), Handler).serve_forever()
"""


def test_it_is_up_inside_the_block_and_down_after_it(tmp_path: Path) -> None:
    program = tmp_path / "server.py"
    program.write_text(SERVER)

    with started([program], tmp_path / "log", RAG_INDEX__CORPUS="mine") as url:
        assert httpx.get(f"{url}/health", trust_env=False).text == "mine"

    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/health", trust_env=False)


def test_a_caller_that_is_asked_to_stop_leaves_no_service_behind(tmp_path: Path) -> None:
    program = tmp_path / "server.py"
    program.write_text(SERVER)

    with pytest.raises(SystemExit), started([program], tmp_path / "log", RAG_INDEX__CORPUS="mine") as url:
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/health", trust_env=False)


def test_one_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    program = tmp_path / "server.py"
    program.write_text("import sys; sys.exit('The index is locked')")

    with (
        pytest.raises(ServiceEndedError, match="exit code 1: The index is locked"),
        started([program], tmp_path / "log"),
    ):
        pass
