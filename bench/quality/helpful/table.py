"""Show how helpful answers are as Markdown, and as figures for a file.

Flow: `asking.py` -> **here** -> stdout, and JSON.

A measure is a mean over the questions that allow it, and a mean over few questions says little: where there are fewer
than 50, the row says how many. The two halves of the questions, by even and odd place, show how far chance alone moves
a figure.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bench.quality.helpful.asking import OURS, Answered
from eval.metrics import Mean

FEW = 50
Rows = Sequence[Answered]


def table(answered: Mapping[str, Rows], measures: Mapping[str, int]) -> str:
    """Return the table of one set: a measure a row, a system a column, ours also for both halves of the questions.

    Args:
        answered: by system.
        measures: with the digits to show.
    """
    columns: dict[str, Rows] = {}
    for system, rows in answered.items():
        columns[system] = rows
        if system == OURS:
            columns[f"{system}, even"] = [row for row in rows if row.place % 2 == 0]
            columns[f"{system}, odd"] = [row for row in rows if row.place % 2]
    lines = [f"| measure | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    for measure, digits in measures.items():
        means = [mean_of(rows, measure) for rows in columns.values()]
        if whole := [mean_of(rows, measure).n for rows in answered.values() if mean_of(rows, measure).n]:
            cells = ["–" if mean.value is None else f"{mean.value:,.{digits}f}" for mean in means]
            lines.append(_line(_marked(measure, whole), cells))
    lines.append(_line("quotes verbatim", [_verbatim(rows) for rows in columns.values()]))
    asked = [len(rows) for rows in answered.values()]
    for percent in (50, 95):
        cells = [f"{percentile_ms(rows, percent):.0f}" if rows else "–" for rows in columns.values()]
        lines.append(_line(_marked(f"complete answer, p{percent}, ms", asked), cells))
    return "\n".join(lines)


def figures(rows: Rows, measures: Mapping[str, int]) -> dict[str, Any]:
    """Return what one system's column shows as JSON-ready values, unrounded."""
    means = {measure: mean_of(rows, measure) for measure in measures}
    return {
        "means": {measure: {"value": mean.value, "n": mean.n} for measure, mean in means.items()},
        "questions": len(rows),
        "quotes": sum(len(row.answer.citations) for row in rows),
        "verbatim": sum(row.verbatim for row in rows),
        "p50_ms": round(percentile_ms(rows, 50), 1),
        "p95_ms": round(percentile_ms(rows, 95), 1),
    }


def mean_of(rows: Rows, measure: str) -> Mean:
    """Return the mean over the rows that have the measure."""
    values = [row.scores[measure] for row in rows if measure in row.scores]
    return Mean(sum(values) / len(values) if values else None, len(values))


def percentile_ms(rows: Rows, percent: int) -> float:
    """Return a percentile of the times of one row at least."""
    return float(np.percentile([row.total_ms for row in rows], percent))


def _marked(measure: str, counts: Sequence[int]) -> str:
    least, most = min(counts), max(counts)
    if least >= FEW:
        return measure
    return f"{measure} (n = {least})" if least == most else f"{measure} (n = {least}–{most})"


def _verbatim(rows: Rows) -> str:
    return f"{sum(row.verbatim for row in rows)} of {sum(len(row.answer.citations) for row in rows)}"


def _line(name: str, cells: Sequence[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"
