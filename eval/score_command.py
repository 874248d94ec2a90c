"""`python -m eval score RUN`: score a run that was asked before, e.g. by a judge, or with metrics that are new.

Flow: a run's folder -> **here** -> `scoring/stage.py` -> the table of `asking/` on stdout. What needs no language model
is always recomputed; a judge is asked only for what it has not judged yet.
"""

import argparse
import sys
from pathlib import Path

from eval.asking.table import describe
from eval.run_command import add_scores
from eval.run_folder import RunFolder
from eval.scoring.judge_option import Judging, add_judge_arguments
from settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `score`."""
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of a run, e.g. runs/questions-default")
    add_judge_arguments(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Score the run and tell its means; 1 if its judge was given up."""
    folder, judging = RunFolder(arguments.run), Judging.of(arguments, settings)
    folder.header()  # says so where there is no run, before a folder is made for its lock
    with folder.writing():
        add_scores(folder, settings, judging, again=True)
    sys.stdout.write(describe(folder, judging.describe(folder) if judging else "") + "\n")
    return int(judging is not None and judging.given_up)
