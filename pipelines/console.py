"""Show a run in a terminal: a bar for each step, and the table after it.

Flow: `running.py` tells it -> **here** -> stderr for the bar, stdout for the tables.
"""

from collections.abc import Callable
from typing import Any

from tqdm import tqdm

from pipelines.body import PlannedStep
from pipelines.state import PipelineState

MOST_ROWS = 10
WIDEST = 48
# Known to a reader already, or of no use to one.
_LEFT_OUT = frozenset({"id", "url", "start", "end"})


class ConsoleWatcher:
    """Shows a run as it goes.

    Args:
        steps: how many there are.
        say: writes a line.
        rows: of each table, at most.
    """

    def __init__(self, steps: int, say: Callable[[str], None], rows: int = MOST_ROWS) -> None:
        self._steps = steps
        self._say = say
        self._rows = rows
        self._shown: set[str] = set()
        self._bar: tqdm[Any] | None = None

    def began(self, planned: PlannedStep) -> None:
        """Begin a bar."""
        self.close()
        self._bar = tqdm(
            desc=f"{planned.number}/{self._steps} {planned.step.name}", unit="row", leave=False, disable=None
        )

    def progressed(self, done: int, total: int) -> None:
        """Move the bar."""
        if self._bar is not None:
            self._bar.total = total
            self._bar.update(done - self._bar.n)

    def logged(self, text: str) -> None:
        """Write a line of the step."""
        self._say(f"  {text}")

    def ended(self, planned: PlannedStep, state: PipelineState) -> None:
        """Write the table."""
        self.close()
        record = state.history[-1]
        hits = f", {record.found} of {record.looked_up} rows known" if record.looked_up else ""
        head = f"## {planned.number}/{self._steps} {planned.step.name}: {state.count} documents"
        self._say(f"{head}, {record.seconds:.3f} s{hits}")
        for warning in record.warnings:
            self._say(f"warning: {warning}")
        self._say(table(state, [name for name in state.columns if name not in self._shown], self._rows))
        self._shown = set(state.columns)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def table(state: PipelineState, new: list[str], rows: int) -> str:
    """Return the first rows as Markdown: titles, ranks, and the columns that are new."""
    chosen = [name for name in state.columns if name not in _LEFT_OUT]
    columns = [name for name in chosen if name == "title" or name in state.rank_columns or name in new]
    if not state.count or not columns:
        return "(no documents)\n"
    shown = [[_cell(row[name]) for name in columns] for row in state.take(range(min(rows, state.count))).rows(columns)]
    lines = [columns, ["---"] * len(columns), *shown]
    more = f"\n… and {state.count - rows} more" if state.count > rows else ""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + more + "\n"


def _cell(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"
