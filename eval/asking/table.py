"""Say how a run went: counts, means with their coverage, what failed and why, what to do next.

Flow: a run's folder -> **here** -> Markdown on stdout. Pages and files are `reporting/`'s.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from eval.cases import Case
from eval.cells import Mean
from eval.rows import Row
from eval.run_folder import HEADER, RunFolder, RunFolderError
from eval.scoring.catalogue import METRICS
from eval.summary import Summary, summarise

FAILURES_SHOWN = 10
REASON_CHARS = 160
NO_CATEGORY = "(none)"
# What is declined is right or wrong by what kind of question it is: over one kind alone this is always 0 or 1.
OVER_ALL = ("abstention_precision",)


def describe(folder: RunFolder, judged: str = "") -> str:
    """Return the run as Markdown: what it is of, the tables, the failures, the commands that go on from here.

    Args:
        folder: of the run.
        judged: what a judge took, as a separate section; none if empty.
    """
    cases, rows, cells = folder.cases(), folder.rows(), folder.cells()
    parts = [f"# {folder.path}", _what(folder, cases), _counts(cases, rows)]
    if cells:
        parts += _tables(cases, summarise(cases, cells))
    parts += [judged, _failures(rows), _warnings(rows), _next(folder, scored=bool(cells))]
    return "\n\n".join(part for part in parts if part)


def _what(folder: RunFolder, cases: Sequence[Case]) -> str:
    header = folder.header()
    corpus = f", corpus `{header.corpus}`" if header.corpus else ""
    fingerprint = header.fingerprint or "none told"
    count = f"{len(cases)} question{'s' * (len(cases) != 1)}"
    return f"{count} of `{header.questions}`, asked {header.target}{corpus}; fingerprint {fingerprint}."


def _counts(cases: Sequence[Case], rows: Mapping[str, Row]) -> str:
    header = ["", "questions", "answered", "of these in doubt", "declined", "failed", "p50, s", "p95, s", "slowest, s"]
    groups = {
        "have an answer": [case for case in cases if not case.unanswerable and case.answer],
        "have none": [case for case in cases if case.unanswerable],
        "answer not given": [case for case in cases if not case.unanswerable and not case.answer],
    }
    lines = [_count(name, some, rows) for name, some in groups.items() if some]
    if len(lines) > 1:
        lines.append(_count("all", cases, rows))
    return _table(header, lines)


def _count(name: str, cases: Sequence[Case], rows: Mapping[str, Row]) -> list[str]:
    asked = [rows[case.id] for case in cases if case.id in rows]
    outcomes = Counter(row.outcome for row in asked)
    doubtful = sum(row.low_confidence for row in asked if row.outcome == "answered")
    seconds = sorted(row.seconds for row in asked if row.outcome != "failed")
    times = [f"{_quantile(seconds, share):.2f}" if seconds else "–" for share in (0.5, 0.95, 1)]
    counts = [len(cases), outcomes["answered"], doubtful, outcomes["declined"], outcomes["failed"]]
    return [name, *map(str, counts), *times]


def _quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that `share` of them do not exceed."""
    return values[max(0, math.ceil(share * len(values)) - 1)]


def _tables(cases: Sequence[Case], summary: Summary) -> Iterator[str]:
    categories = summary.by_category if len(summary.by_category) > 1 else {}
    if any(not case.unanswerable for case in cases):
        some = {name: means for name, means in categories.items() if _answerable(cases, name)}
        yield "## Questions with an answer"
        yield _means(_without(summary.answerable, OVER_ALL), some)
    if any(case.unanswerable for case in cases):
        yield "## Questions without an answer"
        yield _means(_without(summary.unanswerable, OVER_ALL), {})
        yield "## All questions"
        yield _means({name: summary.everything[name] for name in OVER_ALL if name in summary.everything}, {})


def _without(means: Mapping[str, Mean], names: Sequence[str]) -> dict[str, Mean]:
    return {name: mean for name, mean in means.items() if name not in names}


def _answerable(cases: Sequence[Case], category: str) -> bool:
    return any(not case.unanswerable for case in cases if (case.category or "") == category)


def _means(means: Mapping[str, Mean], categories: Mapping[str, Mapping[str, Mean]]) -> str:
    """Return a table of the metrics that apply to at least one row, one family after the other."""
    places = {name: place for place, name in enumerate(METRICS)}
    known = sorted((name for name, mean in means.items() if mean.of), key=lambda name: places.get(name, len(places)))
    if not known:
        return "No metric applies: there is nothing to compare these with."
    lines, family = [], ""
    for name in known:
        metric = METRICS.get(name)
        group = metric.family if metric else "other"
        lower = " (lower is better)" if metric and metric.better == "lower" else ""
        numbers = [_value(name, means[name]), _coverage(means[name])]
        numbers += [_value(name, by_name[name], coverage=True) for by_name in categories.values()]
        lines.append(["" if group == family else group, name + lower, *numbers])
        family = group
    return _table(["family", "metric", "mean", "scored", *(name or NO_CATEGORY for name in categories)], lines)


def _value(name: str, mean: Mean, *, coverage: bool = False) -> str:
    if not mean.of:
        return "–"
    value = "–" if mean.value is None else f"{mean.value:.{1 if name.endswith('_ms') else 3}f}"
    return f"{value} ({_coverage(mean)})" if coverage and mean.n < mean.of else value


def _coverage(mean: Mean) -> str:
    return f"{mean.n}/{mean.of}"


def _failures(rows: Mapping[str, Row]) -> str:
    failed = [row for row in rows.values() if row.outcome == "failed"]
    if not failed:
        return ""
    lines = [f"- `{row.id}`: {_short(row.reason or '')}" for row in failed[:FAILURES_SHOWN]]
    if len(failed) > FAILURES_SHOWN:
        lines.append(f"- and {len(failed) - FAILURES_SHOWN} more")
    return f"## No reply: {len(failed)} question{'s' * (len(failed) != 1)}\n\n" + "\n".join(lines)


def _warnings(rows: Mapping[str, Row]) -> str:
    codes = Counter(code for row in rows.values() for code in {warning.partition(":")[0] for warning in row.warnings})
    told = ", ".join(f"{code} {count}" for code, count in codes.most_common() if code != "low_confidence")
    return f"Warnings, by the number of replies that carry them: {told}." if told else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= REASON_CHARS else line[: REASON_CHARS - 1] + "…"


def _next(folder: RunFolder, *, scored: bool) -> str:
    lines = []
    if any(row.outcome == "failed" for row in folder.rows().values()):
        lines.append("The same command asks what failed again.\n")
    commands = [] if scored else [(f"score {folder.path}", "score it")]
    commands += [
        (f"report {folder.path}", "a page with every question, and why answers fail"),
        (f"compare {_earlier(folder)} {folder.path}", "is it better than that run?"),
    ]
    width = max(len(command) for command, _ in commands)
    return "\n".join([*lines, *(f"    python -m eval {command:{width}}  # {about}" for command, about in commands)])


def _earlier(folder: RunFolder) -> Path:
    """Return the newest other run of the same questions beside this one; a place for its name if there is none."""
    known: dict[str, Path] = {}
    for header in folder.path.parent.glob(f"*/{HEADER}"):
        with suppress(RunFolderError):  # of another version: it cannot be compared
            other = RunFolder(header.parent)
            if other.name != folder.name and other.header().questions_sha256 == folder.header().questions_sha256:
                known[other.header().started] = other.path
    return known[max(known)] if known else folder.path.parent / "OTHER"


def _table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table whose columns are aligned, names to the left and numbers to the right."""
    body = [list(line) for line in lines]
    left = [any(not _is_number(line[column]) for line in body) and column < 2 for column in range(len(header))]
    widths = [max(map(len, column)) for column in zip(header, *body, strict=True)]

    def row(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if is_left else cell.rjust(width)
            for cell, width, is_left in zip(cells, widths, left, strict=True)
        )
        return f"| {' | '.join(padded)} |"

    rule = ["-" * width if is_left else "-" * (width - 1) + ":" for width, is_left in zip(widths, left, strict=True)]
    return "\n".join([row(header), row(rule), *map(row, body)])


def _is_number(text: str) -> bool:
    return text[:1].isdigit() or text in {"", "–"}
