"""Say how a run went: counts, means with their coverage, what failed and why, what to do next.

Flow: a run's folder -> **here** -> Markdown on stdout. Pages and files are `reporting/`'s.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from eval.cases import Case, apart, by_category
from eval.cells import Cell, Mean, means, metric_names
from eval.rows import Row
from eval.run_folder import HEADER, Header, RunFolder, RunFolderError
from eval.scoring.catalogue import DECLINED, OVER_ALL, in_order
from eval.tables import aligned, counted, cut, figure, quantile

FAILURES_SHOWN = 10
REASON_CHARS = 160
NO_CATEGORY = "(none)"


def describe(folder: RunFolder, judged: str = "") -> str:
    """Return the run as Markdown: what it is of, the tables, the failures, the commands that go on from here.

    What a judge took is a section of its own, if there is any.
    """
    header, cases, rows, cells = folder.header(), folder.cases(), folder.rows(), folder.cells()
    corpus = f", corpus `{header.corpus}`" if header.corpus else ""
    fingerprint = header.fingerprint or "not reported"
    asked = f"{counted(len(cases), 'question')} of `{header.questions}`, asked {header.target}{corpus}"
    parts = [f"# {folder.path}", f"{asked}; fingerprint {fingerprint}.", _counts(cases, rows)]
    if cells:
        parts += _tables(cases, cells)
    parts += [judged, _failures(rows), _warnings(rows), _next(folder, header, rows, scored=bool(cells))]
    return "\n\n".join(part for part in parts if part)


def _counts(cases: Sequence[Case], rows: Mapping[str, Row]) -> str:
    header = ["", "questions", "answered", "of these in doubt", "declined", "failed", "p50, s", "p95, s", "slowest, s"]
    answerable, unanswerable = apart(cases)
    groups = {
        "have an answer": [case for case in answerable if case.answer],
        "have none": unanswerable,
        "answer not given": [case for case in answerable if not case.answer],
    }
    groups = {name: some for name, some in groups.items() if some}
    if len(groups) > 1:
        groups["all"] = list(cases)
    return aligned(header, (_count(name, some, rows) for name, some in groups.items()), left={0})


def _count(name: str, cases: Sequence[Case], rows: Mapping[str, Row]) -> list[str]:
    asked = [rows[case.id] for case in cases if case.id in rows]
    outcomes = Counter(row.outcome for row in asked)
    doubtful = sum(row.low_confidence for row in asked if row.outcome == "answered")
    seconds = [row.seconds for row in asked if row.outcome != "failed"]
    times = [figure(quantile(seconds, share) if seconds else None, 2) for share in (0.5, 0.95, 1)]
    counts = [len(cases), outcomes["answered"], doubtful, outcomes["declined"], outcomes["failed"]]
    return [name, *map(str, counts), *times]


def _tables(cases: Sequence[Case], cells: Mapping[str, Mapping[str, Cell]]) -> Iterator[str]:
    """Yield the means; questions without an answer stand apart: there it is right to decline."""
    names = metric_names(cells)

    def over(chosen: Iterable[Case]) -> Mapping[str, Mean]:
        return means((cells.get(case.id, {}) for case in chosen), names)

    answerable, unanswerable = apart(cases)
    categories = {name: over(some) for name, some in by_category(cases).items()}
    if len(categories) == 1:
        categories = {}
    if answerable:
        yield "## Questions with an answer"
        of_answerable = by_category(answerable).keys()
        yield _means(over(answerable), {name: mean for name, mean in categories.items() if name in of_answerable})
    if unanswerable:
        yield "## Questions without an answer"
        yield _means(over(unanswerable), {})
        everything = over(cases)
        yield "## All questions"
        yield _means(everything, {}, over_all=True)
        if categories and set(DECLINED) <= everything.keys():
            yield "## Declined, by category"
            lines = [
                [name or NO_CATEGORY, *(shown for one in DECLINED for shown in (_value(one, of[one]), _of(of[one])))]
                for name, of in {**categories, "all": everything}.items()
            ]
            yield aligned(["category", "have an answer", "scored", "have none", "scored"], lines, left={0})


def _means(means: Mapping[str, Mean], categories: Mapping[str, Mapping[str, Mean]], *, over_all: bool = False) -> str:
    """Return a table of the metrics that apply to at least one row, one family after the other.

    Those that mean something over all kinds of questions stand in a table of their own.
    """
    known = in_order(name for name, mean in means.items() if mean.of and (name in OVER_ALL) == over_all)
    if not known:
        return "No metric applies: there is nothing to compare these with."
    lines, family = [], ""
    for metric in known:
        name = metric.name
        lower = " (lower is better)" if metric.better == "lower" else ""
        numbers = [_value(name, means[name]), _of(means[name])]
        numbers += [_value(name, by_name[name], coverage=True) for by_name in categories.values()]
        lines.append(["" if metric.family == family else metric.family, name + lower, *numbers])
        family = metric.family
    header = ["family", "metric", "mean", "scored", *(name or NO_CATEGORY for name in categories)]
    return aligned(header, lines, left={0, 1})


def _value(name: str, mean: Mean, *, coverage: bool = False) -> str:
    value = figure(mean.value, 1 if name.endswith("_ms") else 3)
    return f"{value} ({_of(mean)})" if coverage and mean.n < mean.of else value


def _of(mean: Mean) -> str:
    return f"{mean.n}/{mean.of}"


def _failures(rows: Mapping[str, Row]) -> str:
    failed = [row for row in rows.values() if row.outcome == "failed"]
    if not failed:
        return ""
    lines = [f"- `{row.id}`: {cut(row.reason or '', REASON_CHARS)}" for row in failed[:FAILURES_SHOWN]]
    if len(failed) > FAILURES_SHOWN:
        lines.append(f"- and {len(failed) - FAILURES_SHOWN} more")
    return f"## No reply: {counted(len(failed), 'question')}\n\n" + "\n".join(lines)


def _warnings(rows: Mapping[str, Row]) -> str:
    codes = Counter(code for row in rows.values() for code in {warning.partition(":")[0] for warning in row.warnings})
    told = ", ".join(f"{code} {count}" for code, count in codes.most_common() if code != "low_confidence")
    return f"Warnings, by the number of replies that carry them: {told}." if told else ""


def _next(folder: RunFolder, header: Header, rows: Mapping[str, Row], *, scored: bool) -> str:
    lines = []
    if any(row.outcome == "failed" for row in rows.values()):
        lines.append("The same command asks what failed again.\n")
    commands = [] if scored else [(f"score {folder.path}", "score it")]
    commands += [
        (f"report {folder.path}", "a page with every question, and why answers fail"),
        (f"compare {_earlier(folder, header)} {folder.path}", "is it better than that run?"),
    ]
    width = max(len(command) for command, _ in commands)
    return "\n".join([*lines, *(f"    python -m eval {command:{width}}  # {about}" for command, about in commands)])


def _earlier(folder: RunFolder, header: Header) -> Path:
    """Return the newest other run of the same questions beside this one; a place for its name if there is none."""
    known: dict[str, Path] = {}
    for path in folder.path.parent.glob(f"*/{HEADER}"):
        with suppress(RunFolderError):  # of another version: it cannot be compared
            other = RunFolder(path.parent).header()
            if path.parent.name != folder.path.name and other.questions_sha256 == header.questions_sha256:
                known[other.started] = path.parent
    return known[max(known)] if known else folder.path.parent / "OTHER"
