"""`python -m bench helpful`: do whole answers to natural questions help? Our engine beside plain baselines.

Flow: `sets.py` -> `asking.py` asks the systems of `systems.py` -> **here** -> tables, JSON, and the answers themselves.

A measure is a mean over the questions that allow it, and a mean over few questions says little: where there are fewer
than 50, the row says how many. The two halves of the questions, by even and odd place, show how far chance alone moves
a figure.
"""

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.arguments import add_limit, names_in
from bench.build import OURS, STOCK
from bench.figures import keep, made, made_on, percentile
from bench.quality.helpful.asking import Answered, ask_all
from bench.quality.helpful.sets import KINDS, Asked, choose, read_asked
from bench.quality.helpful.systems import SYSTEMS, open_systems
from eval.cells import Mean, mean, scored
from eval.progress_bar import tell
from eval.tables import aligned, figure
from settings import Settings

FEW = 50
Rows = Sequence[Answered]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `python -m bench helpful`."""
    parser.description = (
        f"Ask the questions of {', '.join(KINDS)}, if they are present. `ours` is our engine, `first-leaf` and "
        "`stock` show the first leaf of our retrieval and the first passage of the stock recipe, `agent` is our "
        "research loop, `web` our engine over the pages that a local stand-in of ClueWeb22's search service finds. "
        "open_questions is about the corpora sample, bedrock, squad and aragog beside it, squad2 about that of squad."
    )
    add_natural_sets(parser)
    parser.add_argument(
        "--systems", nargs="+", choices=SYSTEMS, default=[OURS, "first-leaf", STOCK], help="default: ours and baselines"
    )


def add_natural_sets(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose natural questions, for `naturally_asked`."""
    parser.add_argument("--data", type=Path, default=Path(), help="folder of data sets")
    parser.add_argument("--sets", default="", help="comma-separated names of the sets to use (default: all)")
    add_limit(parser)
    parser.add_argument(
        "--half",
        choices=("all", "even", "odd"),
        default="all",
        help="only questions whose id ends in an even number (to choose by) or an odd one (to report)",
    )


def naturally_asked(arguments: argparse.Namespace) -> list[Asked]:
    """Return the questions of each corpus; what is missing is told on stderr.

    Raises:
        RagError: a named set is missing, or questions cannot be read.
    """
    data = arguments.data
    names, absent = choose(data, names_in(arguments.sets))
    for name in absent:
        tell(f"{name}: skipped, it is not in {data}")
    corpora, lacking = read_asked(data, names, arguments.limit, arguments.half)
    for lacked, ids in lacking.items():
        tell(f"{lacked}: {len(ids)} questions skipped, {data / lacked} holds no corpus")
    return corpora


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Ask, and print a table for each set."""
    answered: dict[str, dict[str, list[Answered]]] = {}
    for corpus in naturally_asked(arguments):
        for system in open_systems(corpus.data_set, settings, arguments.systems):
            for name, cases in corpus.cases.items():
                rows = asyncio.run(ask_all(cases, system, corpus.documents))
                answered.setdefault(name, {}).setdefault(system.name, []).extend(rows)
    for name, systems in answered.items():
        print(f"{name}\n\n{table(systems, KINDS[name].MEASURES)}\n")
        for label, rows in systems.items():
            path = made(settings.bench.dir / "helpful" / name) / f"{label.replace(' ', '_')}.jsonl"
            lines = (json.dumps(row.to_dict(), ensure_ascii=False) for row in sorted(rows, key=lambda row: row.place))
            path.write_text("".join(f"{line}\n" for line in lines))
            tell(f"answers: {path}")
    print(made_on())
    kept = {
        name: {system: figures(rows, KINDS[name].MEASURES) for system, rows in systems.items()}
        for name, systems in answered.items()
    }
    keep("helpful", kept, settings)
    return 0


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
    lines = []
    for measure, digits in measures.items():
        if whole := [n for rows in answered.values() if (n := mean_of(rows, measure).n)]:
            values = (mean_of(rows, measure).value for rows in columns.values())
            lines.append([_marked(measure, whole), *(figure(value, digits) for value in values)])
    lines.append(["quotes verbatim", *map(_verbatim, columns.values())])
    asked = [len(rows) for rows in answered.values()]
    for percent in (50, 95):
        times = (
            figure(percentile([row.total_ms for row in rows], percent) if rows else None, 0)
            for rows in columns.values()
        )
        lines.append([_marked(f"complete answer, p{percent}, ms", asked), *times])
    return aligned(["measure", *columns], lines)


def figures(rows: Rows, measures: Mapping[str, int]) -> dict[str, Any]:
    """Return what one system's column shows as JSON-ready values, unrounded."""
    means = {measure: mean_of(rows, measure) for measure in measures}
    return {
        "means": {measure: {"value": mean.value, "n": mean.n} for measure, mean in means.items()},
        "questions": len(rows),
        "quotes": sum(len(row.row.citations) for row in rows),
        "verbatim": sum(row.verbatim for row in rows),
        **{f"p{percent}_ms": round(percentile([row.total_ms for row in rows], percent), 1) for percent in (50, 95)},
    }


def mean_of(rows: Rows, measure: str) -> Mean:
    """Return the mean over the rows that have the measure."""
    return mean(scored(row.scores[measure]) for row in rows if measure in row.scores)


def _marked(measure: str, counts: Sequence[int]) -> str:
    least, most = min(counts), max(counts)
    if least >= FEW:
        return measure
    return f"{measure} (n = {least})" if least == most else f"{measure} (n = {least}–{most})"


def _verbatim(rows: Rows) -> str:
    return f"{sum(row.verbatim for row in rows)} of {sum(len(row.row.citations) for row in rows)}"
