"""Average the cells of a run: over everything, by category, and apart for questions that have no answer.

Flow: cases + cells -> **here** -> the table of `run`, `comparing/`, `reporting/`. Pure.

Questions without an answer stand apart, because what is right for them (to decline) is wrong for the others: in one
mean, a system that answers them all would look better.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.cases import Case
from eval.cells import Cell, Mean, means

Means = Mapping[str, Mean]


@dataclass(frozen=True, slots=True)
class Summary:
    """The means of a run, each with its coverage.

    Attributes:
        answerable: over the questions that have an answer, or of which that is unknown.
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
