"""Show measured answers as Markdown: what they say, and when there are none.

Flow: `answers.py` -> **here** -> stdout. Every mean and share has its n.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence

from bench.quality.answers import KINDS, Answered
from eval.metrics import Mean, score_answers, spoken


def quality_table(answered: Mapping[str, Sequence[Answered]]) -> str:
    """Return for each data set a row of all its own questions that have a reference answer, then its categories.

    A declined question says nothing: it counts 0 in all that is said.
    """
    lines = [
        "| set | category | answerable | short answer contained (n) | answer words | similarity | ROUGE-L | "
        "word matching | mean words | bold is the answer | quotes verbatim | after retrieval, p50 ms | median ms |",
        f"|---|---|{'---:|' * 11}",
    ]
    for name, rows in answered.items():
        own = [row for row in rows if row.kind == "answerable" and row.case.answer]
        if own:
            lines.append(_quality(name, "**all**", own))
        kinds = sorted({row.case.category for row in own if row.case.category})
        lines += [_quality(name, kind, [row for row in own if row.case.category == kind]) for kind in kinds]
    return "\n".join(lines)


def silence_table(answered: Mapping[str, Sequence[Answered]]) -> str:
    """Return for each corpus and kind of question how many were declined, and how many answered with a warning."""
    lines = ["| corpus | questions | n | declined | low confidence | answered |", "|---|---|---:|---:|---:|---:|"]
    for name, rows in answered.items():
        for kind in KINDS:
            lines += _silence(name, kind, [row for row in rows if row.kind == kind])
    if len(answered) > 1:
        for kind in KINDS:
            lines += _silence("**all**", kind, [row for rows in answered.values() for row in rows if row.kind == kind])
    return "\n".join(lines)


def _quality(name: str, category: str, rows: Sequence[Answered]) -> str:
    means = score_answers([row.case for row in rows], {row.case.id: row.done.answer for row in rows})
    words = [len(spoken(row.done.answer).split()) for row in rows if row.done.answer]
    bold = [row.bold_right for row in rows if row.bold_right is not None]
    cells = [
        name,
        category,
        str(len(rows)),
        _mean(means.get("contains")),
        _figure(means["recall"].value),
        *(_average(row.similarity[measure] for row in rows) for measure in ("similarity", "rouge_l", "matching")),
        f"{statistics.mean(words):.0f}" if words else "–",
        f"{sum(bold)} of {len(bold)}" if bold else "–",
        f"{sum(row.verbatim for row in rows)} of {sum(len(row.done.citations) for row in rows)}",
        f"{statistics.median(row.after_ms for row in rows):.0f}",
        f"{statistics.median(row.total_ms for row in rows):.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def _silence(name: str, kind: str, rows: Sequence[Answered]) -> list[str]:
    if not rows:
        return []
    declined, low = sum(row.declined for row in rows), sum(row.low for row in rows)
    shares = (f"{count} ({count / len(rows):.2f})" for count in (declined, low, len(rows) - declined - low))
    return [f"| {name} | {kind} | {len(rows)} | {' | '.join(shares)} |"]


def _average(values: Iterable[float]) -> str:
    return _figure(statistics.mean(values))


def _mean(mean: Mean | None) -> str:
    return "–" if mean is None or mean.value is None else f"{_figure(mean.value)} ({mean.n})"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
