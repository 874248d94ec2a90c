"""Expand the query of the sources that follow: by feedback, a hypothetical passage, or other wordings.

Flow: **here** notes the method -> `corpus_source.py` builds it from `query_engine/retrieval/expansion/`, which needs
the corpus.
"""

from dataclasses import replace
from typing import Literal

from errors import PipelineError
from pipelines.handler import StepHandler
from pipelines.parameters import StepParameters, parameter
from pipelines.services import Services
from pipelines.state import PipelineState
from pipelines.step import Step


class QueryEnhancement(Step):
    """Widens the query."""

    id = "query_enhancement"
    name = "Query enhancement"
    category = "Query"
    description = (
        "Lets the corpora that follow search with more than the query: what its first results have in common, "
    )
    description += "a passage or other wordings that the language model writes."
    closed = True

    class Parameters(StepParameters):
        """How."""

        method: Literal["feedback", "hyde", "multi_query"] = parameter(
            "feedback", "Method", "Feedback needs no model; the other two need a language model."
        )

    def check(self, services: Services) -> None:
        """Refuse what needs a language model where there is none."""
        if self.given.method != "feedback" and services.model() is None:
            raise PipelineError(
                f"The method {self.given.method!r} needs a language model.",
                "Take `feedback`, or start the service with RAG_LLM__PROVIDER or RAG_LLM__QUERY_MODEL set.",
            )

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Note the method for the sources."""
        if state.count:
            handler.warn("Documents that were found before this step are not searched for again.")
        return replace(state, enhancements=(*state.enhancements, self.given.method))
