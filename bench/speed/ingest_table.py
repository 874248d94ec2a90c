"""Write the measurements of ingestion as one Markdown table.

Flow: `ingest.py` -> **here** -> stdout. Pure.

A cell is the median of the repeats, with the smallest and the largest in brackets.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.speed.ingest import Ingested, Measured, Ours

ABSENT = "–"


@dataclass(frozen=True, slots=True)
class _Row:
    """One quantity, and how it is read off a run.

    Attributes:
        digits: decimals shown.
        stock: value of a run of the stock recipe, which is compared with ours; None if it has none.
        ours: values of our runs.
        compared: whether less is better; leaves of two systems are not alike, so their numbers are not compared.
    """

    label: str
    digits: int
    stock: Callable[[Ingested], float] | None
    ours: Callable[[Ours], list[float]]
    compared: bool = False


def _ingestion(label: str, digits: int, value: Callable[[Ingested], float], *, compared: bool = True) -> _Row:
    return _Row(label, digits, value, lambda ours: [value(run) for run in ours.first], compared)


def _rows() -> list[_Row]:
    return [
        _ingestion("whole run, s", 1, lambda run: run.wall_s),
        _ingestion("leaves", 0, lambda run: run.leaves, compared=False),
        _ingestion("leaves/s", 1, lambda run: run.leaves_per_s, compared=False),
        _ingestion("CPU time, s", 1, lambda run: run.cpu_s),
        _ingestion("peak memory with children, MB", 0, lambda run: run.peak_mb),
        _ingestion("peak memory of the largest process, MB", 0, lambda run: run.largest_mb),
        _ingestion("index, MB", 1, lambda run: run.index_mb),
        _ingestion("index, kB/leaf", 2, lambda run: run.kb_per_leaf),
        _Row("run again, nothing changed, s", 1, None, lambda ours: [run.wall_s for run in ours.again]),
        _Row("leaves embedded by that", 0, None, lambda ours: [run.leaves for run in ours.again]),
        _Row("cold `query_engine`, s", 1, None, lambda ours: ours.query_s),
        _Row("`/ready` after start, s", 1, None, lambda ours: ours.ready_s),
    ]


def table(sets: Sequence[Measured]) -> str:
    """Return the table; the columns of the larger runs are there if they were measured.

    `better` is the stock recipe's median over ours, `growth` our median on the larger workload over that on the
    smaller.
    """
    scale = max(measured.scale for measured in sets)
    heads = ["set", "measure", "stock", "ours", "better", *([f"ours, ×{scale}", "growth"] if scale else [])]
    lines = [f"| {' | '.join(heads)} |", f"|---|---|{'---:|' * (len(heads) - 2)}"]
    for measured in sets:
        for label, cells in (*_workload(measured), *((row.label, _cells(row, measured)) for row in _rows())):
            lines.append(f"| {' | '.join([measured.name, label, *cells[: len(heads) - 2]])} |")
    return "\n".join(lines)


def _workload(measured: Measured) -> list[tuple[str, list[str]]]:
    small, large = measured.ours.workload, measured.scaled.workload if measured.scaled else None
    documents, text_mb = f"{small.documents:,}", f"{small.text_mb:.2f}"
    return [
        ("documents", [documents, documents, ABSENT, f"{large.documents:,}" if large else ABSENT, ABSENT]),
        ("text, MB", [text_mb, text_mb, ABSENT, f"{large.text_mb:.2f}" if large else ABSENT, ABSENT]),
    ]


def _cells(row: _Row, measured: Measured) -> list[str]:
    stock = [row.stock(run) for run in measured.stock] if row.stock else []
    ours = row.ours(measured.ours)
    larger = row.ours(measured.scaled) if measured.scaled else []
    return [
        _spread(stock, row.digits),
        _spread(ours, row.digits),
        _quotient(stock, ours) if row.compared else ABSENT,
        _spread(larger, row.digits),
        _quotient(larger, ours),
    ]


def _spread(values: Sequence[float], digits: int) -> str:
    if not values:
        return ABSENT
    median, least, most = (f"{value:,.{digits}f}" for value in (statistics.median(values), min(values), max(values)))
    return median if least == most else f"{median} ({least}–{most})"


def _quotient(dividend: Sequence[float], divisor: Sequence[float]) -> str:
    if not dividend or not divisor or not statistics.median(divisor):
        return ABSENT
    return f"×{statistics.median(dividend) / statistics.median(divisor):.2f}"
