"""`python -m eval report RUN`: write a run as a page, as Markdown, as JSON and as CSV.

Flow: the run's folder -> `gather.py`, `reporting/figures/history.py` -> `reporting/page/html.py`,
`reporting/page/markdown.py`, `results.py` -> **here** writes four files. It reads only what is there: nothing is asked
or scored, and the same run gives the same bytes.

`docs/report.png` is the page of `data/questions.jsonl`, taken by `chromium --headless --hide-scrollbars
--window-size=1200,1000 --screenshot=docs/report.png "file://$PWD/runs/sample/report.html"`.
"""

import argparse
import os
import sys
from pathlib import Path

from errors import RagError
from eval.reporting.figures.history import read_history
from eval.reporting.gather import Gathered, gather
from eval.reporting.page.html import render_page
from eval.reporting.page.markdown import render_markdown
from eval.reporting.results import questions_csv, results_json
from eval.run_folder import RunFolder
from eval.scoring.catalogue import METRICS
from settings import Settings

PAGE, MARKDOWN, RESULTS, QUESTIONS = "report.html", "eval_report.md", "eval_results.json", "per_question_results.csv"


class NoHistoryError(RagError):
    """There is no folder of earlier runs where one was named."""

    code = "no_history"


class NotWrittenError(RagError):
    """The report cannot be written to its place."""

    code = "not_written"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of the run, e.g. runs/NAME")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="folder for the files; the run's own by default")
    parser.add_argument("--against", type=Path, metavar="RUN", help="another run, whose figures are shown beside")
    parser.add_argument(
        "--history", type=Path, metavar="FOLDER", help="folder of earlier runs; by default the one that the run is in"
    )


def run(arguments: argparse.Namespace, _settings: Settings) -> int:
    """Write the files and print where they are."""
    out = arguments.out or arguments.run
    gathered, files = report(RunFolder(arguments.run), out, arguments.against, arguments.history)
    print("\n".join([*_summary(gathered), "", *(f"  {path}" for path in files)]))
    return 0


def report(
    folder: RunFolder, out: Path, against: Path | None = None, earlier: Path | None = None
) -> tuple[Gathered, list[Path]]:
    """Write the files of a run into `out`, and return the run's figures and the paths.

    Args:
        folder: of the run.
        out: is made if it does not exist.
        against: folder of another run, whose figures are shown beside.
        earlier: folder of earlier runs; None means the one that the run is in.

    Raises:
        RunFolderError: there is no run, or a damaged one.
        NothingToReportError: it has no scores.
        NoHistoryError: the folder of earlier runs does not exist.
        NotWrittenError: `out` cannot be written.
    """
    gathered = gather(folder, METRICS)
    other = gather(RunFolder(against), METRICS) if against else None
    if earlier and not earlier.is_dir():
        raise NoHistoryError(f"{earlier} is not a folder.", "Name a folder that holds runs with --history.")
    print("Reading the runs of the same questions ...", file=sys.stderr)
    history = read_history(folder, earlier or folder.path.resolve().parent)
    files = {
        PAGE: render_page(gathered, history, other),
        MARKDOWN: render_markdown(gathered, history),
        RESULTS: results_json(gathered),
        QUESTIONS: questions_csv(gathered),
    }
    write(out, files)
    return gathered, [out / name for name in files]


def write(out: Path, files: dict[str, str]) -> None:
    """Write the files, each whole or not at all.

    Raises:
        NotWrittenError: the folder cannot be made or written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            draft = out / f"{name}.part"
            draft.write_text(text, encoding="utf-8", errors="replace", newline="")
            os.replace(draft, out / name)
    except OSError as error:
        raise NotWrittenError(
            f"The report cannot be written to {out}: {error.strerror or error}.", "Name another folder with --out."
        ) from error


def _summary(run: Gathered) -> list[str]:
    told = [f"{run.name}: {len(run.cases)} questions, scores {run.source}"]
    told += [f"  {run.counts[kind.key]:>4}  {kind.title}" for kind in run.kinds]
    return [*told, *(f"  note: {notice}" for notice in run.notices)]
