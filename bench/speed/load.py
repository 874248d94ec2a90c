"""Measure answers under load: our service over HTTP, asked by one client, and by several at once.

Flow: `build.py` has an index -> **here** starts the service, asks `/run` -> `load_table.py`, JSON.

A service keeps the vectors of what it embedded. So each turn starts a new service that is asked every question
once: no question is quicker because it comes again.
"""

import http.client
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from bench.speed.clients import HTTP_TIMEOUT_S, ask_all
from bench.speed.latency import MAIN
from bench.speed.process import serving

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
                ask_and_time(url, warm_up, 1, Load())
                ask_and_time(url, asked, count, load)
    return measured


def ask_and_time(url: str, questions: Sequence[str], clients: int, load: Load) -> None:
    """Ask `/run` each question once, by so many threads at once, and note in `load` what that took.

    Raises:
        RefusedError: a question was not answered to its end.
    """

    def read(reply: http.client.HTTPResponse, started: float) -> None:
        arrived = list(_records(reply))
        last = json.loads(arrived[-1][1]) if arrived else {}
        if not last.get("complete") or "error" in last:
            raise http.client.HTTPException(last.get("error") or "the stream ended before a complete record")
        load.first_ms.append((arrived[0][0] - started) * 1000)
        load.complete_ms.append((arrived[-1][0] - started) * 1000)

    load.per_s.append(len(questions) / ask_all(url, "/run", questions, clients, read))


def _records(reply: http.client.HTTPResponse) -> Iterator[tuple[float, bytes]]:
    """Yield when each record came, and what it holds."""
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
