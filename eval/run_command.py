"""`python -m eval run QUESTIONS`: ask every question, keep the replies, score them, say how it went.

Flow: a file of questions -> `asking/` fills the run's folder -> `scoring/` -> **here**: the table on stdout, and with
`--reports` the report. Exit codes: 0 every question has a reply, 1 some have none, or a foreseen failure.
"""

import argparse
import sys
from contextlib import closing
from pathlib import Path

from errors import SettingsError
from eval.asking.command import add_asking_arguments, ask_questions, folder_of
from eval.asking.table import describe
from eval.comparing.foreseeing import foresee
from eval.progress_bar import ScoringProgress, tell
from eval.questions.reading import add_question_arguments, questions_of
from eval.reporting.command import report
from eval.run_folder import RunFolder
from eval.scoring.build import offline_scorers
from eval.scoring.judge_option import Judging, add_judge_arguments
from eval.scoring.stage import score_run
from settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `run`."""
    add_question_arguments(parser)
    add_asking_arguments(parser)
    add_judge_arguments(parser)
    parser.add_argument("--no-scores", action="store_true", help="compute none; `python -m eval score` does")
    parser.add_argument(
        "--reports",
        "--output-dir",
        type=Path,
        metavar="FOLDER",
        help="also write eval_results.json, per_question_results.csv, eval_report.md and report.html into this folder",
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Ask, score, tell and report; 1 if a question has no reply, or its judge was given up."""
    if arguments.reports and arguments.no_scores:
        raise SettingsError("A report needs the scores.", "Leave out --no-scores or --reports.")
    folder, judging = folder_of(arguments, settings), Judging.of(arguments, settings)
    cases = questions_of(arguments)
    tell(foresee(cases, folder.path.parent))
    with folder.writing():
        ask_questions(arguments, settings, folder, cases)
        add_scores(folder, settings, judging, computed=not arguments.no_scores)
    sys.stdout.write(describe(folder, judging.describe(folder) if judging else "") + "\n")
    if arguments.reports:
        _, files = report(folder, arguments.reports)
        sys.stdout.write("".join(f"  {path}\n" for path in files))
    rows = folder.rows()
    lost = any(case.id not in rows or rows[case.id].outcome == "failed" for case in cases)
    return int(lost or (judging is not None and judging.given_up))


def add_scores(
    folder: RunFolder, settings: Settings, judging: Judging | None, *, computed: bool = True, again: bool = False
) -> None:
    """Score a run, by a judge too if there is one. Only below `folder.writing()`.

    Args:
        folder: of the run.
        settings: of the models that scores are computed with.
        judging: the judge.
        computed: also compute what needs no judge.
        again: see `score_run`.
    """
    if computed:
        with closing(ScoringProgress(sys.stderr)) as bar:
            # Elsewhere than on a terminal a line every tenth of each family would be more than it is worth.
            progress = bar if sys.stderr.isatty() else _tell_family
            score_run(folder, offline_scorers(settings), again=again, progress=progress)
    if judging:
        judging.score(folder, sys.stderr)


def _tell_family(family: str, done: int, of: int) -> None:
    if done == of:
        tell(f"{family}: {done} rows scored")
