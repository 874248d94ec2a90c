"""Which documents hold the same text: the same file twice, or one record in two collections.

Flow: `store.py` notes each document's text when it shows the document -> ingestion asks **here** whose vectors a copy
can have, retrieval which of several copies stands for all. Copies are documents like any other, with their own ids.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from operator import attrgetter
from typing import Any

import sqlalchemy as sa

from index.documents.tables import batches, documents, failures_named, texts


class Copies:
    """The equal texts of one corpus. Safe to read from many threads; one process writes."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def holder(self, text_hash: str, *, without: str) -> str | None:
        """Return the first document, by its id, with this text that is not called `without`; None if there is none."""
        query = sa.select(sa.func.min(documents.c.doc_id)).join(texts, texts.c.version == documents.c.version)
        with failures_named(), self._engine.connect() as connection:
            return connection.execute(
                query.where(texts.c.text_hash == text_hash, documents.c.doc_id != without)
            ).scalar_one_or_none()

    def originals(self, versions: Iterable[str], allowed: Collection[str] | None = None) -> dict[str, str]:
        """Return version -> version of the document that stands for it, for those of which there are copies.

        Of documents with the same title and text the first one by its id stands for all, so that every search shows the
        same one. A title can be what was asked for, so under another title the same text speaks for itself.

        Args:
            versions: what was found.
            allowed: versions that may be shown, None meaning all.
        """
        rows = self._sharing(list(dict.fromkeys(versions)))
        first: dict[tuple[str, str], str] = {}
        for row in sorted(rows, key=attrgetter("doc_id")):
            if allowed is None or row.version in allowed:
                first.setdefault((row.title, row.text_hash), row.version)
        originals = {row.version: first.get((row.title, row.text_hash), row.version) for row in rows}
        return {version: original for version, original in originals.items() if version != original}

    def _sharing(self, versions: list[str]) -> list[Any]:
        """Return these documents and all with the text of one of them: `doc_id`, `title`, `version`, `text_hash`."""
        query = sa.select(documents.c.doc_id, documents.c.title, texts.c.version, texts.c.text_hash).join(
            documents, documents.c.version == texts.c.version
        )
        found: dict[str, Any] = {}
        with failures_named(), self._engine.connect() as connection:
            for batch in batches(versions):
                their = sa.select(texts.c.text_hash).where(texts.c.version.in_(batch))
                for row in connection.execute(query.where(texts.c.text_hash.in_(their))):
                    found[row.version] = row
        return list(found.values())


def hash_text(text: str) -> str:
    """Name a text: equal names mean equal texts; 20 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def note_texts(connection: sa.Connection, added: Sequence[tuple[str, str]], removed: Iterable[str]) -> None:
    """Note (version, text) of new documents, and forget the versions `removed`, within an open transaction."""
    for batch in batches(removed):
        connection.execute(sa.delete(texts).where(texts.c.version.in_(batch)))
    if added:
        connection.execute(
            sa.insert(texts), [{"version": version, "text_hash": hash_text(text)} for version, text in added]
        )
