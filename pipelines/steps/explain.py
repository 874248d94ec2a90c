"""Explain each document's rank in a sentence.

Flow: rank columns, what the source says of each passage, the words of the query -> **here** -> a text column.
"""

from typing import Any

from pipelines.handler import StepHandler
from pipelines.parameters import ColumnName, StepParameters, Text, parameter
from pipelines.state import ORIGINAL_RANK, PipelineState
from pipelines.step import FULL_TEXT, Step
from pipelines.steps.corpus_source import FOUND_BY
from pipelines.steps.lexical_reranking import analyzer


class Explain(Step):
    """Explains ranks."""

    id = "explain"
    name = "Explanation"
    category = "Metadata Analysis"
    description = (
        "Says of each document how it was found, where each ranking puts it, and which words of the query it holds."
    )
    closed = True

    class Parameters(StepParameters):
        """What is read and written."""

        input_column: ColumnName = parameter(
            FULL_TEXT,
            "Input column",
            "Column in which the query's words are looked for.",
            column="reads",
            offered=(FULL_TEXT,),
        )
        output_column: ColumnName = parameter("explanation", "Output column", "Column that is added.", column="writes")
        query: Text = parameter("", "Optional query", "Query of this step alone; empty: the pipeline's.")

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add the explanations."""
        words = analyzer()
        wanted = words.query_terms(self.given.query or state.query)
        ranks = {name: state.values(name) for name in state.rank_columns}
        measures = _measures(state)
        found_by = state.texts(FOUND_BY) if FOUND_BY in state.columns else [""] * state.count
        said = []
        for row, text in enumerate(state.texts(self.given.input_column)):
            places = [
                _place(name, values[row], measures.get(name), row) for name, values in ranks.items() if values[row]
            ]
            said.append(
                ". ".join(part for part in [", ".join(places), found_by[row], _words(words, wanted, text)] if part)
            )
            handler.progress(row + 1, state.count)
        return state.with_column(self.given.output_column, said, "text")


def _measures(state: PipelineState) -> dict[str, tuple[str, list[Any]]]:
    """Return by rank column what its reranker measures, and the scores: it adds a column of them before its ranks."""
    measured = [name for name in state.columns if name.startswith("score_")]
    rerankers = [name for name in state.rank_columns if name != ORIGINAL_RANK]
    if len(measured) != len(rerankers):
        return {}
    return {
        rank: (name.split("_", 2)[-1].replace("_", " "), state.values(name))
        for rank, name in zip(rerankers, measured, strict=True)
    }


def _place(column: str, rank: Any, measure: tuple[str, list[Any]] | None, row: int) -> str:
    if column == ORIGINAL_RANK:
        return f"the search: rank {rank}"
    how = f" ({measure[0]} {measure[1][row]:.3g})" if measure and measure[1][row] is not None else ""
    return f"reranker {column.strip('_').rpartition('_')[2]}{how}: rank {rank}"


def _words(words: Any, wanted: list[str], text: str) -> str:
    if not wanted:
        return ""
    held = set(words.terms(text))
    there = [term for term in wanted if term in held]
    missing = [term for term in wanted if term not in held]
    fact = f"Holds {len(there)} of the query's {len(wanted)} words"
    return f"{fact}; not: {', '.join(missing)}" if missing else fact
