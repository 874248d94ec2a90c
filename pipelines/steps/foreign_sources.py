"""Bring what search services and stores of others hold for the query.

Flow: `sources/`, which knows the services -> **here** -> one row a page. Which servers a step may name is decided by
`sources/addresses.py`; keys come from the settings alone. No address that a page or a source names is ever fetched.
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from errors import PipelineError, SettingsError
from index.documents.store import Document
from pipelines.handler import StepHandler
from pipelines.parameters import ColumnName, StepParameters, Text, embedding_parameter, parameter
from pipelines.services import Services
from pipelines.state import ORIGINAL_RANK, PipelineState, Role
from pipelines.step import FULL_TEXT, SourceStep
from pipelines.steps.metadata_columns import METADATA, names_of, of_one_kind
from query_engine.runtime.deadline import Deadline
from query_engine.text.well_formed import well_formed
from sources.base import Source, SourcePage, SourceQuery
from sources.build import open_source
from sources.corpus import read_pages

INDEX_COLUMN = "_source_index_"
MAX_PAGES = 500
# What the organisers' services give at once.
MAX_WEB_PAGES = 100
OFFERED = (5, 10, 20, 50, 100)

Url = Annotated[str, Field(max_length=2000, pattern=r"^(https?://[^\s]+)?$")]

SERVER_URL_MEANING = "Address of the server; empty: that of the settings. Others must be allowed there."


def _with_scheme(url: object) -> object:
    """Return an address with its scheme: mosaicRAG's clients write `host:port`."""
    return f"http://{url}" if isinstance(url, str) and url and "://" not in url else url


def _limit(most: int) -> Any:
    return parameter(50, "Limit", "Documents, at most.", ge=1, le=most, offered=OFFERED)


class _ForeignSource(SourceStep):
    """A step that asks one source.

    Class attributes:
        source: its name in `sources/`.
        part: the parameter that names an index or collection, beside `url`; empty where a step names neither.
        facts: fields of its records that are columns without being asked for.
    """

    closed = True
    source: ClassVar[str]
    part: ClassVar[str] = ""
    facts: ClassVar[tuple[str, ...]] = ()

    class Parameters(StepParameters):
        """Where the texts go, and what comes with them."""

        output_column: ColumnName = parameter(FULL_TEXT, "Output column", "Column that the texts are stored in.")
        metadata_columns: Text = METADATA

    def check(self, services: Services) -> None:
        """Refuse a source that is not set up, and an address that is not allowed."""
        try:
            self._open(services)
        except SettingsError as error:
            raise PipelineError(error.fact, error.remedy) from error

    def writes(self) -> list[str]:
        """Return the columns of a source."""
        return [*self._own_names(), *self._fact_names()]

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add one row a page, in the order of the source."""
        settings, limit = handler.services.settings, self.given.limit
        handler.progress(0, limit)
        deadline = Deadline(settings.answer.deadline_s, stop=handler.stop)
        found = self._open(handler.services).search(SourceQuery(state.query, limit, state.query), deadline)
        rows, warnings = read_pages(found, self.source)
        for warning in warnings:
            handler.warn(warning.text)
        if not rows:
            handler.warn(f"The source {self.source!r} returned nothing for this query.")
        handler.progress(len(rows), len(rows))
        return self._with_rows(state, rows)

    def _with_rows(self, state: PipelineState, rows: Sequence[tuple[SourcePage, Document]]) -> PipelineState:
        first = state.count + 1
        names = self._fact_names()
        columns: dict[str, list[Any]] = {
            "id": [well_formed(page.id) for page, _ in rows],
            "doc_id": [document.doc_id for _, document in rows],
            "title": [document.title for _, document in rows],
            "url": [document.url for _, document in rows],
            self.given.output_column: [document.text for _, document in rows],
            "published": [well_formed(page.published) or None for page, _ in rows],
            ORIGINAL_RANK: list(range(first, first + len(rows))),
            **{name: of_one_kind([page.facts.get(name) for page, _ in rows]) for name in names},
        }
        roles: dict[str, tuple[Role, ...]] = {
            "title": ("text",),
            self.given.output_column: ("text",),
            ORIGINAL_RANK: ("rank",),
            "doc_id": ("chip",),
            **{name: ("chip",) for name in names},
        }
        return state.with_documents(columns, roles)

    def _fact_names(self) -> list[str]:
        own = self._own_names()
        return [
            name for name in dict.fromkeys([*self.facts, *names_of(self.given.metadata_columns)]) if name not in own
        ]

    def _own_names(self) -> list[str]:
        return ["id", "doc_id", "title", "url", self.given.output_column, "published", ORIGINAL_RANK]

    def _open(self, services: Services) -> Source:
        named = {"url": self.given.url, "part": getattr(self.given, self.part)} if self.part else {}
        return open_source(self.source, services.settings.sources, lambda text: _vector(services, text), **named)


class MosaicSource(_ForeignSource):
    """Searches a MOSAIC service."""

    id = "mosaic_datasource"
    name = "MosaicDataSource"
    description = "Full texts that a MOSAIC service finds, best first; of several indexes in turn."
    source = "mosaic"
    part = "search_index"
    facts = ("language", INDEX_COLUMN)

    class Parameters(_ForeignSource.Parameters):
        """Which service, which index, how much."""

        url: Url = parameter(
            "",
            "MOSAIC service URL",
            "Address of the service, before `/search`; empty: that of the settings. Others must be allowed there.",
        )
        limit: int = _limit(MAX_PAGES)
        search_index: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{0,200}$")] = parameter(
            "", "Search index", "Index that is searched; `all`: every one; empty: that of the settings, else every one."
        )


class MeiliSource(_ForeignSource):
    """Searches an index of a MeiliSearch server."""

    id = "meili_datasource"
    name = "MeiliSearch Data Source"
    description = "Documents of an index of a MeiliSearch server, best first."
    source = "meilisearch"
    part = "index"

    class Parameters(_ForeignSource.Parameters):
        """Which server, which index, how much."""

        url: Url = parameter("", "Server URL", SERVER_URL_MEANING)
        index: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,512}$")] = parameter(
            "", "Index", "Index that is searched; empty: that of the settings."
        )
        limit: int = _limit(MAX_PAGES)


class ChromaSource(_ForeignSource):
    """Searches a collection of a Chroma server."""

    id = "chroma_datasource"
    name = "ChromaDB Data Source"
    description = "Documents of a Chroma collection that another program made, nearest in meaning first."
    source = "chroma"
    part = "collection"

    class Parameters(_ForeignSource.Parameters):
        """Which server, which collection, which model, how much."""

        url: Annotated[Url, BeforeValidator(_with_scheme)] = parameter(
            "", "Server URL", SERVER_URL_MEANING, also=("chromadb_url",)
        )
        collection: Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]{1,510}[A-Za-z0-9])?$")] = parameter(
            "",
            "Collection",
            "Collection that is searched; empty: that of the settings.",
            also=("chromadb_collection",),
        )
        model: Text = embedding_parameter()
        limit: int = _limit(MAX_PAGES)

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add one row a record."""
        if warning := handler.services.other_embedder(self.given.model):
            handler.warn(warning)
        return super().transform(state, handler)


class ClueWebSource(_ForeignSource):
    """Searches ClueWeb22."""

    id = "clueweb_datasource"
    name = "ClueWeb22"
    description = "Pages of ClueWeb22, found by its search service; server and key are those of the settings."
    source = "clueweb"

    class Parameters(_ForeignSource.Parameters):
        """How much."""

        limit: int = _limit(MAX_WEB_PAGES)


class FineWebSource(_ForeignSource):
    """Searches FineWeb."""

    id = "fineweb_datasource"
    name = "FineWeb"
    description = "Pages of FineWeb, found by its search service; server and key are those of the settings."
    source = "fineweb"

    class Parameters(_ForeignSource.Parameters):
        """How much."""

        limit: int = _limit(MAX_WEB_PAGES)


def _vector(services: Services, text: str) -> Sequence[float]:
    return list(services.embedder().get_query_embedding(text))
