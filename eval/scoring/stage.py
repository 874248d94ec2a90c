"""Score a run: rows without cells get them, one row and one family a line.

Flow: `asking/` and `command.py` -> **here** -> the scorers of `build.py` -> `run_folder.py` keeps their cells.

Each line is written before the next one is waited for, so that a kill costs at most what was being scored; the disk
itself is waited for once a second, or six thousand computed lines would take longer to keep than to compute. Cells that
failed are scored again at the next call, because a judge that was down may be up; those of a row that has no reply are
not, since asking that row again is what helps.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from eval.cases import Case
from eval.cells import Cell, failed, not_applicable, scored
from eval.metrics import words
from eval.rows import Row
from eval.run_folder import RunFolder, Scored

Todo = Sequence[tuple[Case, Row]]
Cells = dict[str, Cell]
Line = tuple[str, Cells]
"""A row's id, and its cells of one family."""
Need = Literal["reference", "references", "words", "contexts", "nuggets", "facts", "answer", "passages", "quotes"]
"""What a metric looks at. References are the right answers, alternatives among them, and words are those that hold one;
facts are nuggets, or what nuggets can be made of."""
SYNC_EVERY_S = 1.0
Progress = Callable[[str, int, int], None]


class Scorer(Protocol):
    """Scores rows by the metrics of one family."""

    @property
    def family(self) -> str:
        """The name of the family."""

    def score(self, todo: Todo, repeat: int = 0) -> Iterator[Line]:
        """Yield the cells of each row as soon as they are known, in any order.

        Args:
            todo: rows that lack cells, with their cases; rows that failed among them.
            repeat: which time this row is scored, 0 at first; deterministic scorers may ignore it.
        """


@dataclass(frozen=True, slots=True)
class EachRow:
    """A scorer whose rows are scored one by one, quickly and always the same."""

    family: str
    cells: Callable[[Case, Row], Cells]

    def score(self, todo: Todo, repeat: int = 0) -> Iterator[Line]:  # noqa: ARG002
        """Yield the cells of each row; see `Scorer`."""
        for case, row in todo:
            yield row.id, self.cells(case, row)


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
        family = scorer.family
        for repeat in range(repeats):
            todo = [(case, row) for case, row in pairs if again or _is_open(kept.get((row.id, family, repeat)), row)]
            for done, (id_, cells) in enumerate(scorer.score(todo, repeat) if todo else (), start=1):
                line = Scored(id=id_, of=digests[id_], family=family, repeat=repeat, by=by, cells=cells)
                if kept.get((id_, family, repeat)) != line:
                    due = time.monotonic() - synced >= SYNC_EVERY_S
                    folder.append_scores(line, sync=due)
                    synced = time.monotonic() if due else synced
                if progress:
                    progress(family, done, len(todo))


def _is_open(kept: Scored | None, row: Row) -> bool:
    return kept is None or (row.outcome != "failed" and any(cell.failed is not None for cell in kept.cells.values()))


def lacking(case: Case, row: Row, *needs: Need, declined: float | None = None, is_empty: bool = False) -> Cell | None:
    """Return the cell of a row that cannot be scored for what its case or itself lacks; None if it can be.

    Args:
        case: what it lacks comes first: a metric that it does not allow cannot fail.
        row: its reply.
        needs: of the metric.
        declined: the score of a declined row; None where it has none.
        is_empty: whether the answer says nothing to this metric: then it counts as declined.
    """
    if why := _case_lacks(case, needs):
        return not_applicable(why)
    if row.outcome == "failed":
        return failed(failed_for(row))
    if row.outcome == "declined" or is_empty:
        if declined is not None:
            return scored(declined)
        if "answer" in needs:
            return not_applicable("the service declined" if row.outcome == "declined" else "the answer is empty")
    # A service with a fingerprint also sends passages and citations: there were none.
    if "passages" in needs and not (row.passages or row.fingerprint):
        return not_applicable("the service reports no passages")
    if "quotes" in needs and not (row.citations or row.fingerprint):
        return not_applicable("the service reports no citations")
    if "quotes" in needs and row.citations and not any(citation.quote for citation in row.citations):
        return not_applicable("the service reports no quotes")
    return None


def _case_lacks(case: Case, needs: Sequence[Need]) -> str:
    if case.unanswerable:
        return "the corpus does not answer the question"
    no_reference = "the case has no reference answer"
    known = (
        ("reference", case.answer, no_reference),
        ("references", case.answer or case.alternatives, no_reference),
        ("words", references_of(case), "the reference answer holds no word" if case.answer else no_reference),
        ("contexts", case.references, "the case has no reference contexts"),
        ("nuggets", case.nuggets, "the case has no nuggets"),
        (
            "facts",
            case.nuggets or case.answer or any(case.references),
            "the case has neither nuggets nor a reference to make them from",
        ),
    )
    return next((why for need, has, why in known if need in needs and not has), "")


def references_of(case: Case) -> tuple[str, ...]:
    """Return the right answers that say anything; none if the question has none."""
    known = () if case.unanswerable else (case.answer, *case.alternatives)
    return tuple(text for text in known if text and words(text))


def failed_for(row: Row) -> str:
    """Return why no metric can say anything of a row that failed."""
    return f"no reply: {row.reason or 'the reason was not told'}"
