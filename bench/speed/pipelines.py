"""Measure what table, history and cache cost a pipeline beside the work of its steps.

Flow: made-up texts -> a pipeline of steps that do next to nothing, run by `pipelines/running.py` **here** -> table.
Taking a text's length, all that the steps do, is counted as overhead as well: it is that small.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from errors import UnknownCorpusError
from pipelines.body import Plan, PlannedStep, read_plan
from pipelines.handler import StepHandler
from pipelines.registry import Registry
from pipelines.row_cache import RowCache
from pipelines.running import Runner
from pipelines.services import Services
from pipelines.state import ORIGINAL_RANK, PipelineState
from pipelines.step import FULL_TEXT, RowStep, SourceStep
from pipelines.tasks.store import TaskStore
from pipelines.tasks.tables import TableKeeper

SIZES = (100, 10_000)
LIMITS_MS = {100: 5.0, 10_000: 60.0}
STEPS = 5
TEXT = "A wind turbine is a machine that turns the energy of moving air into electricity, number {}."


@dataclass(frozen=True, slots=True)
class Overhead:
    """Milliseconds a step, the median of all steps and repetitions.

    Attributes:
        rows: of the table.
        plain_ms: table and history, no cache.
        filling_ms: no row is in the cache yet.
        hitting_ms: every row is.
        kept_ms: the copy is written into the tasks' file as well; every row is in the cache.
        limit_ms: what the first three may take.
    """

    rows: int
    plain_ms: float
    filling_ms: float
    hitting_ms: float
    kept_ms: float
    limit_ms: float


class NoCorpora:
    """Engines without a corpus."""

    def names(self) -> list[str]:
        """Return none."""
        return []

    def lease(self, name: str | None = None) -> NoReturn:
        """Raise UnknownCorpusError."""
        raise UnknownCorpusError.of(name or "", [])


class MadeUpTexts(SourceStep):
    """Brings as many texts as the query says."""

    id = "made_up"
    name = "Made up"
    description = "Texts."
    closed = True

    def writes(self) -> list[str]:
        """Return the columns."""
        return [FULL_TEXT, ORIGINAL_RANK]

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:  # noqa: ARG002  # makes them
        """Add the texts."""
        count = int(state.query)
        columns = {FULL_TEXT: [TEXT.format(row) for row in range(count)], ORIGINAL_RANK: range(1, count + 1)}
        return state.with_documents(columns, {FULL_TEXT: ("text",), ORIGINAL_RANK: ("rank",)})


class Length(RowStep):
    """Takes a text's length."""

    id = "length"
    name = "Length"
    category = "Metadata Analysis"
    description = "The length."
    roles = ("chip",)

    def transform_row(self, text: Any, state: PipelineState, handler: StepHandler) -> int:  # noqa: ARG002
        """Return it."""
        return len(text)


class _Timed:
    """A watcher that notes how long each step took, and may keep its copy."""

    def __init__(self, keep: Callable[[PipelineState], None] | None = None) -> None:
        self.ms: list[float] = []
        self._keep = keep
        self._began_s = 0.0

    def began(self, planned: PlannedStep) -> None:  # noqa: ARG002  # a watcher is told
        """Start the clock."""
        self._began_s = time.perf_counter()

    def progressed(self, done: int, total: int) -> None:
        """Do nothing."""

    def logged(self, text: str) -> None:
        """Do nothing."""

    def ended(self, planned: PlannedStep, state: PipelineState) -> None:
        """Stop the clock; the source does not count."""
        if self._keep is not None:
            self._keep(state)
        if planned.number > 1:
            self.ms.append((time.perf_counter() - self._began_s) * 1000)


def measure(services: Services, repeats: int) -> list[Overhead]:
    """Run the pipeline over tables of each size."""
    return [_measured(services, rows, repeats) for rows in SIZES]


def table(measured: list[Overhead]) -> str:
    """Return a Markdown table."""
    lines = [
        "| rows | table and history | filling the cache | cache hits | hits, and the task kept | limit |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {one.rows:,} | {one.plain_ms:.2f} | {one.filling_ms:.2f} | {one.hitting_ms:.2f} | {one.kept_ms:.2f} "
        f"| {one.limit_ms:.0f} |"
        for one in measured
    ]
    return "\n".join([*lines, "", f"Milliseconds a step, medians; {STEPS} steps."])


def _measured(services: Services, rows: int, repeats: int) -> Overhead:
    steps = {
        str(number): {"id": "length", "parameters": {"output_column": f"c{number}"}} for number in range(2, 2 + STEPS)
    }
    plan = read_plan({"query": str(rows), "1": {"id": "made_up"}, **steps}, Registry([MadeUpTexts, Length]), services)
    plain, filling, hitting, kept = [], [], [], []
    for _ in range(repeats):
        with TemporaryDirectory() as folder:
            plain += _run(services, plan, None)
            # Steps of one name share their rows: only the first one fills.
            cache = RowCache(Path(folder) / "rows.sqlite", 1_000_000_000)
            filling += _run(services, plan, cache)[:1]
            hitting += _run(services, plan, cache)
            store = TaskStore(Path(folder))
            task = store.add(plan.body, 1)

            keeper = TableKeeper(store, task, services.settings.pipelines.max_table_mb * 1_000_000)

            def keep(state: PipelineState, keeper: TableKeeper = keeper) -> None:
                keeper.keep(state, [])

            kept += _run(services, plan, cache, keep)
            cache.close()
            store.close()
    medians = [median(one) for one in (plain, filling, hitting, kept)]
    return Overhead(rows, medians[0], medians[1], medians[2], medians[3], LIMITS_MS[rows])


def _run(
    services: Services, plan: Plan, cache: RowCache | None, keep: Callable[[PipelineState], None] | None = None
) -> list[float]:
    timed = _Timed(keep)
    Runner(services, cache, services.settings.pipelines).run(plan, timed, threading.Event())
    return timed.ms
