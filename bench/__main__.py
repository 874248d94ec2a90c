"""`python -m bench retrieval|answers`: measurements on data sets, beside the stock LlamaIndex recipe.

stdout holds one Markdown table, stderr the progress; the figures behind the table go to a JSON file below
`RAG_BENCH__DIR`. Exit codes: 0 done, 1 a foreseen failure, 2 usage, 130 stopped.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import answers, retrieval
from bench.build import open_engine, open_stock, our_retrieval, stored_text
from bench.datasets import DataSet, find_sets
from bench.retrieval import OURS, STOCK
from errors import run_command
from eval.cases import Case, read_cases
from settings import VERSION, Settings, load_settings

_OURS = {True: OURS, False: f"{OURS}, leaves only"}


def main(argv: Sequence[str] | None = None) -> int:
    """Parse `argv`, run one measurement, translate its errors."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure retrieval and answers on data sets.")
    commands = parser.add_subparsers(dest="command", required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--data",
        type=Path,
        help="folder of data sets, each a folder with questions.jsonl and corpus/ or corpus.jsonl "
        "(default: RAG_BENCH__DATA, else the sample corpus)",
    )
    common.add_argument("--sets", default="", help="names of the sets to measure, with commas between (default: all)")
    common.add_argument("--limit", type=int, help="ask only the first N questions of each set")
    compare = commands.add_parser(
        "retrieval",
        parents=[common],
        help="our passages beside the stock recipe's, by every metric the questions allow",
        description="Build both indexes if need be, ask every question, print one table.",
    )
    compare.add_argument(
        "--merge",
        action=argparse.BooleanOptionalAction,
        help="measure ours only with, or only without merging leaves into larger passages (default: both)",
    )
    commands.add_parser(
        "answers",
        parents=[common],
        help="key-word recall, declined questions, true quotes, latency",
        description="Answer every question that says what the answer is, or that there is none.",
    )
    arguments = parser.parse_args(argv)
    if arguments.limit is not None and arguments.limit < 1:
        parser.error("--limit must be 1 or more")
    measure = {"retrieval": _retrieval, "answers": _answers}[arguments.command]
    return run_command(lambda: measure(arguments, load_settings()))


def _retrieval(arguments: argparse.Namespace, settings: Settings) -> int:
    merge = [True, False] if arguments.merge is None else [arguments.merge]
    comparisons = []
    for data_set in _chosen(arguments, settings):
        cases = _cases(data_set, arguments.limit)
        with open_engine(data_set, settings) as engine, closing(open_stock(data_set, engine, settings)) as stock:
            ours = {_OURS[merged]: our_retrieval(engine, settings, merge=merged) for merged in merge}
            systems = {STOCK: stock.retrieve, **ours}
            comparisons.append(retrieval.compare(data_set.name, cases, systems))
    print(retrieval.table(comparisons))
    _keep("retrieval", {comparison.name: comparison.to_dict() for comparison in comparisons}, settings)
    return 0


def _answers(arguments: argparse.Namespace, settings: Settings) -> int:
    answered: dict[str, list[answers.Answered]] = {}
    for data_set in _chosen(arguments, settings):
        cases = [case for case in _cases(data_set, arguments.limit) if case.answer or case.unanswerable]
        if not cases:
            print(f"{data_set.name}: skipped, its questions have no answers", file=sys.stderr)
            continue
        with open_engine(data_set, settings) as engine:
            answered[data_set.name] = asyncio.run(answers.answer_all(cases, engine, stored_text(engine)))
    print(answers.table(answered))
    _keep("answers", {name: [row.to_dict() for row in rows] for name, rows in answered.items()}, settings)
    return 0


def _chosen(arguments: argparse.Namespace, settings: Settings) -> list[DataSet]:
    names = [name.strip() for name in arguments.sets.split(",") if name.strip()]
    chosen, others = find_sets(arguments.data or settings.bench.data, names)
    for name in others:
        print(f"{name}: skipped, it has no questions.jsonl with corpus/ or corpus.jsonl", file=sys.stderr)
    return chosen


def _cases(data_set: DataSet, limit: int | None) -> tuple[Case, ...]:
    return read_cases(data_set.questions)[:limit]


def _keep(name: str, sets: dict[str, Any], settings: Settings) -> None:
    used = settings.model_dump(mode="json", include={"chunk", "embed", "retrieval", "llm", "answer"})
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    path = settings.bench.dir / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"version": VERSION, "made_at": made_at, "settings": used, "sets": sets}, indent=1))
    print(f"figures: {path}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
