"""`python -m eval report RUN`: write a run as a page, as Markdown, as JSON and as CSV.

Flow: the run's folder -> `gather.py` -> `page.py`, `results.py` -> **here** writes four files. It reads
only what is there: nothing is asked or scored, and the same run gives the same bytes.

`docs/report.png` is the page of `data/questions.jsonl`, taken by `chromium --headless --hide-scrollbars
--window-size=1200,1000 --screenshot=docs/report.png "file://$PWD/runs/sample/report.html"`.
"""

import argparse
from pathlib import Path

from errors import RagError
from eval.reporting.gather import Gathered, gather
from eval.reporting.page import render_markdown, render_page
from eval.reporting.results import questions_csv, results_json
from eval.run_folder import RunFolder, replace_file
from settings import Settings

PAGE, MARKDOWN, RESULTS, QUESTIONS = "report.html", "eval_report.md", "eval_results.json", "per_question_results.csv"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of the run, e.g. runs/NAME")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="folder for the files; the run's own by default")
    parser.add_argument("--against", type=Path, metavar="RUN", help="another run: say first whether this one is better")


def run(arguments: argparse.Namespace, _settings: Settings) -> int:
    """Write the files and print where they are."""
    out = arguments.out or arguments.run
    gathered, files = report(RunFolder(arguments.run), out, arguments.against)
    print(f"{gathered.name}: {len(gathered.cases)} questions, scores {gathered.source}")
    for kind in gathered.kinds:
        print(f"  {gathered.counts[kind.key]:>4}  {kind.title}")
    for notice in gathered.notices:
        print(f"  note: {notice}")
    print("", *(f"  {path}" for path in files), sep="\n")
    return 0


def report(folder: RunFolder, out: Path, against: Path | None = None) -> tuple[Gathered, list[Path]]:
    """Write the files of a run into `out`, and return the run's figures and the paths.

    Args:
        folder: of the run.
        out: is made if it does not exist.
        against: folder of another run, with which this one is compared.

    Raises:
        RunFolderError: there is no run, or a damaged one.
        RagError: it has no scores; or `out` cannot be written.
    """
    gathered = gather(folder, RunFolder(against) if against else None)
    files = {
        PAGE: render_page(gathered),
        MARKDOWN: render_markdown(gathered),
        RESULTS: results_json(gathered),
        QUESTIONS: questions_csv(gathered),
    }
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            replace_file(out / name, text)
    except OSError as error:
        raise RagError(
            f"The report cannot be written to {out}: {error.strerror or error}.",
            "Name another folder with --out.",
            "not_written",
        ) from error
    return gathered, [out / name for name in files]
