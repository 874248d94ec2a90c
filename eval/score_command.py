"""`python -m eval score RUN`: score a run that was asked before, e.g. by a judge, or with metrics that are new.

Flow: a run's folder -> **here** -> `scoring/stage.py` -> the table of `asking/` on stdout; it stands beside the two,
since neither may know the other's commands. What needs no language model is always recomputed; a judge is asked only
for what it has not judged yet.
"""

import argparse
import sys
from contextlib import closing
from pathlib import Path

from eval.asking.table import describe
from eval.run_folder import RunFolder
from eval.scoring.build import offline_scorers
from eval.scoring.judge_option import Judging, add_judge_arguments
from eval.scoring.progress import ScoringProgress
from eval.scoring.stage import score_run
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
        with closing(ScoringProgress(sys.stderr)) as bar:
            progress = bar if sys.stderr.isatty() else _tell
            score_run(folder, offline_scorers(settings), again=True, progress=progress)
        if judging:
            judging.score(folder, sys.stderr)
    sys.stdout.write(describe(folder, judging.describe(folder) if judging else "") + "\n")
    return int(judging is not None and judging.given_up)


def _tell(family: str, done: int, of: int) -> None:
    if done == of:
        sys.stderr.write(f"{family}: {done} rows scored\n")
        sys.stderr.flush()
