"""Ask a service by several clients at once.

Flow: `latency.py` and `load.py` say what is asked, and read the replies -> **here**, threads and connections.
"""

import argparse
import http.client
import json
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from bench.arguments import add_count, add_sets
from bench.speed.process import READY_LIMIT_S
from errors import RagError
from eval.argument_types import whole_number

HTTP_TIMEOUT_S = 60
SHOWN_BYTES = 200
JSON = {"content-type": "application/json"}

Read = Callable[[http.client.HTTPResponse, float], None]
"""Reads a reply, given when its question was sent. Raises `HTTPException` if it is not an answer."""


class RefusedError(RagError):
    """The service did not answer a question, so its throughput means nothing."""

    code = "refused"


def add_load_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--data` and `--sets`, `--clients` and `--workers`, both lists of numbers, and `--rounds`."""
    add_sets(parser)
    counts: dict[str, Any] = {"type": whole_number, "nargs": "+", "metavar": "N"}
    parser.add_argument("--clients", default=[1, 2, 4, 8, 16], help="clients at once (default: 1 2 4 8 16)", **counts)
    parser.add_argument(
        "--workers", default=[1, 2], help="processes of the service, RAG_SERVE__WORKERS (default: 1 2)", **counts
    )
    add_count(parser, "--rounds", "of all questions", 3)


def load_sizes(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return `clients`, `workers` and `rounds` as they were given."""
    return {name: getattr(arguments, name) for name in ("clients", "workers", "rounds")}


def ask_all(url: str, path: str, questions: Sequence[str], clients: int, read: Read) -> float:
    """POST each question once to `path`, by several threads at once; return the seconds until the last reply.

    Raises:
        RefusedError: one was not answered.
    """
    waiting = iter(questions)
    guard = threading.Lock()

    def ask(_client: int) -> None:
        # One connection a client, and the plainest client there is: it shares the processor with the service.
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=HTTP_TIMEOUT_S)
        with closing(connection):
            while True:
                with guard:
                    question = next(waiting, None)
                if question is None:
                    return
                started = time.perf_counter()
                connection.request("POST", path, json.dumps({"question": question}), JSON)
                reply = connection.getresponse()
                if reply.status != HTTPStatus.OK:
                    raise http.client.HTTPException(
                        f"{reply.status}: {reply.read(SHOWN_BYTES).decode(errors='replace')}"
                    )
                read(reply, started)

    started = time.perf_counter()
    try:
        with ThreadPoolExecutor(clients) as pool:
            list(pool.map(ask, range(clients)))
    except (OSError, http.client.HTTPException) as error:
        fact = f"POST {url}{path} was not answered: {str(error) or type(error).__name__}"
        raise RefusedError(fact, "Ask it by hand, with the same body.") from error
    return time.perf_counter() - started


def wait_for_all(url: str, workers: int) -> None:
    """Return when each worker has answered: the address is there as soon as one of them is.

    Raises:
        RefusedError: one of them does not come.
    """
    seen: set[int] = set()
    until = time.monotonic() + READY_LIMIT_S
    while len(seen) < workers:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=HTTP_TIMEOUT_S)
        try:
            connection.request("GET", "/ready")
            seen.add(json.loads(connection.getresponse().read())["process"]["pid"])
        finally:
            connection.close()
        if time.monotonic() > until:
            raise RefusedError(f"Only {len(seen)} of {workers} workers answer.", "See the service's log.")
