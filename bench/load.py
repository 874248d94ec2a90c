"""Measure answers under load: our service over HTTP, asked by one client, and by several at once.

Flow: `build.py` has an index -> **here** starts the service, asks `/run` -> `load_table.py`, JSON.

A service keeps the vectors of what it embedded. So each turn has a service of its own that is asked every question
once: no question is quicker because it comes again.
"""

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from bench.latency import HTTP_TIMEOUT_S, MAIN, RefusedError
from bench.process import serving

RECORD = b"data: "
WARM_UP_SHARE = 0.1


@dataclass(slots=True)
class Load:
    """Answers to so many clients.

    Attributes:
        first_ms: from the request to the first record, one entry an answer.
        complete_ms: to the last one, likewise.
        per_s: answers a second, one entry a turn.
    """

    first_ms: list[float] = field(default_factory=list)
    complete_ms: list[float] = field(default_factory=list)
    per_s: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Measured:
    """One data set.

    Attributes:
        questions: how many were asked a turn, beside those of the warm-up.
        slots: answers that the service writes at once.
        loads: number of clients -> what came, 1 and more.
    """

    name: str
    questions: int
    slots: int = 0
    loads: dict[int, Load] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready values."""
        return asdict(self)


def percentile(values: Sequence[float], percent: int) -> float:
    """Return a percentile of one value at least."""
    return float(np.percentile(values, percent))


def split_warm_up(questions: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the questions that warm a service up, one at least, and the others; a single question is both."""
    count = max(1, round(len(questions) * WARM_UP_SHARE))
    return questions[:count], questions[count:] or questions


def measure_load(
    name: str, questions: Sequence[str], clients: int, rounds: int, variables: Mapping[str, str]
) -> Measured:
    """Ask the service by one client and by `clients` at once, `rounds` times in turn.

    Args:
        name: of the data set.
        questions: one at least; the first tenth warms each service up.
        clients: at least 2.
        rounds: at least 1.
        variables: the service's settings, beside the inherited ones.

    Raises:
        ProgramFailedError: the service did not start.
        RefusedError: a question was not answered to its end.
    """
    warm_up, asked = split_warm_up(questions)
    measured = Measured(name, len(asked), loads={1: Load(), clients: Load()})
    for _ in range(rounds):
        for count, load in measured.loads.items():
            with serving([str(MAIN)], variables) as url:
                measured.slots = _slots(url)
                ask_all(url, warm_up, 1, Load())
                ask_all(url, asked, count, load)
    return measured


def ask_all(url: str, questions: Sequence[str], clients: int, load: Load) -> None:
    """Ask `/run` each question once, by so many threads at once, and note in `load` what that took.

    Raises:
        RefusedError: a question was not answered to its end.
    """
    waiting: SimpleQueue[str] = SimpleQueue()
    for question in questions:
        waiting.put(question)
    refused: list[str] = []
    threads = [threading.Thread(target=_ask, args=(url, waiting, load, refused.append)) for _ in range(clients)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wall_s = time.perf_counter() - started
    if refused:
        raise RefusedError(f"POST {url}/run was not answered: {refused[0]}", "Ask it by hand, with the same body.")
    load.per_s.append(len(questions) / wall_s)


def _ask(url: str, waiting: "SimpleQueue[str]", load: Load, refuse: Callable[[str], None]) -> None:
    # The plainest client there is: it shares the processor with the service.
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=HTTP_TIMEOUT_S)
    try:
        while True:
            body = json.dumps({"question": waiting.get_nowait()})
            started = time.perf_counter()
            connection.request("POST", "/run", body, {"content-type": "application/json"})
            arrived = list(_records(connection.getresponse()))
            last = json.loads(arrived[-1][1]) if arrived else {}
            if not last.get("complete") or "error" in last:
                refuse(last.get("error") or "the stream ended before a complete record")
                return
            load.first_ms.append((arrived[0][0] - started) * 1000)
            load.complete_ms.append((arrived[-1][0] - started) * 1000)
    except Empty:
        return
    except (OSError, http.client.HTTPException) as error:
        refuse(str(error) or type(error).__name__)
    finally:
        connection.close()


def _records(reply: http.client.HTTPResponse) -> Iterator[tuple[float, bytes]]:
    """Yield when each record came, and what it holds."""
    if reply.status != http.HTTPStatus.OK:
        raise http.client.HTTPException(f"{reply.status}: {reply.read(200).decode(errors='replace')}")
    while line := reply.readline():
        if line.startswith(RECORD):
            yield time.perf_counter(), line.removeprefix(RECORD)


def _slots(url: str) -> int:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=HTTP_TIMEOUT_S)
    try:
        connection.request("GET", "/ready")
        return int(json.loads(connection.getresponse().read())["slots"])
    finally:
        connection.close()
