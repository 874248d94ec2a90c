"""Expand the query: by feedback, a hypothetical passage, or other wordings.

Flow: before the first documents **here** notes what is wanted -> `corpus_source.py` builds it from
`query_engine/retrieval/expansion/`, which needs the corpus. Feedback on documents that are there, of any source: the
same relevance model names the terms, and the query of the steps that follow gets the words behind them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from errors import PipelineError, StepError
from pipelines.handler import StepHandler
from pipelines.parameters import ColumnName, StepParameters, parameter
from pipelines.services import Services
from pipelines.state import PipelineState
from pipelines.step import FULL_TEXT, Step
from pipelines.steps.content_terms import content_terms
from pipelines.steps.lexical_reranking import analyzer
from query_engine.retrieval.expansion.pseudo_relevance import Feedback
from query_engine.retrieval.expansion.query_encoder import QuestionReader
from query_engine.schema.hit import LeafHit
from query_engine.schema.query import Query


class QueryEnhancement(Step):
    """Widens the query."""

    id = "query_enhancement"
    name = "Query enhancement"
    category = "Query"
    description = (
        "Lets the corpora that follow search with more than the query: what its first results have in common, a "
        "passage or other wordings that the language model writes. Where there are documents, feedback adds the words "
        "that the first of them have in common to the query of the steps that follow."
    )
    closed = True

    class Parameters(StepParameters):
        """How."""

        method: Literal["feedback", "hyde", "multi_query"] = parameter(
            "feedback", "Method", "Feedback needs no model; the other two need a language model."
        )
        input_column: ColumnName = parameter(
            FULL_TEXT, "Input column", "Column that feedback reads where there are documents.", offered=(FULL_TEXT,)
        )
        documents: int = parameter(
            3, "Documents", "First documents that feedback takes for relevant, where there are some.", ge=1, le=100
        )
        words: int = parameter(
            5, "Words", "Words that feedback adds to the query, at most, where there are documents.", ge=1, le=50
        )

    def check(self, services: Services) -> None:
        """Refuse what needs a language model where there is none."""
        if self.given.method != "feedback" and services.model() is None:
            raise PipelineError(
                f"The method {self.given.method!r} needs a language model.",
                "Take `feedback`, or start the service with RAG_LLM__PROVIDER or RAG_LLM__QUERY_MODEL set.",
            )

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Note the method for the sources; with documents there already, widen the query by them."""
        if state.count and self.given.method == "feedback":
            return self._widened(state, handler)
        if state.count:
            handler.warn("Documents that were found before this step are not searched for again.")
        return replace(state, enhancements=(*state.enhancements, self.given.method))

    def _widened(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add to the query the words that RM3 finds likeliest in the first documents, which are not in it yet."""
        if self.given.input_column not in state.columns:
            raise StepError(
                f"There is no column {self.given.input_column!r}.", f"There are: {', '.join(state.columns)}."
            )
        texts = state.texts(self.given.input_column)[: self.given.documents]
        surfaces: dict[str, Counter[str]] = {}
        # Without words that say nothing, which would be the likeliest.
        read = [" ".join(content_terms(text, surfaces).elements()) for text in texts]
        options = handler.services.settings.expansion.model_copy(
            update={"feedback_leaves": len(texts), "feedback_terms": self.given.words + len(state.query.split())}
        )
        # As the place of a text is all that is known of its worth.
        hits = [LeafHit(str(place), 1 / (place + 1)) for place in range(len(texts))]

        def texts_of(names: Sequence[str]) -> list[str]:
            return [read[int(name)] for name in names]

        words = QuestionReader(handler.services.embedder(), analyzer())
        terms = Feedback(words, texts_of, lambda _: {}, options).expand(Query(state.query), lambda _: hits).terms or {}
        own = set(analyzer().terms(state.query))
        likeliest = sorted(
            (term for term in terms if term not in own and term in surfaces), key=lambda term: -terms[term]
        )
        added = [surfaces[term].most_common(1)[0][0] for term in likeliest[: self.given.words]]
        if not added:
            handler.warn("The first documents have no words that the query lacks; it stays as it is.")
            return state
        query = f"{state.query} {' '.join(added)}"
        handler.log(f"The query is now: {query}")
        return replace(state, query=query)
