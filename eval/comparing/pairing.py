"""Read runs whole, join two by their questions, and say what was left out and what else differs between them.

Flow: run folders -> **here** -> `verdicts.py`, `printing.py`, `reporting/`. Writes nothing.

Only questions that both runs asked, in the same words and against the same references, are compared: a mean over other
questions, or scores against another right answer, would look like a change of the system.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from errors import RagError
from eval.cases import Case
from eval.cells import Cell
from eval.rows import Row
from eval.run_folder import Header, RunFolder, Scored, cells_of
from eval.tables import flat

REPLIED = "replied"
JUDGE = "judge."
_UNTOLD = "(untold)"


@dataclass(frozen=True)
class Run:
    """One run, read whole.

    Attributes:
        path: of its folder, as the user wrote it.
        cases: all questions, in their order.
        rows: reply by id; questions that were not asked have none.
        cells: id of each question -> metric -> cell.
        scores: the single scorings behind `cells`, for judges that were asked several times.
    """

    path: Path
    header: Header
    cases: Sequence[Case]
    rows: Mapping[str, Row]
    cells: Mapping[str, Mapping[str, Cell]]
    scores: Sequence[Scored]

    @property
    def judges(self) -> dict[str, str]:
        """The judging models by family, as far as the scores name them."""
        return {line.family: line.by for line in self.scores if line.by}


@dataclass(frozen=True, slots=True)
class Joined:
    """Two runs over the questions that both answer for.

    Attributes:
        a, b: before and after; `replied` is among the cells of each row.
        cases: what is compared, in the order of `b`.
        only_a, only_b: ids that the other one has no row of.
        altered: ids whose question or reference is another one; they are left out.
    """

    a: Run
    b: Run
    cases: tuple[Case, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    altered: tuple[str, ...]


def read_run(folder: RunFolder) -> Run:
    """Read a run.

    Raises:
        RunFolderError: the folder holds no run, or a damaged one.
        RagError: the run was never scored, or only by an earlier version.
    """
    header, cases, rows = folder.header(), folder.cases(), folder.rows()
    scores = folder.scores(rows)
    if rows and not scores:
        raise RagError(
            f"{folder.path} has no scores, or only scores of other replies or of an earlier format.",
            f"Compute them: python -m eval score {folder.path}.",
            "not_scored",
        )
    cells = cells_of(scores)
    return Run(folder.path, header, cases, rows, {case.id: cells.get(case.id, {}) for case in cases}, scores)


def join(a: Run, b: Run) -> Joined:
    """Pair the questions of two runs.

    Raises:
        RagError: not one question is the same.
    """
    before, after = ({case.id: case for case in run.cases} for run in (a, b))
    common = [id_ for id_ in b.rows if id_ in a.rows]
    altered = tuple(id_ for id_ in common if _asked(before[id_]) != _asked(after[id_]))
    cases = tuple(after[id_] for id_ in common if id_ not in set(altered))
    if not cases:
        why = (
            f"their {len(altered)} common ids name other questions or references" if altered else "no id stands in both"
        )
        raise RagError(
            f"{a.path} and {b.path} share no question: {why}.",
            "Run both with the same file of questions.",
            "not_comparable",
        )
    only_a = tuple(id_ for id_ in a.rows if id_ not in b.rows)
    only_b = tuple(id_ for id_ in b.rows if id_ not in a.rows)
    return Joined(_with_replied(a), _with_replied(b), cases, only_a, only_b, altered)


def changes(a: Run, b: Run) -> dict[str, tuple[str, str]]:
    """Return what the runs differ in: name -> before and after, e.g. `settings.retrieval.top_k`; dates apart.

    `judge.ragas` is among them where two models judged: then it may be the judge that changed its mind.
    """
    judged = [family for family in a.judges if family in b.judges]
    before, after = (
        dict(flat(run.header.model_dump(exclude={"format", "started", "fingerprint", "questions_sha256"})))
        | {f"{JUDGE}{family}": run.judges[family] for family in judged}
        for run in (a, b)
    )
    return {
        name: (before.get(name, _UNTOLD), after.get(name, _UNTOLD))
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    }


def _with_replied(run: Run) -> Run:
    replied = {id_: {REPLIED: Cell(score=float(row.outcome != "failed"))} for id_, row in run.rows.items()}
    return replace(run, cells={id_: {**cell, **run.cells.get(id_, {})} for id_, cell in replied.items()})


def _asked(case: Case) -> tuple[object, ...]:
    """What makes scores of two runs comparable: the question and everything it is scored against."""
    right = (case.answer, case.alternatives, case.unanswerable, case.references)
    return case.question, *right, case.relevant_docs, case.relevance, case.evidence, case.nuggets, case.regions
