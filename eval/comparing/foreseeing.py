"""Say before a run is asked how small a difference from it its questions can show.

Flow: the questions, and the runs beside the one that begins -> **here** -> `run_command.py` tells it. The arithmetic is
`intervals.py`'s. Too few questions are better known before an hour of asking than after it.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from eval.cases import Case, apart
from eval.cells import score_of
from eval.comparing.intervals import CORRELATION, FEWEST_PAIRS, POWER, Numbers, smallest_difference
from eval.comparing.verdicts import drawn_from
from eval.run_folder import RunFolder, RunFolderError
from eval.tables import counted

METRIC = "word_recall"


def foresee(cases: Sequence[Case], runs: Path) -> str:
    """Return a sentence: the smallest difference that two runs of these questions can show.

    Args:
        cases: the questions; those without an answer are judged apart, and not counted.
        runs: folder of runs. The last that scored all these questions tells how far their scores scatter.
    """
    asked, _ = apart(cases)
    documents = drawn_from(asked)
    told = f"With these {counted(len(asked), 'question')} with an answer"
    if len(set(documents)) < FEWEST_PAIRS:
        return f"{told} `compare` can tell no difference: it needs {FEWEST_PAIRS}, drawn from as many documents."
    scores, source = _last_scores(asked, runs)
    seen = smallest_difference(documents, scores)
    where = f"in {METRIC}, whose scores scatter as in {source}" if source else "in a score of 0 to 1, at worst"
    return (
        f"{told} you can see differences of ±{seen:.2f} {where} "
        f"(power {100 * POWER:g} %, level 5 %, if the runs' scores correlate by {CORRELATION:g})."
    )


def _last_scores(asked: Sequence[Case], runs: Path) -> tuple[Numbers | None, Path | None]:
    """Return the scores of the last run that has one for each of the questions, and its folder."""
    begun: list[tuple[str, RunFolder]] = []
    for folder in map(RunFolder, runs.iterdir() if runs.is_dir() else ()):
        with suppress(RunFolderError):  # whatever else lies there is not this command's to judge
            begun.append((folder.header().started, folder))
    for _, folder in sorted(begun, key=lambda one: one[0], reverse=True):
        with suppress(RunFolderError):
            questions, cells = {case.id: case.question for case in folder.cases()}, folder.cells()
            scores = [score_of(cells.get(case.id, {}), METRIC) for case in asked]
            if None not in scores and all(questions[case.id] == case.question for case in asked):
                return np.array(scores, dtype=float), folder.path
    return None, None
