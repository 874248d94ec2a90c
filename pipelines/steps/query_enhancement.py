"""Expand the query: by a hypothetical passage, or by other wordings.

Flow: before the first documents **here** notes what is wanted -> `corpus_source.py` builds it from
`query_engine/retrieval/expansion.py`, which needs the corpus.
"""

from dataclasses import replace
from typing import Literal

from pipelines.handler import StepHandler
from pipelines.parameters import StepParameters, parameter
from pipelines.services import Services
from pipelines.state import PipelineState
from pipelines.step import Step
from pipelines.steps.language_model import loaded_model


class QueryEnhancement(Step):
    """Widens the query."""

    id = "query_enhancement"
    name = "Query enhancement"
    category = "Query"
    description = (
        "Lets the corpora that follow search with more than the query: with other wordings, or a passage that might "
        "answer it, written by the language model."
    )
    closed = True

    class Parameters(StepParameters):
        """How."""

        method: Literal["multi_query", "hyde"] = parameter(
            "multi_query", "Method", "Other wordings, or a hypothetical passage (HyDE)."
        )

    def check(self, services: Services) -> None:
        """Refuse it where there is no language model."""
        loaded_model(services)

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Note the method for the sources."""
        if state.count:
            handler.warn("Documents that were found before this step are not searched for again.")
        return replace(state, enhancements=(*state.enhancements, self.given.method))
