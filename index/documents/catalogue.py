"""Lists, finds and counts the documents of a corpus without reading their texts into memory.

Flow: `documents` and `delete` on the command line, `GET /documents`, `GET /stats`, a question's filters, questions
about the collection -> **here** -> the database. Whole documents are `store.py`'s business, what a filter may say
`filters.py`'s.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import sqlalchemy as sa

from index.documents.filters import Clause, list_of, text_of, where
from index.documents.integrity import leaf_places
from index.documents.store import Metadata
from index.documents.tables import batches, documents, failures_named, texts

LARGEST = 5
MOST_TOPICS = 100


@dataclass(frozen=True, slots=True)
class DocumentName:
    """What one document is called, and its format; its corpus where several are read as one."""

    doc_id: str
    title: str
    content_type: str
    corpus: str = ""

    @property
    def place(self) -> str:
        """Its id, after its corpus where several are read as one."""
        return f"{self.corpus}:{self.doc_id}" if self.corpus else self.doc_id


@dataclass(frozen=True, slots=True)
class DocumentBrief:
    """One document without its text.

    Attributes:
        leaves: number of its leaves.
        chars: length of its text.
        ingested_at: ISO 8601, UTC.
        duplicate_of: the first document, by its id, with the same text; None if this one is the first.
    """

    doc_id: str
    title: str
    url: str | None
    source: str
    content_type: str
    leaves: int
    chars: int
    ingested_at: str
    metadata: Metadata
    duplicate_of: str | None

    @property
    def newest_place(self) -> str:
        """Where it stands among the newest, for `Catalogue.briefs`."""
        return f"{self.ingested_at} {self.doc_id}"


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a corpus holds, in numbers.

    Attributes:
        documents: their number.
        leaves: number of leaves of all documents.
        content_types: documents by content type, most frequent first.
        topics: documents by the topic in their metadata, most frequent first, at most 100 topics.
        largest: the documents with the most leaves, at most five.
        last_ingested_at: when the newest document came in, ISO 8601, UTC; None for an empty corpus.
    """

    documents: int
    leaves: int
    content_types: dict[str, int]
    topics: dict[str, int]
    largest: list[DocumentBrief]
    last_ingested_at: str | None


class Catalogue:
    """Reads the documents table of one corpus. Safe to use from many threads.

    Args:
        engine: the corpus's database, see `tables.py`.
        seen: only documents that meet this condition are there; None: all.
    """

    def __init__(self, engine: sa.Engine, seen: Clause | None = None) -> None:
        self._engine = engine
        self._seen = sa.true() if seen is None else seen

    def small_files(self, max_leaves: int) -> dict[str, range]:
        """Return version -> positions of its leaves, of the files with fewest leaves: as many as have `max_leaves`."""
        size = sa.func.sum(documents.c.leaf_count)
        sizes = sa.select(documents.c.source, size).group_by(documents.c.source).order_by(size, documents.c.source)
        with failures_named(), self._engine.connect() as connection:
            rows = connection.execute(sizes).all()
        totals = accumulate(int(leaves) for _, leaves in rows)
        small = [row.source for row, total in zip(rows, totals, strict=True) if total <= max_leaves]
        places: dict[str, range] = {}
        for batch in batches(small):
            places |= leaf_places(self._engine, documents.c.source.in_(batch))
        return places

    def find(self, filters: object) -> list[str]:
        """Return the doc_ids that meet the filter, sorted; see `filters.where` for what it may say.

        Raises:
            FilterError: the filter is empty or has no meaning.
        """
        query = self._of(documents.c.doc_id).where(where(filters)).order_by(documents.c.doc_id)
        return [row.doc_id for row in self._rows(query)]

    def versions(self, filters: object) -> frozenset[str]:
        """Return the versions of the documents that meet the filter; see `filters.where`.

        Raises:
            FilterError: the filter is empty or has no meaning.
        """
        return frozenset(row.version for row in self._rows(self._of(documents.c.version).where(where(filters))))

    def briefs(
        self,
        after: str | None = None,
        limit: int = 100,
        *,
        newest: bool = False,
        filters: object | None = None,
        source: str | None = None,
    ) -> list[DocumentBrief]:
        """Return up to `limit` documents page by page, ordered by doc_id, or the newest first.

        Args:
            after: the last doc_id of the page before, with `newest` its `newest_place`; None starts at the first.
            limit: size of the page, at least 1.
            newest: order by time of ingestion, those of one moment by doc_id.
            filters: only documents that meet this filter; see `filters.where`.
            source: only documents from this file.

        Raises:
            FilterError: the filter is empty or has no meaning.
        """
        moment, doc_id = documents.c.ingested_at, documents.c.doc_id
        order = (moment.desc(), doc_id) if newest else (doc_id,)
        # Chosen by name first: sorting whole rows would read every text.
        query = self._of(doc_id).order_by(*order).limit(limit)
        if after is not None and newest:
            before, _, last = after.partition(" ")
            query = query.where(sa.or_(moment < before, sa.and_(moment == before, doc_id > last)))
        elif after is not None:
            query = query.where(doc_id > after)
        if filters is not None:
            query = query.where(where(filters))
        if source is not None:
            query = query.where(documents.c.source == source)
        page = query.subquery()
        return [
            DocumentBrief(**row._mapping)
            for row in self._rows(_BRIEF.join(page, doc_id == page.c.doc_id).order_by(*order))
        ]

    def names(self, filters: object | None = None) -> list[DocumentName]:
        """Return what all documents are called, ordered by doc_id.

        Args:
            filters: only documents that meet this filter; see `filters.where`.

        Raises:
            FilterError: the filter is empty or has no meaning.
        """
        columns = (documents.c[name] for name in ("doc_id", "title", "content_type"))
        query = self._of(*columns).order_by(documents.c.doc_id)
        if filters is not None:
            query = query.where(where(filters))
        return [DocumentName(row.doc_id, row.title, row.content_type) for row in self._rows(query)]

    def sources(self, doc_ids: Iterable[str]) -> dict[str, str]:
        """Return doc_id -> source for the documents that exist."""
        query = self._of(documents.c.doc_id, documents.c.source)
        return {
            row.doc_id: row.source
            for batch in batches(dict.fromkeys(doc_ids))
            for row in self._rows(query.where(documents.c.doc_id.in_(batch)))
        }

    def statistics(self) -> Statistics:
        """Return the corpus in numbers, counted now."""
        count = sa.func.count()
        kinds = self._of(
            documents.c.content_type,
            count.label("documents"),
            sa.func.sum(documents.c.leaf_count).label("leaves"),
            sa.func.max(documents.c.ingested_at).label("newest"),
        )
        rows = self._rows(kinds.group_by(documents.c.content_type).order_by(count.desc(), documents.c.content_type))
        largest = _BRIEF.where(self._seen).order_by(documents.c.leaf_count.desc(), documents.c.doc_id).limit(LARGEST)
        return Statistics(
            documents=sum(row.documents for row in rows),
            leaves=int(sum(row.leaves for row in rows)),
            content_types={row.content_type: row.documents for row in rows},
            topics=self.topics(),
            largest=[DocumentBrief(**row._mapping) for row in self._rows(largest)],
            last_ingested_at=max((row.newest for row in rows), default=None),
        )

    def languages(self) -> dict[str, int]:
        """Return the number of documents of each language that documents name, counted now."""
        named = self._of(text_of("language").label("language")).subquery()
        count = sa.func.count().label("documents")
        rows = self._rows(sa.select(named.c.language, count).group_by(named.c.language))
        return {row.language: row.documents for row in rows if row.language}

    def topics(self) -> dict[str, int]:
        """Return the documents of each topic; one of several topics counts for each."""
        # PostgreSQL takes an expression twice, with other parameters, for two different ones.
        named = self._of(text_of("topic").label("one"), list_of("topic").label("several")).subquery()
        count = sa.func.count().label("documents")
        found: Counter[str] = Counter()
        for row in self._rows(sa.select(named.c.one, named.c.several, count).group_by(named.c.one, named.c.several)):
            for topic in json.loads(row.several) if row.several else filter(None, [row.one]):
                found[topic] += row.documents
        return dict(sorted(found.items(), key=lambda each: (-each[1], each[0]))[:MOST_TOPICS])

    def last_ingested_at(self) -> str | None:
        """Return when the newest document came in, ISO 8601, UTC; None for an empty corpus."""
        (row,) = self._rows(self._of(sa.func.max(documents.c.ingested_at).label("newest")))
        return row.newest if row.newest is None else str(row.newest)

    def _of(self, *columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
        return sa.select(*columns).select_from(documents).where(self._seen)

    def _rows(self, query: sa.Select[Any]) -> list[sa.Row[Any]]:
        with failures_named(), self._engine.connect() as connection:
            return list(connection.execute(query))


_own, _same, _first = texts.alias(), texts.alias(), documents.alias()
_DUPLICATE_OF = (
    sa.select(sa.func.min(_first.c.doc_id))
    .select_from(
        _own.join(_same, _same.c.text_hash == _own.c.text_hash).join(_first, _first.c.version == _same.c.version)
    )
    .where(_own.c.version == documents.c.version, _first.c.doc_id < documents.c.doc_id)
    .scalar_subquery()
)
_BRIEF = sa.select(
    *(documents.c[name] for name in ("doc_id", "title", "url", "source", "content_type", "ingested_at", "metadata")),
    documents.c.leaf_count.label("leaves"),
    sa.func.length(documents.c.text).label("chars"),
    _DUPLICATE_OF.label("duplicate_of"),
)
