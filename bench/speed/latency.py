"""Measure how long one question takes: the stock recipe and ours in turn, each in a separate process.

Flow: two indexes of the same texts -> **here** (`worker.py` answers) -> table, JSON. `python -m bench latency`.

The systems are asked question by question, one after the other, so that a busy moment of the machine meets them alike,
and none ever runs while another is measured. Throughput is that of our service, asked over HTTP by several threads.
"""

import argparse
import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from http.client import HTTPResponse

from bench.arguments import choose_sets
from bench.build import OURS, STOCK, STOCK_MODEL, open_engine, open_stock, service_variables
from bench.datasets import DataSet
from bench.figures import keep, made_on, percentile
from bench.speed.clients import add_load_arguments, ask_all, load_sizes, wait_for_all
from bench.speed.process import MAIN, ProgramFailedError, end, serving, start_python
from eval.progress_bar import tell
from eval.questions.files import read_cases
from eval.tables import ABSENT, aligned, figure
from index.embedding.model import load_embedding_model
from settings import Settings

# Each question is asked several times, and must be embedded each time.
FORGETFUL = {"RAG_EMBED__KEPT_VECTORS": "0"}


Ask = Callable[[str], float]
"""Retrieves for a question; returns the milliseconds that took."""


@dataclass(slots=True)
class Times:
    """Retrievals of one system.

    Attributes:
        leaves: how many it searches; None where it is not told.
        ms: one entry a question and round.
    """

    documents: int
    leaves: int | None = None
    ms: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Measured:
    """One data set.

    Attributes:
        systems: name -> its retrievals.
        per_s: number of workers -> number of clients -> requests a second, one entry a run.
    """

    name: str
    systems: dict[str, Times]
    per_s: dict[int, dict[int, list[float]]] = field(default_factory=dict)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `python -m bench latency`."""
    parser.description = (
        "Ask the stock recipe and ours in turn, question by question, each in a separate process; then our service "
        "over HTTP, by one client and by several at once."
    )
    add_load_arguments(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Measure each set, print one table."""
    measured = [measure(data_set, settings, **load_sizes(arguments)) for data_set in choose_sets(arguments)]
    print(f"{table(measured)}\n\nEach question {arguments.rounds} times, the systems in turn. {made_on()}")
    keep("latency", {one.name: asdict(one) for one in measured}, settings)
    return 0


def measure(
    data_set: DataSet,
    settings: Settings,
    *,
    clients: Sequence[int],
    workers: Sequence[int],
    rounds: int,
) -> Measured:
    """Ask the stock recipe and ours in turn.

    Raises:
        RagError: an index cannot be built, or a program failed.
    """
    questions = [case.question for case in read_cases(data_set.questions)]
    measured = Measured(data_set.name, {})
    with open_engine(data_set, settings) as engine:
        documents = engine.corpus.documents
        open_stock(data_set, engine, settings).close()
        measured.systems[STOCK] = Times(documents.count())
        measured.systems[OURS] = Times(documents.count(), documents.leaf_count())
    stock = ["stock", str(settings.bench.dir / data_set.name / STOCK), str(load_embedding_model(STOCK_MODEL).folder)]
    variables = service_variables(settings, data_set.name)
    programs = [(stock, {}), (["ours"], variables | FORGETFUL)]
    with ExitStack() as stack:
        tell(f"{data_set.name}: asking {len(questions)} questions in turn, {rounds} times after a warm-up")
        asked = [stack.enter_context(working(*program)).ask for program in programs]
        ask_in_turn(dict(zip(measured.systems, asked, strict=True)), measured.systems, questions, rounds)
    tell(f"{data_set.name}: {clients} clients ask /retrieve of {workers} workers, {rounds} times")
    for count in sorted({1, *workers}):
        of_workers = {**variables, **FORGETFUL, "RAG_SERVE__WORKERS": str(count)}
        with serving([str(MAIN)], of_workers) as url:
            wait_for_all(url, count)
            measured.per_s[count] = throughput(url, questions, sorted({1, *clients}), rounds)
    return measured


def ask_in_turn(systems: Mapping[str, Ask], times: Mapping[str, Times], questions: Sequence[str], rounds: int) -> None:
    """Ask every system every question, `rounds` times after a warm-up, and note what that took.

    Args:
        systems: by name.
        times: filled, by the same names.
        questions: at least one.
        rounds: at least 1.
    """
    order = list(systems)
    for question in questions:
        for name in order:
            systems[name](question)
    for _ in range(rounds):
        for question in questions:
            for name in order:
                times[name].ms.append(systems[name](question))
            # None may always follow the same one, whose data fill the processor's cache.
            order.reverse()


class Worker:
    """A system in a separate process; see `worker.py`."""

    def __init__(self, process: "subprocess.Popen[str]", arguments: Sequence[str]) -> None:
        self._process = process
        self._arguments = arguments

    def ask(self, question: str) -> float:
        """Return the milliseconds of one retrieval; raises ProgramFailedError if the process ended."""
        assert self._process.stdin is not None, "it was asked for"
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # its end says more than this
        return float(self.line())

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


def throughput(url: str, questions: Sequence[str], clients: Sequence[int], rounds: int) -> dict[int, list[float]]:
    """Ask a service by these numbers of threads in turn, after a warm-up; return requests a second of each."""
    per_s: dict[int, list[float]] = {count: [] for count in clients}
    requests_per_s(url, questions, 1)
    for _ in range(rounds):
        for count, runs in per_s.items():
            runs.append(requests_per_s(url, questions, count))
    return per_s


def requests_per_s(url: str, questions: Sequence[str], clients: int) -> float:
    """Ask `/retrieve` every question once a client, by several threads at once; return requests a second.

    Raises:
        RefusedError: one was answered otherwise than by 200.
    """
    asked = list(questions) * clients
    return len(asked) / ask_all(url, "/retrieve", asked, clients, _read)


def table(sets: Sequence[Measured]) -> str:
    """Return the table; `better` is the stock recipe's time over ours."""
    heads = ["set", "measure", STOCK, OURS, "better"]
    lines = []
    for measured in sets:
        systems = [measured.systems.get(name) for name in (STOCK, OURS)]
        for label, value, digits, compared in _MEASURES:
            stock, ours = (value(one) if one else None for one in systems)
            better = f"×{stock / ours:.2f}" if compared and stock and ours else ABSENT
            lines.append([measured.name, label, figure(stock, digits), figure(ours, digits), better])
        for workers, per_s in measured.per_s.items():
            for clients, runs in per_s.items():
                label = f"`/retrieve`, workers: {workers}, clients: {clients}, 1/s"
                lines.append([measured.name, label, ABSENT, figure(percentile(runs, 50), 2), ABSENT])
    return aligned(heads, lines, left=(0, 1))


# What is shown: its name, value, decimals, and whether less is better.
_MEASURES: tuple[tuple[str, Callable[[Times], float | None], int, bool], ...] = (
    ("documents", lambda one: one.documents, 0, False),
    ("leaves", lambda one: one.leaves, 0, False),
    ("one retrieval, p50, ms", lambda one: percentile(one.ms, 50), 1, True),
    ("one retrieval, p95, ms", lambda one: percentile(one.ms, 95), 1, True),
    ("p95 / p50", lambda one: percentile(one.ms, 95) / percentile(one.ms, 50), 2, False),
)


def _read(reply: HTTPResponse, _started: float) -> None:
    reply.read()
