"""The arguments that several measurements and trainings take, and the data sets that they choose.

Flow: a command's `add_arguments` -> **these** -> argparse.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.datasets import DataSet, find_sets
from eval.argument_types import whole_number


def add_sets(parser: argparse.ArgumentParser, default: Sequence[str] = ()) -> None:
    """Add `--data` and `--sets`, for `choose_sets`; `default` are the sets, all if empty."""
    parser.add_argument("--data", type=Path, help="folder of data sets, or one data set (default: the sample corpus)")
    names = ",".join(default)
    parser.add_argument(
        "--sets", default=names, help=f"comma-separated names of the sets to use (default: {names or 'all'})"
    )


def add_limit(parser: argparse.ArgumentParser) -> None:
    """Add `--limit`."""
    parser.add_argument("--limit", type=whole_number, help="ask only the first N questions of each set", metavar="N")


def add_count(parser: argparse.ArgumentParser, name: str, about: str, default: int) -> None:
    """Add an option that takes a number of at least 1."""
    parser.add_argument(name, type=whole_number, default=default, help=f"{about} (default: {default})", metavar="N")


def names_in(text: str) -> list[str]:
    """Return the names in a comma-separated list."""
    return [name.strip() for name in text.split(",") if name.strip()]


def choose_sets(arguments: argparse.Namespace) -> list[DataSet]:
    """Return the data sets that `add_sets` named; folders that hold none are listed on stderr.

    Raises:
        RagError: a named set, or any at all, is missing.
    """
    chosen, others = find_sets(arguments.data, names_in(arguments.sets))
    for name in others:
        print(f"{name}: skipped, it has no questions.jsonl with corpus/ or corpus.jsonl", file=sys.stderr)
    return chosen
