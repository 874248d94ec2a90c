"""Keep some of the documents: the first of a ranking, those with labels, those whose metadata meet a condition.

Flow: a table -> **here** -> fewer rows, in their order. Filters that the search itself applies are parameters of the
sources.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from errors import StepError
from index.documents.filters import where
from index.documents.row_filter import keys_of, meeting
from pipelines.handler import StepHandler
from pipelines.parameters import ColumnName, JsonObject, StepParameters, Text, YesNo, parameter
from pipelines.services import Services
from pipelines.state import ORIGINAL_RANK, PipelineState
from pipelines.step import Step

MAX_K = 100_000


class Reduction(Step):
    """Keeps the first of a ranking."""

    id = "reduction_step"
    name = "Result Reduction"
    category = "Filtering"
    description = "Keeps the first documents of a ranking."
    closed = True

    class Parameters(StepParameters):
        """Which ranking, and how many."""

        ranking_column: ColumnName = parameter(
            ORIGINAL_RANK,
            "Ranking column",
            "Column that ranks: _original_ranking_, or _reranking_rank_n_ of the n-th reranker.",
            column="reads",
            offered=(ORIGINAL_RANK,),
        )
        k: int = parameter(
            10, "Number of results", "Documents that are kept.", ge=1, le=MAX_K, offered=(5, 10, 50, 100)
        )
        reset_index: YesNo = parameter(
            False, "Reset ranks", "Whether every rank column counts from 1 again, without gaps."
        )

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Keep k rows, ordered by the ranking."""
        column, k = self.given.ranking_column, self.given.k
        if column not in state.rank_columns:
            raise StepError(
                f"Column {column!r} does not rank.", f"Columns that do: {', '.join(state.rank_columns) or 'none'}."
            )
        if k > state.count:
            handler.warn(f"There are only {state.count} documents; all are kept, though k is {k}.")
        ranks = state.values(column)
        ranked = sorted(range(state.count), key=lambda row: (ranks[row] is None, ranks[row] or 0))
        kept = state.take(ranked[:k])
        if self.given.reset_index:
            for name in kept.rank_columns:
                kept = kept.with_column(name, _closed_up(kept.values(name)), *kept.roles[name])
        return kept


class LabelFilter(Step):
    """Keeps documents by their labels."""

    id = "label_filter"
    name = "Label filter"
    category = "Filtering"
    description = "Keeps documents that have any (OR), all (AND) or none (NOT) of some labels."
    closed = True

    class Parameters(StepParameters):
        """Which labels."""

        labels_column: ColumnName = parameter(
            ..., "Labels column", "Column with a list of labels, or with comma-separated labels.", column="reads"
        )
        filter_by: Text = parameter(..., "Labels", "Comma-separated labels; upper and lower case count alike.")
        filter_mode: Literal["OR", "AND", "NOT"] = parameter(
            "OR", "Mode", "Any of the labels, all of them, or none of them."
        )

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Keep the rows that meet the labels."""
        wanted = _labels(self.given.filter_by)
        if not wanted:
            handler.warn("No label is named; all documents are kept.")
            return state
        held = [_labels(value) for value in state.values(self.given.labels_column)]
        tests: dict[str, Callable[[set[str]], bool]] = {
            "OR": lambda labels: bool(wanted & labels),
            "AND": wanted.issubset,
            "NOT": wanted.isdisjoint,
        }
        meets = tests[self.given.filter_mode]
        return kept(state, handler, [meets(labels) for labels in held])


class MetadataFilter(Step):
    """Keeps documents by their values."""

    id = "metadata_filter"
    name = "Metadata filter"
    category = "Filtering"
    description = "Keeps documents that meet a filter in the form that the search takes, whose keys are columns."
    closed = True

    class Parameters(StepParameters):
        """The condition."""

        filters: JsonObject = parameter(
            ..., "Filter", "LlamaIndex's MetadataFilters as JSON, whose keys are columns; `and`, `or`, `not`."
        )

    def check(self, services: Services) -> None:  # noqa: ARG002
        """Refuse a filter without meaning."""
        where(self.given.filters)

    def reads(self) -> list[str]:
        """Return the columns that must be there."""
        return keys_of(self.given.filters)

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Keep the rows that meet the condition."""
        filters = self.given.filters
        return kept(state, handler, meeting(state.rows(keys_of(filters)), filters))


def kept(state: PipelineState, handler: StepHandler, meets: Sequence[bool]) -> PipelineState:
    """Return the state with the rows that meet a filter; a warning says if there are none."""
    rows = [row for row, one in enumerate(meets) if one]
    if meets and not rows:
        handler.warn("No document meets the filter.")
    return state.take(rows)


def _labels(value: object) -> set[str]:
    words = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return {str(word).strip().casefold() for word in words if str(word).strip()}


def _closed_up(ranks: list[Any]) -> list[int]:
    """Return ranks counted from 1 without gaps, in the same order; rows without one come last."""
    order = sorted(range(len(ranks)), key=lambda row: (ranks[row] is None, ranks[row] or 0))
    closed = [0] * len(ranks)
    for rank, row in enumerate(order, start=1):
        closed[row] = rank
    return closed
