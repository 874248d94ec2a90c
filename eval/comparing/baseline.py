"""`python -m eval baseline RUN`: keep a run as what later ones are compared with.

Flow: a run's folder -> `command.describe` shows what changes -> **here** -> a smaller run folder in the repository.

A baseline is a run like any other, without what no comparison reads or what differs from machine to machine: times,
passages, citations, and the scores by families that need a judge or an extra package. Nothing is asked back: what was
there before is in git.

What `make regress` tells apart, on 53 questions: it passes the same code (no difference in any row), a CPU without VNNI
(`ONEDNN_MAX_CPU_ISA=AVX512_CORE`; `similarity` -0.040) and `RAG_EMBED__PRECISION=fp32` (largest judged loss: `token_f1`
-0.019). It fails `RAG_RETRIEVAL__TOP_K=1` (`doc@3` -0.146, `mrr` -0.065, `recall@8000` -0.225, `word_recall` -0.092),
`RAG_RETRIEVAL__MODE=lexical RAG_RETRIEVAL__MERGE=false` (`doc@1` -0.146, `word_recall` -0.134, `declined` +0.171) and
`RAG_ANSWER__MAX_WORDS=15` (`word_recall` -0.177; `token_f1` +0.092, because answers are shorter). For a smaller change
ask more questions.
"""

import argparse
import shutil
import sys
from pathlib import Path

from errors import RagError
from eval.comparing.changed import changed_rows
from eval.comparing.command import describe
from eval.comparing.pairing import join, read_side
from eval.comparing.verdicts import Rules, judge
from eval.rows import Row
from eval.run_folder import LOCK, RunFolder, Scored
from eval.scoring.offline import abstention, answer, citations, retrieval
from settings import Settings

SAMPLE = Path("eval/baselines/sample")
FAMILIES = frozenset({retrieval.FAMILY, answer.FAMILY, citations.FAMILY, abstention.FAMILY})
_LEFT_OUT = {"timings_ms", "seconds", "first_record_s", "passages", "citations", "fingerprint"}


class BadBaselineError(RagError):
    """A run cannot be a baseline."""

    code = "bad_baseline"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `baseline`."""
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of the run to keep, e.g. var/regress/run")
    parser.add_argument(
        "--to", type=Path, default=SAMPLE, metavar="FOLDER", help="what it replaces (default: %(default)s)"
    )
    parser.add_argument("--rows", type=int, default=3, metavar="N", help="show the N worst losses and best gains (3)")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")


def run(arguments: argparse.Namespace, _settings: Settings) -> int:
    """Show how the run differs from the baseline, then replace the baseline."""
    new, kept = RunFolder(arguments.run), RunFolder(arguments.to)
    _check(new)
    if kept.exists():
        joined = join(read_side(kept), read_side(new))
        rules = Rules()
        text = describe(joined, rules, judge(joined, rules), changed_rows(joined), arguments.rows)
        sys.stdout.write(text + "\n\n")
    if arguments.dry_run:
        sys.stdout.write(f"{kept.path} is as it was (--dry-run).\n")
        return 0
    keep(new, kept.path)
    sys.stdout.write(f"{kept.path} is {new.path} now: see git diff --stat, and commit it with the change.\n")
    return 0


def keep(run_folder: RunFolder, path: Path) -> None:
    """Write the reduced run to `path`, replacing any run that is there.

    Raises:
        BadBaselineError: there is something that is no run.
    """
    target, draft = RunFolder(path), RunFolder(path.with_name(f"{path.name}.part"))
    if path.exists() and not target.exists():
        raise BadBaselineError(f"{path} exists and holds no run.", "Name another folder with --to.")
    shutil.rmtree(draft.path, ignore_errors=True)
    rows = {id_: _reduced(row) for id_, row in run_folder.rows().items()}
    draft.create(run_folder.header(), run_folder.cases())
    with draft.writing():
        for row in rows.values():
            draft.append_row(row)
        place = {id_: number for number, id_ in enumerate(rows)}
        for line in sorted(run_folder.scores(), key=lambda line: (place[line.id], line.family, line.repeat)):
            if line.family in FAMILIES:
                draft.append_scores(line.model_copy(update={"of": rows[line.id].digest()}))
    (draft.path / LOCK).unlink()
    shutil.rmtree(path, ignore_errors=True)
    draft.path.replace(path)


def _check(folder: RunFolder) -> None:
    """Refuse what would make later runs look better than they are."""
    side = read_side(folder)
    lacking = [id_ for id_ in side.cases if id_ not in side.rows or side.rows[id_].outcome == "failed"]
    if lacking:
        raise BadBaselineError(
            f"{folder.path} lacks a reply to {len(lacking)} of {len(side.cases)} questions, e.g. {lacking[0]}.",
            "Run it again: the same command asks what is missing.",
        )
    broken = [line for line in side.scores if line.family in FAMILIES and _is_broken(line)]
    if broken:
        raise BadBaselineError(
            f"{folder.path} has failed scores, e.g. {broken[0].family} of {broken[0].id}.",
            f"See why, then score it again: python -m eval score {folder.path}.",
        )


def _is_broken(line: Scored) -> bool:
    return any(cell.failed is not None for cell in line.cells.values())


def _reduced(row: Row) -> Row:
    return Row.model_validate(row.model_dump(exclude=_LEFT_OUT))
