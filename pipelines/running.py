"""Run the steps of a pipeline one after the other.

Flow: `body.py` has checked the plan -> **here**, step by step -> a `Watcher` (a task, the command line) is given the
table after each, and may keep it. A run can continue from the state kept after any step.
"""

import json
import logging
import threading
import time
from dataclasses import dataclass, replace
from typing import Protocol

from errors import RagError, StepError, TaskCancelledError
from pipelines.body import Plan, PlannedStep
from pipelines.handler import StepHandler
from pipelines.row_cache import RowCache
from pipelines.services import Services
from pipelines.state import PipelineState, StepRecord

logger = logging.getLogger(__name__)

MAX_DOCUMENTS = 10_000
MAX_COLUMN_BYTES = 32_000_000
# Of the table in memory, and of all of a task's tables on disk.
MAX_TABLE_BYTES = 256_000_000


class Watcher(Protocol):
    """Is told how a run goes, from the thread that runs it."""

    def began(self, planned: PlannedStep) -> None:
        """A step begins."""
        ...

    def progressed(self, done: int, total: int) -> None:
        """So many rows of the step are done."""
        ...

    def logged(self, text: str) -> None:
        """The step has something to say."""
        ...

    def ended(self, planned: PlannedStep, state: PipelineState) -> None:
        """A step has ended; how it went is the last of the history."""
        ...


class FailedStepError(Exception):
    """A step failed, and the pipeline stops there.

    Attributes:
        planned: the step.
        error: why.
    """

    def __init__(self, planned: PlannedStep, error: Exception) -> None:
        super().__init__(f"{type(error).__name__} in {planned.label}: {error}")
        self.planned = planned
        self.error = error


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs plans.

    Attributes:
        services: what steps may call.
        cache: of rows; None computes every row.
    """

    services: Services
    cache: RowCache | None

    def run(
        self, plan: Plan, watcher: Watcher, stop: threading.Event, state: PipelineState | None = None
    ) -> PipelineState:
        """Run the steps that the state has not gone through yet; blocks.

        Args:
            plan: what to run.
            watcher: is told.
            stop: ends the run soon after it is set.
            state: to go on from; a new one if None.

        Raises:
            FailedStepError: a step failed that stops the pipeline.
            TaskCancelledError: `stop` was set.
        """
        state = state or PipelineState(plan.query)
        done = state.history[-1].step if state.history else 0
        for planned in plan.steps[done:]:
            state = self._step(planned, state, watcher, stop)
            watcher.ended(planned, state)
        return state

    def _step(
        self, planned: PlannedStep, state: PipelineState, watcher: Watcher, stop: threading.Event
    ) -> PipelineState:
        handler = StepHandler(
            planned.number,
            self.services,
            cache=self.cache,
            stop=stop,
            tell=watcher.progressed,
            note=watcher.logged,
        )
        handler.check()
        watcher.began(planned)
        started = time.perf_counter()
        try:
            result = self._checked(planned, state, handler)
        except TaskCancelledError:
            raise
        except Exception as error:
            handler.check()  # an error after a cancellation comes from the cancellation
            if not isinstance(error, RagError):
                logger.exception("A pipeline's %s failed in an unforeseen way", planned.label)
            if planned.on_error == "stop":
                raise FailedStepError(planned, error) from error
            handler.warn(f"The step was left out: {FailedStepError(planned, error)}")
            result = state
        handler.check()
        record = StepRecord(
            planned.number,
            planned.step.id,
            result.roles,
            time.perf_counter() - started,
            tuple(handler.warnings),
            handler.looked_up,
            handler.found,
        )
        return replace(result, history=(*state.history, record))

    def _checked(self, planned: PlannedStep, state: PipelineState, handler: StepHandler) -> PipelineState:
        missing = [name for name in planned.step.reads() if name not in state.columns]
        if missing:
            raise StepError(f"There is no column {missing[0]!r}.", f"There are: {', '.join(state.columns) or 'none'}.")
        result = planned.step.transform(state, handler)
        if result.count > MAX_DOCUMENTS:
            raise StepError(
                f"The table has {result.count:,} documents; {MAX_DOCUMENTS:,} are allowed.", "Ask for fewer."
            )
        sizes = result.column_bytes()
        said = len(json.dumps(result.aggregated, default=str))
        for name, size in [*((f"Column {name!r}", size) for name, size in sizes.items()), ("Aggregated data", said)]:
            if size > MAX_COLUMN_BYTES:
                raise StepError(
                    f"{name} takes {size:,} bytes; {MAX_COLUMN_BYTES:,} are allowed.",
                    "Ask for fewer or shorter documents.",
                )
        if (whole := sum(sizes.values())) > MAX_TABLE_BYTES:
            raise StepError(
                f"The table takes {whole:,} bytes; {MAX_TABLE_BYTES:,} are allowed.",
                "Ask for fewer documents or columns.",
            )
        return result
