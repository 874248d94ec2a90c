"""`python -m eval run QUESTIONS`: ask and score, and with `--reports` write the report as well.

Flow: `asking/command.py`, then `reporting/command.py`. Exit codes are those of `asking/command.py`.
"""

import argparse
import sys
from pathlib import Path

from errors import SettingsError
from eval.asking import command as asking
from eval.reporting.command import report
from settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `run`."""
    asking.add_arguments(parser)
    parser.add_argument(
        "--reports",
        "--output-dir",
        type=Path,
        metavar="FOLDER",
        help="also write eval_results.json, per_question_results.csv, eval_report.md and report.html into this folder",
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Ask, score, tell, and report."""
    if arguments.reports and arguments.no_scores:
        raise SettingsError("A report needs the scores.", "Leave out --no-scores or --reports.")
    code = asking.run(arguments, settings)
    if arguments.reports:
        _, files = report(asking.folder_of(arguments, settings), arguments.reports)
        sys.stdout.write("".join(f"  {path}\n" for path in files))
    return code
