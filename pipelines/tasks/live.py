"""The progress of a running task.

Flow: `running.py` tells it, in the thread of the task -> **here** keeps what `view.py` shows, and hands each step's
copy to the store. Finished steps are in the store alone.
"""

import threading
from collections import defaultdict
from collections.abc import Sequence

from errors import StepError
from pipelines.body import PlannedStep
from pipelines.running import FailedStepError
from pipelines.state import PipelineState
from pipelines.tasks.tables import TableKeeper

MOST_LINES = 1000
MOST_LINE_CHARS = 1000


class LiveTask:
    """A task that runs. Its attributes may be read from any thread.

    Args:
        task_id: names it.
        keeper: keeps each step's copy.
        log: lines of an earlier run that was cut off.

    Attributes:
        stop: set to end it.
        step: the step that runs; None before the first.
        done, total: rows of that step.
        log: lines.
        step_log: lines of each step, by its id.
    """

    def __init__(self, task_id: str, keeper: TableKeeper, log: Sequence[str]) -> None:
        self.task_id = task_id
        self.stop = threading.Event()
        self.step: PlannedStep | None = None
        self.done = 0
        self.total = 0
        self.log = list(log)
        self.step_log: defaultdict[str, list[str]] = defaultdict(list)
        self._keeper = keeper

    def began(self, planned: PlannedStep) -> None:
        """Note the step."""
        self.step, self.done, self.total = planned, 0, 0
        self.note(f"Processing {planned.label}")

    def progressed(self, done: int, total: int) -> None:
        """Note the rows."""
        self.done, self.total = done, total

    def logged(self, text: str) -> None:
        """Note a line of the step."""
        step = self.step.step.id if self.step else ""
        if len(self.step_log[step]) < MOST_LINES:
            self.step_log[step].append(text[:MOST_LINE_CHARS])
        self.note(text)

    def ended(self, planned: PlannedStep, state: PipelineState) -> None:
        """Keep the step's copy.

        Raises:
            FailedStepError: there is no room for it.
        """
        self.note(f"Finished {planned.label}: {state.count} documents in {state.history[-1].seconds:.3f} seconds")
        try:
            self._keeper.keep(state, self.log)
        except StepError as error:
            raise FailedStepError(planned, error) from error

    def note(self, text: str) -> None:
        """Add a line to the log."""
        if len(self.log) < MOST_LINES:
            self.log.append(text[:MOST_LINE_CHARS])
