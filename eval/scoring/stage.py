"""Score a run: rows without cells get them, one row and one family a line.

Flow: `asking/` and `command.py` -> **here** -> the scorers of `build.py` -> `run_folder.py` keeps their cells.

Each line is written before the next one is waited for, so that a kill costs at most what was being scored; the disk
itself is waited for once a second, or six thousand computed lines would take longer to keep than to compute. Cells that
failed are scored again at the next call, because a judge that was down may be up; those of a row that has no reply are
not, since asking that row again is what helps.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from eval.cases import Case
from eval.cells import Cell, Metric
from eval.rows import Row
from eval.run_folder import RunFolder, Scored
from eval.summary import overview

Todo = Sequence[tuple[Case, Row]]
Cells = dict[str, Cell]
SYNC_EVERY_S = 1.0
Progress = Callable[[str, int, int], None]


class Scorer(Protocol):
    """Scores rows by the metrics of some families."""

    @property
    def families(self) -> tuple[str, ...]:
        """The families that it yields for each row."""

    def score(self, todo: Todo, repeat: int = 0) -> Iterator[tuple[str, str, Cells]]:
        """Yield (row id, family, cells) as soon as they are known, in any order.

        Args:
            todo: rows that lack cells, with their cases; rows that failed among them.
            repeat: which time this row is scored, 0 at first; deterministic scorers may ignore it.
        """


class EachRow:
    """A scorer of one family whose rows are scored one by one, quickly and always the same.

    Args:
        family: of the cells.
        cells: scores one row.
    """

    def __init__(self, family: str, cells: Callable[[Case, Row], Cells]) -> None:
        self.families = (family,)
        self._cells = cells

    def score(self, todo: Todo, repeat: int = 0) -> Iterator[tuple[str, str, Cells]]:  # noqa: ARG002
        """Yield the cells of each row; see `Scorer`."""
        for case, row in todo:
            yield row.id, self.families[0], self._cells(case, row)


def score_run(
    folder: RunFolder,
    scorers: Sequence[Scorer],
    repeats: int = 1,
    *,
    by: str = "",
    again: bool = False,
    progress: Progress | None = None,
) -> None:
    """Append to the run's scores what is not there yet. Only below `folder.writing()`.

    Args:
        folder: holds the rows.
        scorers: each is asked once for each repeat.
        repeats: how often to score every row in all.
        by: who decides, if a judge does; what another one said is as good as not there.
        again: also what is there; cells that come out the same are not written twice.
        progress: told (family, rows done, rows to do) after every row.
    """
    rows = folder.rows()
    digests = {id_: row.digest() for id_, row in rows.items()}
    pairs = [(case, rows[case.id]) for case in folder.cases() if case.id in rows]
    kept = {(line.id, line.family, line.repeat): line for line in folder.scores() if line.by == by}
    synced = 0.0
    for scorer in scorers:
        for repeat in range(repeats):
            todo = pairs if again else [pair for pair in pairs if _lacks(kept, pair[1], scorer.families, repeat)]
            done = dict.fromkeys(scorer.families, 0)
            for id_, family, cells in scorer.score(todo, repeat) if todo else ():
                line = Scored(id=id_, of=digests[id_], family=family, repeat=repeat, by=by, cells=cells)
                if kept.get((id_, family, repeat)) != line:
                    due = time.monotonic() - synced >= SYNC_EVERY_S
                    folder.append_scores(line, sync=due)
                    synced = time.monotonic() if due else synced
                done[family] += 1
                if progress:
                    progress(family, done[family], len(todo))
    overview(folder)


def failed_for(row: Row) -> str:
    """Return why no metric can say anything of a row that failed."""
    return f"no reply: {row.reason or 'the reason was not told'}"


def all_of(metrics: Iterable[Metric], cell: Cell) -> Cells:
    """Return the same cell for each metric."""
    return {metric.name: cell for metric in metrics}


def _lacks(kept: Mapping[tuple[str, str, int], Scored], row: Row, families: Sequence[str], repeat: int) -> bool:
    lines = [kept.get((row.id, family, repeat)) for family in families]
    if None in lines:
        return True
    broken = any(cell.failed is not None for line in lines if line for cell in line.cells.values())
    return broken and row.outcome != "failed"
