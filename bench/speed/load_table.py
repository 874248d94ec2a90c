"""Write the measurements under load as one Markdown table.

Flow: `load.py` -> **here** -> stdout. Pure.
"""

import statistics
from collections.abc import Callable, Sequence

from bench.speed.ingest_table import ABSENT
from bench.speed.load import Load, Measured, percentile

ROWS: tuple[tuple[str, Callable[[Load], float], int], ...] = (
    ("complete, p50, ms", lambda load: percentile(load.complete_ms, 50), 0),
    ("complete, p95, ms", lambda load: percentile(load.complete_ms, 95), 0),
    ("first record, p50, ms", lambda load: percentile(load.first_ms, 50), 1),
    ("first record, p95, ms", lambda load: percentile(load.first_ms, 95), 1),
    ("answers, 1/s", lambda load: statistics.median(load.per_s), 2),
)


def table(sets: Sequence[Measured], clients: int) -> str:
    """Return the table; `ratio` is several clients' over one's, and in the last row their p95 over its p50."""
    lines = [f"| set | measure | 1 client | {clients} clients | ratio |", "|---|---|---:|---:|---:|"]
    for measured in sets:
        one, several = measured.loads[1], measured.loads[clients]
        rows = [(label, value(one), value(several), digits) for label, value, digits in ROWS]
        cells = [
            (label, f"{first:,.{digits}f}", f"{second:,.{digits}f}", f"×{second / first:.2f}")
            for label, first, second, digits in rows
        ]
        worst = percentile(several.complete_ms, 95) / percentile(one.complete_ms, 50)
        cells.append((f"p95 of {clients} clients over p50 of 1", ABSENT, ABSENT, f"×{worst:.2f}"))
        cells.append(("slots", str(measured.slots), str(measured.slots), ABSENT))
        lines += [f"| {' | '.join([measured.name, *row])} |" for row in cells]
    return "\n".join(lines)
