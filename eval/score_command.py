"""`python -m eval score RUN`: score a run that was asked before, e.g. with metrics that are new.

Flow: a run's folder -> **here** -> `scoring/stage.py` -> the table of `asking/` on stdout; it stands beside the two,
since neither may know the other's commands. What needs no language model is always computed anew.
"""

import argparse
import sys
from pathlib import Path

from eval.asking.table import describe
from eval.run_folder import RunFolder
from eval.scoring.build import offline_scorers
from eval.scoring.stage import score_run
from settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `score`."""
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of a run, e.g. runs/questions-default")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Score the run and tell its means."""
    folder = RunFolder(arguments.run)
    folder.header()  # says so where there is no run, before a folder is made for its lock
    with folder.writing():
        score_run(folder, offline_scorers(settings), again=True, progress=_tell)
    sys.stdout.write(describe(folder) + "\n")
    return 0


def _tell(family: str, done: int, of: int) -> None:
    if done == of:
        sys.stderr.write(f"{family}: {done} rows scored\n")
        sys.stderr.flush()
