"""Measure answers under load: our service with one worker and with several, asked by one client and by several at once.

Flow: `build.py` has an index -> **here** starts the service, asks `/run` -> table, JSON. `python -m bench load`.

A service keeps the vectors of what it embedded. So each turn starts a new service that is asked every question
once: no question is quicker because it comes again.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import httpx

from bench.arguments import add_count, add_sets, choose_sets
from bench.build import open_engine, service_variables
from bench.datasets import DataSet
from bench.figures import keep, made_on, percentile
from bench.speed.process import MAIN, READY_LIMIT_S, serving
from eval.argument_types import whole_number
from eval.asking.http import StreamTarget
from eval.asking.target import NoReplyError
from eval.cases import Case
from eval.contract.exchange import client_of
from eval.progress_bar import tell
from eval.questions.files import read_cases
from eval.tables import aligned, figure
from settings import Settings

WARM_UP_SHARE = 0.1


@dataclass(slots=True)
class Load:
    """Answers to a number of clients.

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
        loads: number of workers -> number of clients -> what came; 1 of 1 is always there.
    """

    name: str
    questions: int
    loads: dict[int, dict[int, Load]] = field(default_factory=dict)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `python -m bench load`."""
    parser.description = (
        "Ask our service, with its default synthesizer, every question by one client; then a new one by several "
        "clients at once, and all again with several workers. The first tenth of the questions warms each service up "
        "and is not timed."
    )
    add_sets(parser)
    counts: dict[str, Any] = {"type": whole_number, "nargs": "+", "metavar": "N"}
    parser.add_argument("--clients", default=[1, 2, 4, 8, 16], help="clients at once (default: 1 2 4 8 16)", **counts)
    parser.add_argument(
        "--workers", default=[1, 2], help="processes of the service, RAG_SERVE__WORKERS (default: 1 2)", **counts
    )
    add_count(parser, "--rounds", "of all questions", 3)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Measure each set, print one table."""
    sizes = {name: getattr(arguments, name) for name in ("clients", "workers", "rounds")}
    measured = [measure(data_set, settings, **sizes) for data_set in choose_sets(arguments)]
    print(f"{table(measured)}\n\nEach question once a round, {arguments.rounds} rounds. {made_on()}")
    keep("load", {one.name: asdict(one) for one in measured}, settings)
    return 0


def measure(
    data_set: DataSet, settings: Settings, *, clients: Sequence[int], workers: Sequence[int], rounds: int
) -> Measured:
    """Ask services with these numbers of workers, by these numbers of clients at once, `rounds` times in turn.

    Args:
        data_set: its questions are asked; the first tenth warms each service up.
        settings: of the index; the service has its own defaults.
        clients: numbers of clients; 1 is added.
        workers: numbers of workers; 1 is added.
        rounds: at least 1.

    Raises:
        RagError: the index cannot be built, or the service failed.
    """
    with open_engine(data_set, settings):
        warm_up, asked = split_warm_up([case.question for case in read_cases(data_set.questions)])
    counts, turns = sorted({1, *clients}), sorted({1, *workers})
    tell(f"{data_set.name}: {counts} clients ask /run of {turns} workers, {rounds} times, a new service each time")
    variables = service_variables(settings, data_set.name)
    measured = Measured(data_set.name, len(asked), {turn: {count: Load() for count in counts} for turn in turns})
    for _ in range(rounds):
        for turn, loads in measured.loads.items():
            for count, load in loads.items():
                with serving([str(MAIN)], {**variables, "RAG_SERVE__WORKERS": str(turn)}) as url:
                    wait_for_all(url, turn)
                    ask_and_time(url, warm_up, turn, Load())
                    ask_and_time(url, asked, count, load)
    return measured


def split_warm_up(questions: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the questions that warm a service up, one at least, and the others; a single question is both."""
    count = max(1, round(len(questions) * WARM_UP_SHARE))
    return questions[:count], questions[count:] or questions


def ask_and_time(url: str, questions: Sequence[str], clients: int, load: Load) -> None:
    """Ask `/run` each question once, by several clients at once, and note in `load` what that took.

    Raises:
        NoReplyError: a question was not answered to its end.
    """
    waiting = iter(questions)

    async def ask() -> None:
        async with client_of(url, ()) as client:
            target = StreamTarget(client)
            for question in waiting:  # shared: each client takes the next one
                row = await target.ask(Case(id="-", question=question))
                if row.warnings:
                    raise NoReplyError(row.warnings[0], "Ask it by hand.")
                load.first_ms.append(1000 * (row.first_record_s or row.seconds))
                load.complete_ms.append(1000 * row.seconds)

    async def ask_together() -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(clients):
                    group.create_task(ask())
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None

    started = time.perf_counter()
    asyncio.run(ask_together())
    load.per_s.append(len(questions) / (time.perf_counter() - started))


def wait_for_all(url: str, workers: int) -> None:
    """Return when each worker has answered: the address is there as soon as one of them is.

    Raises:
        NoReplyError: one of them does not come.
    """
    seen: set[int] = set()
    until = time.monotonic() + READY_LIMIT_S
    while len(seen) < workers:
        seen.add(httpx.get(f"{url}/ready", timeout=READY_LIMIT_S, trust_env=False).json()["process"]["pid"])
        if time.monotonic() > until:
            raise NoReplyError(f"Only {len(seen)} of {workers} workers answer.", "See the service's log.")


def table(sets: Sequence[Measured]) -> str:
    """Return the table; ratios are to one client of one worker, of the median rate and of the median time."""
    heads = ("set", "workers", "clients", "answers, 1/s", "× one of one", "complete, p50, ms", "p95, ms")
    lines = []
    for measured in sets:
        base = measured.loads[1][1]
        rate, median_ms = percentile(base.per_s, 50), percentile(base.complete_ms, 50)
        for workers, loads in measured.loads.items():
            for clients, load in loads.items():
                per_s, p50_ms = percentile(load.per_s, 50), percentile(load.complete_ms, 50)
                p95_ms, first_ms = percentile(load.complete_ms, 95), percentile(load.first_ms, 95)
                cells = (measured.name, str(workers), str(clients), figure(per_s, 2), f"×{per_s / rate:.2f}")
                times = (figure(p50_ms, 0), figure(p95_ms, 0), f"×{p95_ms / median_ms:.2f}", figure(first_ms, 1))
                lines.append((*cells, *times))
    return aligned([*heads, "p95 ÷ p50 of one", "first record, p95, ms"], lines)
