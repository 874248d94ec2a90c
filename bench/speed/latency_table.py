"""Write the measurements of single questions as one Markdown table.

Flow: `latency.py` -> **here** -> stdout. Pure.
"""

import statistics
from collections.abc import Callable, Sequence
from functools import partial

from bench.quality.retrieval import OURS, STOCK
from bench.speed.ingest_table import ABSENT
from bench.speed.latency import Measured, Times
from bench.speed.worker import STAGES


def table(sets: Sequence[Measured]) -> str:
    """Return the table; the column of the larger corpora is there if they were measured.

    `better` is the stock recipe's time over ours, `growth` ours on the larger corpus over ours on the small one.
    """
    larger = next((name for measured in sets for name in measured.systems if name not in (STOCK, OURS)), None)
    heads = ["set", "measure", STOCK, OURS, "better", *([larger, "growth"] if larger else [])]
    lines = [f"| {' | '.join(heads)} |", f"|---|---|{'---:|' * (len(heads) - 2)}"]
    for measured in sets:
        times = [measured.systems.get(name) if name else None for name in (STOCK, OURS, larger)]
        for label, cells in (*_retrieval(times), *_throughput(measured)):
            lines.append(f"| {' | '.join([measured.name, label, *cells[: len(heads) - 2]])} |")
    return "\n".join(lines)


def _retrieval(times: Sequence[Times | None]) -> list[tuple[str, list[str]]]:
    rows = [
        ("documents", _cells(times, lambda one: one.documents, 0, compared=False)),
        ("leaves", _cells(times, lambda one: one.leaves, 0, compared=False)),
        ("one retrieval, p50, ms", _cells(times, lambda one: one.p50_ms, 1)),
        ("one retrieval, p95, ms", _cells(times, lambda one: one.p95_ms, 1)),
        ("p95 / p50", _cells(times, lambda one: one.p95_ms / one.p50_ms, 2, compared=False)),
    ]
    return rows + [(f"– {stage}, p50, ms", _cells(times, partial(_median_ms, stage), 1)) for stage in STAGES]


def _median_ms(stage: str, times: Times) -> float | None:
    return statistics.median(times.stages_ms[stage]) if stage in times.stages_ms else None


def _throughput(measured: Measured) -> list[tuple[str, list[str]]]:
    medians = {clients: statistics.median(runs) for clients, runs in measured.per_s.items()}
    rows = [
        (f"`/retrieve`, {clients} client{'s' if clients > 1 else ''}, 1/s", one) for clients, one in medians.items()
    ]
    if len(medians) > 1:
        rows.append((f"{measured.clients} clients over 1", medians[measured.clients] / medians[1]))
    return [(label, [ABSENT, f"{value:.2f}", ABSENT, ABSENT, ABSENT]) for label, value in rows]


def _cells(
    times: Sequence[Times | None], value: Callable[[Times], float | None], digits: int, *, compared: bool = True
) -> list[str]:
    values = [None if one is None else value(one) for one in times]
    stock, ours, larger = (ABSENT if value is None else f"{value:,.{digits}f}" for value in values)
    better, growth = (
        (_quotient(values[0], values[1]), _quotient(values[2], values[1])) if compared else (ABSENT, ABSENT)
    )
    return [stock, ours, better, larger, growth]


def _quotient(dividend: float | None, divisor: float | None) -> str:
    return f"×{dividend / divisor:.2f}" if dividend and divisor else ABSENT
