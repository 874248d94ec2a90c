"""Fetch the passages that a corpus holds for the query.

Flow: `Engine.retrieve` finds and merges -> **here** -> one row a passage. Nothing is searched here.
"""

from typing import Any, Literal

from index.documents.filters import where
from index.documents.span_tree import split_node_id
from pipelines.handler import StepHandler
from pipelines.parameters import ColumnName, JsonObject, StepParameters, Text, parameter, unknown
from pipelines.services import Services
from pipelines.state import ORIGINAL_RANK, PipelineState, Role
from pipelines.step import FULL_TEXT, SourceStep, passages_as_columns
from pipelines.steps.metadata_columns import METADATA, names_of, of_one_kind
from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
from query_engine.schema.passage import Passage
from research.schema import Engine

# The most that one retrieval gives.
MAX_PASSAGES = 200
BUDGET_CHARS = 200_000


class CorpusSource(SourceStep):
    """Searches a corpus of this service."""

    id = "corpus_datasource"
    name = "Corpus"
    description = "Passages of a corpus of this service, found by meaning and by words, best first."
    closed = True

    class Parameters(StepParameters):
        """What is searched, and how much is wanted."""

        corpus: Text = parameter("", "Corpus", "Name of the corpus; empty: the default one.")
        limit: int = parameter(50, "Limit", "Documents, at most.", ge=1, le=MAX_PASSAGES, offered=(10, 20, 50, 100))
        output_column: ColumnName = parameter(FULL_TEXT, "Output column", "Column that the texts are stored in.")
        mode: Literal["hybrid", "dense", "lexical"] = parameter(
            "hybrid", "Search", "By meaning and words, by meaning, or by words."
        )
        unit: Literal["passages", "leaves"] = parameter(
            "passages", "Unit", "Passages merged from what was found side by side, or the leaves themselves."
        )
        max_per_document: int | None = parameter(
            None, "Passages per document", "Passages of one document, at most; empty: no limit.", ge=1, le=MAX_PASSAGES
        )
        filters: JsonObject = parameter(
            None, "Filter", "Only documents that meet this filter; LlamaIndex's MetadataFilters as JSON."
        )
        metadata_columns: Text = METADATA

    def check(self, services: Services) -> None:
        """Refuse a corpus that does not exist, and a filter without meaning."""
        name, known = self.given.corpus or services.settings.index.corpus, services.engines.names()
        if name not in known:
            raise unknown("There is no corpus", name, known)
        if self.given.filters is not None:
            where(self.given.filters)

    def writes(self) -> list[str]:
        """Return the columns of a source."""
        return [*passages_as_columns([], self.given.output_column), ORIGINAL_RANK, *self._metadata_names()]

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add one row a passage."""
        settings, given = handler.services.settings, self.given
        options = settings.retrieval.model_copy(
            update={
                "mode": given.mode,
                "merge": given.unit == "passages",
                "top_k": given.limit,
                "candidates_k": max(settings.retrieval.candidates_k, given.limit),
                "budget_chars": BUDGET_CHARS,
                "max_per_document": given.max_per_document,
            }
        )
        deadline = Deadline(settings.answer.deadline_s, stop=handler.stop)
        inquiry = Inquiry(state.query, given.filters, deadline=deadline)
        with handler.services.engines.lease(given.corpus or None) as engine:
            found = engine.retrieve(inquiry, options)
            passages = found.passages[: given.limit]
            metadata = self._metadata(engine, passages)
        for warning in found.warnings:
            handler.warn(str(warning))
        if not passages:
            handler.warn("The corpus holds nothing for this query.")
        first = state.count + 1
        columns = passages_as_columns(passages, given.output_column)
        columns[ORIGINAL_RANK] = list(range(first, first + len(passages)))
        metadata = {name: values for name, values in metadata.items() if name not in columns}
        columns |= metadata
        roles: dict[str, tuple[Role, ...]] = {
            "title": ("text",),
            given.output_column: ("text",),
            ORIGINAL_RANK: ("rank",),
            "doc_id": ("chip",),
            **{name: ("chip",) for name in metadata},
        }
        return state.with_documents(columns, roles)

    def _metadata_names(self) -> list[str]:
        return names_of(self.given.metadata_columns)

    def _metadata(self, engine: Engine, passages: tuple[Passage, ...]) -> dict[str, list[Any]]:
        names = self._metadata_names()
        if not names:
            return {}
        versions = [split_node_id(passage.node_id)[0] for passage in passages]
        documents = engine.corpus.documents.get_versions(versions)
        known = [documents[version].metadata if version in documents else {} for version in versions]
        return {name: of_one_kind([one.get(name) for one in known]) for name in names}
