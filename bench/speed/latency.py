"""Measure how long one question takes: the stock recipe and ours in turn, each in a separate process.

Flow: two indexes of the same texts -> **here** (`worker.py` answers) -> `latency_table.py`, JSON.

The systems are asked question by question, one after the other, so that a busy moment of the machine meets them alike,
and none ever runs while another is measured. Throughput is that of our service, asked over HTTP by several threads.
"""

import json
import statistics
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from http.client import HTTPResponse
from pathlib import Path
from typing import Any, Protocol

from bench.speed.clients import ask_all
from bench.speed.process import ProgramFailedError, end, serving, start_python

MAIN = Path(__file__).parents[2] / "main.py"


class System(Protocol):
    """Something that retrieves."""

    def ask(self, question: str, *, stages: bool = False) -> dict[str, Any]:
        """Return `ms`, and `stages` if they are asked for."""


@dataclass(slots=True)
class Times:
    """Retrievals of one system.

    Attributes:
        leaves: how many it searches; None where it is not told.
        ms: one entry a question and round.
        stages_ms: stage -> one entry a question; empty for the stock recipe.
    """

    documents: int
    leaves: int | None = None
    ms: list[float] = field(default_factory=list)
    stages_ms: dict[str, list[float]] = field(default_factory=dict)

    @property
    def p50_ms(self) -> float:
        """Median."""
        return statistics.median(self.ms)

    @property
    def p95_ms(self) -> float:
        """95th percentile."""
        return statistics.quantiles(self.ms, n=20, method="inclusive")[-1]


@dataclass(slots=True)
class Measured:
    """One data set.

    Attributes:
        systems: name -> its retrievals.
        clients: how many threads asked the service at once.
        per_s: number of clients -> requests a second, one entry a run.
    """

    name: str
    systems: dict[str, Times]
    clients: int
    per_s: dict[int, list[float]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready values."""
        return asdict(self)


def ask_in_turn(
    systems: Mapping[str, System], times: Mapping[str, Times], questions: Sequence[str], rounds: int
) -> None:
    """Ask every system every question, `rounds` times after a warm-up, and note what that took; then once by stages.

    Args:
        systems: by name.
        times: filled, by the same names.
        questions: at least one.
        rounds: at least 1.
    """
    order = list(systems)
    for question in questions:
        for name in order:
            systems[name].ask(question)
    for _ in range(rounds):
        for question in questions:
            for name in order:
                times[name].ms.append(systems[name].ask(question)["ms"])
            # None may always follow the same one, whose data fill the processor's cache.
            order.reverse()
    for question in questions:
        for name in order:
            if times[name].leaves is not None:
                for stage, ms in systems[name].ask(question, stages=True)["stages"].items():
                    times[name].stages_ms.setdefault(stage, []).append(ms)


class Worker:
    """A system in a separate process; see `worker.py`."""

    def __init__(self, process: "subprocess.Popen[str]", arguments: Sequence[str]) -> None:
        self._process = process
        self._arguments = arguments

    def ask(self, question: str, *, stages: bool = False) -> dict[str, Any]:
        """Ask and wait; raises ProgramFailedError if the process ended."""
        assert self._process.stdin is not None, "it was asked for"
        try:
            self._process.stdin.write(json.dumps({"question": question, "stages": stages}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # its end says more than this
        answer: dict[str, Any] = json.loads(self.line())
        return answer

    def line(self) -> str:
        """Return its next line; raises ProgramFailedError if the process ended."""
        assert self._process.stdout is not None, "it was asked for"
        line = self._process.stdout.readline()
        if not line:
            raise ProgramFailedError.of(self._arguments, "ended", "see above")
        return line


@contextmanager
def working(arguments: Sequence[str], variables: Mapping[str, str]) -> Iterator[Worker]:
    """Run `python -m bench.speed.worker ARGUMENTS` and yield it once it is open; it is stopped at the end."""
    arguments = ["-m", "bench.speed.worker", *arguments]
    process = start_python(arguments, variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None)
    with ExitStack() as stack:
        stack.callback(end, process)
        worker = Worker(process, arguments)
        worker.line()
        yield worker


def measure_throughput(
    variables: Mapping[str, str], questions: Sequence[str], clients: int, repeats: int
) -> dict[int, list[float]]:
    """Start our service, and ask it by one thread and by `clients` in turn; return requests a second of each."""
    per_s: dict[int, list[float]] = {}
    with serving([str(MAIN)], variables) as url:
        requests_per_s(url, questions, 1)
        for _ in range(repeats):
            for threads in (1, clients):
                per_s.setdefault(threads, []).append(requests_per_s(url, questions, threads))
    return per_s


def requests_per_s(url: str, questions: Sequence[str], clients: int) -> float:
    """Ask `/retrieve` every question once a client, by so many threads at once; return requests a second.

    Raises:
        RefusedError: one was answered otherwise than by 200.
    """
    asked = list(questions) * clients
    return len(asked) / ask_all(url, "/retrieve", asked, clients, lambda reply, _: _read(reply))


def _read(reply: HTTPResponse) -> None:
    reply.read()
