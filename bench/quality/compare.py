"""Compare two measurements of retrieval: what did a change of settings cost or gain?

Flow: two `retrieval.json` of `python -m bench retrieval` -> **here** -> table.

A precision, a model or a chunk size is judged by it: measure twice, with another `RAG_BENCH__DIR` each time. The
stock recipe is left out, because our settings do not reach it.
"""

import json
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.quality.retrieval import STOCK, in_order
from errors import RagError


class NotComparableError(RagError):
    """The figures of two files do not answer the same questions."""

    code = "not_comparable"


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric of one system on one data set, before and after, each the mean over `n` questions."""

    set_name: str
    system: str
    metric: str
    n: int
    before: float
    after: float

    @property
    def questions(self) -> float:
        """The difference in questions: that of the means times n."""
        return (self.after - self.before) * self.n


def read_figures(path: Path) -> dict[str, Any]:
    """Return the content of a `retrieval.json`.

    Raises:
        NotComparableError: it is none.
    """
    try:
        figures: dict[str, Any] = json.loads(path.read_text())
        next(iter(figures["sets"].values()))["means"]
    except (OSError, ValueError, KeyError, TypeError, StopIteration) as error:
        raise NotComparableError(
            f"{path} holds no figures of retrieval.", "Make it with `python -m bench retrieval`."
        ) from error
    return figures


def cells_of(before: dict[str, Any], after: dict[str, Any]) -> list[Cell]:
    """Pair the metrics of all sets and systems that both files hold.

    Raises:
        NotComparableError: they share none, or asked another number of questions.
    """
    cells = []
    for name, first, second in _shared(before["sets"], after["sets"]):
        for system, old_means, new_means in _shared(first["means"], second["means"]):
            if system == STOCK:
                continue
            pairs = {metric: (old, new) for metric, old, new in _shared(old_means, new_means) if old["n"]}
            for metric in in_order(pairs):
                old, new = pairs[metric]
                if old["n"] != new["n"]:
                    raise NotComparableError(
                        f"{name}, {metric}: {old['n']} questions were asked before, {new['n']} after.",
                        "Measure both with the same --limit and the same data.",
                    )
                cells.append(Cell(name, system, metric, old["n"], old["value"], new["value"]))
    if not cells:
        raise NotComparableError("The two files share no data set and system.", "Measure both with the same --sets.")
    return cells


def changed_settings(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return one line for each setting that differs."""
    old, new = (_flat(figures.get("settings", {})) for figures in (before, after))
    return [
        f"{name}: {old.get(name)} -> {new.get(name)}"
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]


def table(cells: list[Cell]) -> str:
    """Return one Markdown table, its means, and a sentence about the largest loss."""
    lines = ["| set | system | metric | n | before | after | diff | questions |", f"|---|---|---|{'---:|' * 5}"]
    for cell in cells:
        head = f"| {cell.set_name} | {cell.system} | {cell.metric} | {cell.n}"
        lines.append(f"{head} | {_values(cell.before, cell.after)} | {cell.questions:+.2f} |")
    before, after = (statistics.mean(values) for values in zip(*((c.before, c.after) for c in cells), strict=True))
    count = f"{len(cells)} metric{'s' if len(cells) > 1 else ''}"
    lines.append(f"| **all** | | **mean** | {count} | {_values(before, after)} |  |")
    worst = min(cells, key=lambda cell: cell.questions)
    if worst.questions < 0:
        place = f"{worst.set_name}, {worst.system}, {worst.metric}"
        loss = f"Largest loss: {-worst.questions:.2f} questions ({place})."
    else:
        loss = "No metric lost anything."
    return "\n".join([*lines, "", f"{loss} Mean over all metrics: {after - before:+.4f}."])


def _shared(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    return [(name, value, after[name]) for name, value in before.items() if name in after]


def _flat(settings: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {f"{group}.{name}": value for group, fields in settings.items() for name, value in fields.items()}


def _values(before: float, after: float) -> str:
    return f"{before:.4f} | {after:.4f} | {after - before:+.4f}"
