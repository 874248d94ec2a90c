"""Find the questions that changed most between two runs, and show them to a person.

Flow: `pairing.py` -> **here** -> `command.py`. Pure: returns text, prints nothing.

How much a row changed is the mean over the families of metrics of the mean change within each, counted so that more is
better: otherwise the family with the most metrics would decide. Times and costs do not count.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from eval.cases import Case
from eval.cells import Cell
from eval.comparing.pairing import Joined
from eval.comparing.verdicts import TIE, metric_of
from eval.rows import Row
from eval.tables import cut

SCORES_SHOWN = 5
MOST_CHARS = 900


@dataclass(frozen=True, slots=True)
class Changed:
    """One question whose scores changed.

    Attributes:
        better_by: the mean change; below 0 it became worse.
        scores: metric -> score before and after, those that changed, the largest change first.
    """

    case: Case
    a: Row
    b: Row
    better_by: float
    scores: Mapping[str, tuple[float, float]]


def changed_rows(joined: Joined) -> list[Changed]:
    """Return every question with a changed score, the worst loss first."""
    found = []
    for case in joined.cases:
        pairs = dict(_pairs(joined.a.cells[case.id], joined.b.cells[case.id]))
        families: dict[str, list[float]] = {}
        for name, (before, after) in pairs.items():
            metric, change = metric_of(name), after - before if abs(after - before) > TIE else 0.0
            families.setdefault(metric.family, []).append(change if metric.better == "higher" else -change)
        moved = {name: pair for name, pair in pairs.items() if abs(pair[1] - pair[0]) > TIE}
        if moved:
            better_by = statistics.fmean(map(statistics.fmean, families.values()))
            scores = dict(sorted(moved.items(), key=lambda item: -abs(item[1][1] - item[1][0])))
            found.append(Changed(case, joined.a.rows[case.id], joined.b.rows[case.id], better_by, scores))
    return sorted(found, key=lambda one: one.better_by)


def show_changed(rows: Sequence[Changed], count: int) -> str:
    """Return the `count` worst losses and the `count` best gains; `rows` as `changed_rows` returns them."""
    losses = [row for row in rows if row.better_by < 0]
    gains = [row for row in reversed(rows) if row.better_by > 0]
    parts = []
    for title, some in (("Lost most", losses), ("Gained most", gains)):
        if some and count:
            parts.append(f"## {title}, {min(count, len(some))} of {len(some)} questions")
            parts += ["\n".join(_lines(row)) for row in some[:count]]
    return "\n\n".join(parts)


def _pairs(a: Mapping[str, Cell], b: Mapping[str, Cell]) -> Iterator[tuple[str, tuple[float, float]]]:
    for name, cell in b.items():
        before = a[name].score if name in a else None
        if before is not None and cell.score is not None and metric_of(name).family not in ("speed", "cost"):
            yield name, (before, cell.score)


def _lines(changed: Changed) -> Iterator[str]:
    case, rest = changed.case, len(changed.scores) - SCORES_SHOWN
    shown = [f"{name} {before:.2f} -> {after:.2f}" for name, (before, after) in changed.scores.items()][:SCORES_SHOWN]
    category = f" ({case.category})" if case.category else ""
    right = "there is none" if case.unanswerable else case.answer
    yield f"### {case.id}{category}: {'worse' if changed.better_by < 0 else 'better'} by {abs(changed.better_by):.3f}"
    yield f"Changed   {', '.join(shown)}{f', and {rest} more' if rest > 0 else ''}"
    yield f"Question  {cut(case.question, MOST_CHARS)}"
    if right:
        yield f"Right     {cut(right, MOST_CHARS)}"
    before, after = _said(changed.a), _said(changed.b)
    yield from ([f"A and B   {before}"] if before == after else [f"A         {before}", f"B         {after}"])


def _said(row: Row) -> str:
    if row.outcome == "failed":
        return f"(no reply: {row.reason})"
    text = cut(row.answer or "", MOST_CHARS)
    return f"(declined{f': {row.reason}' if row.reason else ''}) {text}" if row.outcome == "declined" else text
