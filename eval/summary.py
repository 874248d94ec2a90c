"""Average the cells of a run: over everything, by category, and apart for questions that have no answer.

Flow: cases + cells -> **here** -> the table of `run`, `comparing/`, `reporting/`. What a history shows of a run is kept
in its folder, so that a hundred runs open without reading all their replies again.

Questions without an answer stand apart, because what is right for them (to decline) is wrong for the others: in one
mean, a system that answers them all would look better.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from eval.cases import Case
from eval.cells import Cell, Mean, means
from eval.run_folder import CASES, ROWS, SCORES, RunFolder, cells_of, judges_of, replace_file

Means = Mapping[str, Mean]
KEPT = ".means.json"
# What is declined is right or wrong by what kind of question it is: over one kind alone this is always 0 or 1.
OVER_ALL = frozenset({"abstention_precision"})


@dataclass(frozen=True, slots=True)
class Summary:
    """The means of a run, each with its coverage.

    Attributes:
        answerable: over the questions that have an answer, or may have one.
        unanswerable: over those whose case says that the corpus does not answer them.
        everything: over both, for metrics that only make sense so, e.g. the precision of declining.
        by_category: category -> means; cases without one stand below `""`.
    """

    answerable: Means
    unanswerable: Means
    everything: Means
    by_category: Mapping[str, Means]


def metric_names(cells: Mapping[str, Mapping[str, Cell]]) -> list[str]:
    """Return the names of all metrics, in order of their first appearance."""
    return list(dict.fromkeys(name for row in cells.values() for name in row))


def summarise(cases: Sequence[Case], cells: Mapping[str, Mapping[str, Cell]]) -> Summary:
    """Average over the cases; a case without cells counts as failed in every metric it could have.

    Args:
        cases: all that were to be asked.
        cells: id -> metric -> cell, as `RunFolder.cells` returns them.
    """
    names = metric_names(cells)

    def over(chosen: Sequence[Case]) -> Means:
        return means([cells.get(case.id, {}) for case in chosen], names)

    categories = dict.fromkeys(case.category or "" for case in cases)
    return Summary(
        answerable=over([case for case in cases if not case.unanswerable]),
        unanswerable=over([case for case in cases if case.unanswerable]),
        everything=over(cases),
        by_category={name: over([case for case in cases if (case.category or "") == name]) for name in categories},
    )


class Overview(BaseModel):
    """What a history shows of a run.

    Attributes:
        of: sizes and times of the files that it was computed from; another one is out of date.
        asked: ids of the questions, in their order.
        means: by metric: over the answerable questions, where there are any of them, else over the others.
        judges: the judging models by family.
        fingerprint: of the first reply that tells one.
    """

    of: tuple[tuple[int, int], ...]
    asked: tuple[str, ...]
    means: dict[str, Mean]
    judges: dict[str, str]
    fingerprint: str


def overview(folder: RunFolder) -> Overview:
    """Return what is kept of a run, or compute and keep it; where the folder cannot be written it is only computed.

    Raises:
        RunFolderError: the run is damaged.
    """
    paths = [folder.path / name for name in (CASES, ROWS, SCORES)]
    of = tuple((path.stat().st_size, path.stat().st_mtime_ns) if path.exists() else (0, 0) for path in paths)
    with suppress(OSError, ValidationError):
        kept = Overview.model_validate_json((folder.path / KEPT).read_bytes())
        if kept.of == of:
            return kept
    cases, rows = folder.cases(), folder.rows()
    scores = folder.scores(rows)
    summary = summarise(cases, cells_of(scores))
    apart = (summary.answerable, summary.unanswerable)
    found = Overview(
        of=of,
        asked=tuple(case.id for case in cases),
        means={name: next((part[name] for part in apart if part[name].n), mean) for name, mean in apart[0].items()},
        judges=judges_of(scores),
        fingerprint=next((row.fingerprint for row in rows.values() if row.fingerprint), ""),
    )
    with suppress(OSError):
        replace_file(folder.path / KEPT, found.model_dump_json())
    return found
