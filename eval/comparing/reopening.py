"""Read a run of an earlier version: its computed scores are made again from its replies, by what this version computes.

Flow: `command.py --reopen` -> **here** -> `pairing.py`. Nothing is asked, and the run stays as it is.

Scores of two versions may mean different things, and those of an earlier format may be bound to replies by another
digest. What a judge said cannot be computed again and is left out.
"""

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from eval.comparing.pairing import NotComparableError, Side, read_side
from eval.run_folder import ROWS, RunFolder
from eval.scoring.build import offline_scorers
from eval.scoring.stage import score_run
from settings import Settings


def reopen(folder: RunFolder, settings: Settings) -> Side:
    """Read a run, with scores of this version.

    Raises:
        RunFolderError: the folder holds no run, or one that this version cannot read.
        NotComparableError: its replies were left out when it was kept, so that nothing can be computed.
    """
    header, cases, rows = folder.header(), folder.cases(), folder.rows()
    answered = [row for row in rows.values() if row.outcome == "answered"]
    if answered and not any(row.passages or row.citations or row.fingerprint for row in answered):
        raise NotComparableError(
            f"{folder.path} is a baseline, kept without passages and citations: they cannot be scored again.",
            "Leave out --reopen, or ask the questions again and keep that run.",
        )
    sys.stderr.write(f"Scoring {folder.path} again ...\n")
    with TemporaryDirectory() as place:
        copy = RunFolder(Path(place) / "run")
        copy.create(header, cases)
        shutil.copyfile(folder.path / ROWS, copy.path / ROWS)
        with copy.writing():
            score_run(copy, offline_scorers(settings))
        return replace(read_side(copy), name=str(folder.path))
