"""Write what the browser saw of the page as a Markdown table, beside what is asked of it.

Flow: `page.py` -> **here** -> stdout. Pure.
"""

from collections.abc import Sequence
from statistics import median

from bench.speed.page import LONG_TASK_MS, Measured
from bench.speed.page_workload import LONG_CHARS

FIRST_PAINT_MS, WEIGHT_KB, TASK_MS, OPEN_MS = 300, 400, 100, 500
_HEADS = ("measure", "asked", "measured")


def table(found: Measured) -> str:
    """Return a row a figure; what was measured more than once is told as median (smallest–largest)."""
    late = found.late_frames()
    longest_task = f"{max(found.tasks_ms):.0f}" if found.tasks_ms else f"< {LONG_TASK_MS}"
    rows = [
        ("first paint, ms", f"≤ {FIRST_PAINT_MS}", _spread(found.first_paint_ms)),
        ("until a question can be typed, ms", "–", _spread(found.usable_ms)),
        ("page weight, transferred, kB", f"≤ {WEIGHT_KB}", f"{found.transferred_bytes / 1000:.0f}"),
        ("page weight, decoded, kB", f"≤ {WEIGHT_KB}", f"{found.decoded_bytes / 1000:.0f}"),
        (f"longest task while {found.words:,} words stream, ms", f"≤ {TASK_MS}", longest_task),
        (f"a document of {LONG_CHARS:,} characters opens at its span, ms", f"≤ {OPEN_MS}", _spread(found.open_ms)),
        ("the same as a page for itself, ms", f"≤ {OPEN_MS}", _spread(found.page_open_ms)),
        (
            f"frames over {LONG_TASK_MS} ms while an outline of {found.nodes:,} nodes scrolls",
            "0",
            f"{len(late)} of {len(found.frames_ms)}" + (f", the longest {max(late):.0f} ms" if late else ""),
        ),
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (_HEADS, ("---", "---:", "---:"), *rows))


def _spread(values: Sequence[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:.0f}"
    return f"{median(values):.0f} ({min(values):.0f}–{max(values):.0f})"
