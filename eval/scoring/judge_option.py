"""`--judge` of `python -m eval run` and `score`: the options, the scoring, and what it took.

Flow: `asking/command.py`, `command.py` -> **here** -> `stage.score_run` with the scorers of `build.py`.

A judge that is given up is not an error: what was scored stays, the tables are printed, and the next call goes on.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from errors import SettingsError
from eval.argument_types import whole_number
from eval.cells import mean
from eval.progress_bar import ScoringProgress
from eval.run_folder import RunFolder
from eval.scoring.build import judged_scorers, open_judge
from eval.scoring.catalogue import names_of
from eval.scoring.judge_client import Judge, place_of
from eval.scoring.judged.families import OWN
from eval.scoring.judged.noise import noise
from eval.scoring.stage import Scorer, score_run
from eval.tables import aligned, counted
from settings import Settings

FAMILIES = (*OWN, "ragas")
DEFAULT = ("nuggets_judged", "support", "ragas")


def add_judge_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of judging."""
    group = parser.add_argument_group("a judge", "a language model decides what cannot be computed")
    group.add_argument("--judge", action="store_true", help="score by the model that RAG_JUDGE__* name, too")
    group.add_argument(
        "--family",
        dest="families",
        action="append",
        choices=FAMILIES,
        help=f"let the judge decide only this family of metrics; may be repeated (default: {', '.join(DEFAULT)})",
    )
    group.add_argument(
        "--repeats",
        type=whole_number,
        metavar="N",
        help="judge every row N times, and tell how far the judge disagrees with itself (default: once)",
    )
    group.add_argument(
        "--deepeval-python",
        type=Path,
        metavar="PATH",
        help="score by DeepEval too, with the same judge: the Python of DeepEval's environment",
    )


@dataclass(frozen=True, slots=True)
class Judging:
    """One call's judging, of every row `repeats` times in all."""

    judge: Judge
    scorers: Sequence[Scorer]
    repeats: int

    @classmethod
    def of(cls, arguments: argparse.Namespace, settings: Settings) -> "Judging | None":
        """Return what the options ask for, None if that is nothing; nothing is asked or loaded yet.

        Raises:
            RagError: the settings name no judge, RAGAS is missing, or an option stands without `--judge`.
        """
        if not arguments.judge:
            stray = {
                "--family": arguments.families,
                "--repeats": arguments.repeats,
                "--deepeval-python": arguments.deepeval_python,
            }
            for option in (option for option, value in stray.items() if value is not None):
                raise SettingsError(f"{option} does nothing without a judge.", "Add --judge, or leave it out.")
            return None
        judge = open_judge(settings)
        scorers = judged_scorers(settings, judge, arguments.families or DEFAULT, arguments.deepeval_python)
        return cls(judge, scorers, arguments.repeats or 1)

    @property
    def given_up(self) -> bool:
        """Whether rows were left because the judge was down."""
        return self.judge.given_up is not None

    def score(self, folder: RunFolder, stream: TextIO) -> None:
        """Judge what is not judged yet, and show on `stream` how that goes. Only below `folder.writing()`."""
        with closing(ScoringProgress(stream)) as progress:
            score_run(folder, self.scorers, self.repeats, by=self.judge.settings.model or "", progress=progress)

    def describe(self, folder: RunFolder) -> str:
        """Return what judging took and how sure it is, as Markdown."""
        names = [name for scorer in self.scorers for name in names_of(scorer.family)]
        parts = ["## The judge", self._took(), _left(folder, names)]
        if (why := self.judge.given_up) is not None:
            parts.append(
                f"**The judge was given up, and rows are left.** {why} Then the same command goes on where it was."
            )
        if self.repeats > 1:
            parts.append(_noise(folder, names))
        return "\n\n".join(part for part in parts if part)

    def _took(self) -> str:
        tally = self.judge.tally
        tokens = f"{tally.prompt_tokens:,} tokens read, {tally.completion_tokens:,} written"
        took = (
            f"{self.judge.settings.model} at {place_of(self.judge.settings.base_url or '')}:\n"
            f"- {tally.replies:,} replies of the server{f': {tokens}' if tally.prompt_tokens else ''}\n"
            f"- {tally.remembered:,} remembered from earlier\n"
            f"- {tally.failed:,} questions without a usable reply\n"
            f"- {tally.tried_again:,} requests tried again"
        )
        if not tally.replies or 2 * tally.failed <= tally.replies + tally.remembered:
            return took
        return (
            f"{took}\n\n**Most replies were unusable.** This model is too weak a judge, or RAG_JUDGE__RESPONSE_FORMAT="
            f"{self.judge.settings.response_format} does not make this server write JSON."
        )


def _left(folder: RunFolder, names: Sequence[str]) -> str:
    """Name the metrics that are not scored on every row, and the commonest reason."""
    alike: dict[str, list[str]] = {}
    cases, cells = folder.cases(), folder.cells()
    for name in names:
        column = [cells.get(case.id, {}).get(name) for case in cases]
        over = mean(column)
        if over.n < over.of:
            reasons = Counter(cell.failed for cell in column if cell is not None and cell.failed)
            reason, times = next(iter(reasons.most_common(1)), ("Not judged yet.", over.of - over.n))
            alike.setdefault(f"{over.n} of {over.of} rows scored. {reason} ({counted(times, 'row')})", []).append(name)
    return "\n".join(f"- {', '.join(names)}: {why}" for why, names in alike.items())


def _noise(folder: RunFolder, names: Sequence[str]) -> str:
    found = [(name, one) for name, one in noise(folder.scores()).items() if name in names]
    if not found:
        return ""
    return (
        "How far the judge disagrees with itself: standard deviation of one row's score, and of the mean, each row "
        "judged once. A difference of two runs within three of the latter may be nothing but this.\n\n"
    ) + aligned(
        ["metric", "rows", "times", "one row, sd", "the mean, sd"],
        ([name, str(one.rows), str(one.repeats), f"{one.row_sd:.3f}", f"{one.mean_sd:.4f}"] for name, one in found),
    )
