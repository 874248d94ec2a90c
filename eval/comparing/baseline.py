"""`python -m eval baseline RUN`: keep a run as what later ones are compared with.

Flow: a run's folder -> `printing.py` shows what changes -> **here** -> a smaller run folder in the repository.

A baseline is a run like any other, without what no comparison reads or what differs from machine to machine: times,
passages, citations, and the scores by families that need a judge or an extra package. Nothing is asked back: what was
there before is in git.

What `make regress` tells apart, on 53 questions: it passes the same code on a machine under any load (no difference in
any row). It fails `RAG_RETRIEVAL__TOP_K=1` (`recall@2000` -0.090, `recall@8000` -0.200) and
`RAG_RETRIEVAL__MODE=lexical RAG_RETRIEVAL__MERGE=false` (`doc@1` -0.226, `mrr` -0.145). For a smaller change ask more
questions, about more documents.
"""

import argparse
import shutil
from pathlib import Path

from errors import RagError
from eval.comparing.pairing import join, read_run
from eval.comparing.printing import describe
from eval.comparing.verdicts import judge
from eval.rows import Row
from eval.run_folder import LOCK, RunFolder
from settings import Settings

SAMPLE = Path("eval/baselines/sample")
FAMILIES = frozenset({"retrieval", "answer", "citations", "abstention"})
_LEFT_OUT = {
    "timings_ms", "seconds", "first_record_s", "asked_at", "passages", "citations", "confirmed", "fingerprint",
}  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `baseline`."""
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of the run to keep, e.g. var/regress/run")
    parser.add_argument(
        "--to", type=Path, default=SAMPLE, metavar="FOLDER", help="what it replaces (default: %(default)s)"
    )


def run(arguments: argparse.Namespace, _settings: Settings) -> int:
    """Show how the run differs from the baseline, then replace the baseline."""
    new, kept = RunFolder(arguments.run), RunFolder(arguments.to)
    _check(new)
    if kept.exists():
        joined = join(read_run(kept), read_run(new))
        print(describe(joined, judge(joined)), end="\n\n")
    keep(new, kept.path)
    print(f"{kept.path} is {new.path} now: see git diff --stat, and commit it with the change.")
    return 0


def keep(run_folder: RunFolder, path: Path) -> None:
    """Write the reduced run to `path`, replacing any run that is there.

    Raises:
        RagError: something else than a run is there.
    """
    target, draft = RunFolder(path), RunFolder(path.with_name(f"{path.name}.part"))
    if path.exists() and not target.exists():
        raise RagError(f"{path} exists and holds no run.", "Name another folder with --to.", "bad_baseline")
    shutil.rmtree(draft.path, ignore_errors=True)
    rows = {id_: Row.model_validate(row.model_dump(exclude=_LEFT_OUT)) for id_, row in run_folder.rows().items()}
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
    run = read_run(folder)
    lacking = [case.id for case in run.cases if case.id not in run.rows or run.rows[case.id].outcome == "failed"]
    if lacking:
        raise RagError(
            f"{folder.path} lacks a reply to {len(lacking)} of {len(run.cases)} questions, e.g. {lacking[0]}.",
            "Run it again: the same command asks what is missing.",
            "bad_baseline",
        )
    broken = [line for line in run.scores if line.family in FAMILIES and any(one.failed for one in line.cells.values())]
    if broken:
        raise RagError(
            f"{folder.path} has failed scores, e.g. {broken[0].family} of {broken[0].id}.",
            f"See why, then score it again: python -m eval score {folder.path}.",
            "bad_baseline",
        )
