"""Join two runs by their questions, and say what was left out and what else differs between them.

Flow: two run folders -> **here** -> `verdicts.py`, `printing.py`. Reads the folders, writes nothing.

Only questions that both runs asked, in the same words and against the same references, are compared: a mean over other
questions, or scores against another right answer, would look like a change of the system.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from errors import RagError
from eval.cases import Case
from eval.cells import Cell
from eval.rows import Row
from eval.run_folder import Header, RunFolder, Scored, cells_of, judges_of
from eval.tables import flat

REPLIED = "replied"
JUDGE = "judge."
_UNTOLD = "(untold)"


class NotComparableError(RagError):
    """Two runs share nothing that could be compared."""

    code = "not_comparable"


@dataclass(frozen=True, slots=True)
class Side:
    """One run, read whole.

    Attributes:
        name: its path, as the user wrote it.
        cells: id -> metric -> cell, with `replied` for every row.
        scores: the single scorings behind `cells`, for judges that were asked several times.
    """

    name: str
    header: Header
    cases: Mapping[str, Case]
    rows: Mapping[str, Row]
    cells: Mapping[str, Mapping[str, Cell]]
    scores: tuple[Scored, ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """Two runs over the questions that both answer for.

    Attributes:
        a, b: before and after.
        cases: what is compared, in the order of `b`.
        only_a, only_b: ids that the other one has no row of.
        altered: ids whose question or reference is another one; they are left out.
    """

    a: Side
    b: Side
    cases: tuple[Case, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    altered: tuple[str, ...]


def read_side(folder: RunFolder) -> Side:
    """Read a run.

    Raises:
        RunFolderError: the folder holds no run, or a damaged one.
        NotComparableError: the run was never scored.
    """
    header, rows = folder.header(), folder.rows()
    scores = folder.scores(rows)
    cells = cells_of(scores)
    if rows and not cells:
        of_others = "only scores of other replies, or of an earlier format"
        raise NotComparableError(
            f"{folder.path} has {of_others if folder.has_scores() else 'no scores'}.",
            f"Compute them for this comparison with --reopen, or for good: python -m eval score {folder.path}.",
        )
    with_replied = {
        id_: {REPLIED: Cell(score=float(row.outcome != "failed")), **cells.get(id_, {})} for id_, row in rows.items()
    }
    cases = {case.id: case for case in folder.cases()}
    return Side(str(folder.path), header, cases, rows, with_replied, tuple(scores))


def join(a: Side, b: Side) -> Joined:
    """Pair the questions of two runs.

    Raises:
        NotComparableError: not one question is the same.
    """
    common = [id_ for id_ in b.rows if id_ in a.rows]
    altered = tuple(id_ for id_ in common if _asked(a.cases[id_]) != _asked(b.cases[id_]))
    cases = tuple(b.cases[id_] for id_ in common if id_ not in set(altered))
    if not cases:
        why = (
            f"their {len(altered)} common ids name other questions or references" if altered else "no id stands in both"
        )
        raise NotComparableError(
            f"{a.name} and {b.name} share no question: {why}.", "Run both with the same file of questions."
        )
    only_a = tuple(id_ for id_ in a.rows if id_ not in b.rows)
    only_b = tuple(id_ for id_ in b.rows if id_ not in a.rows)
    return Joined(a, b, cases, only_a, only_b, altered)


def changes(a: Side, b: Side) -> dict[str, tuple[str, str]]:
    """Return what the runs differ in: name -> before and after, e.g. `settings.retrieval.top_k`; dates apart.

    `judge.ragas` is among them where two models judged: then it may be the judge that changed its mind.
    """
    before, after = (differing(side.header, judges_of(side.scores)) for side in (a, b))
    for name in [name for name in before.keys() ^ after.keys() if name.startswith(JUDGE)]:
        before.pop(name, None)
        after.pop(name, None)
    return {
        name: (before.get(name, _UNTOLD), after.get(name, _UNTOLD))
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    }


def differing(header: Header, judges: Mapping[str, str]) -> dict[str, str]:
    """Return all that two runs of the same questions may differ in, by name; `judges`: the models by family."""
    told = header.model_dump(exclude={"format", "started", "fingerprint", "questions_sha256"})
    return dict(flat(told)) | {f"{JUDGE}{family}": model for family, model in judges.items()}


def _asked(case: Case) -> tuple[object, ...]:
    """What makes scores of two runs comparable: the question and everything it is scored against."""
    right = (case.answer, case.alternatives, case.unanswerable, case.references)
    return case.question, *right, case.relevant_docs, case.relevance, case.evidence, case.nuggets, case.regions
