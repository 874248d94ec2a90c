"""What is known of each source file: where it lies, what it held when last read, and why it could not be read.

Flow: ingestion compares a file's digest with the one here to pass over what is known; a file's note is written in the
commit that shows its last documents, so that neither is there without the other. A note says nothing about documents
themselves (`store.py`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from index.documents.tables import batches, failures_named, sources

# Of a file, that are shown beside its documents.
MAX_REASONS = 10
_incomplete = sa.func.json_array_length(sources.c.failures) > 0


@dataclass(frozen=True, slots=True)
class SourceNote:
    """One source file.

    Attributes:
        source: the name its documents carry: the root's name, if it has one, and the path below the root.
        root: the folder that was ingested, absolute.
        file: path below `root`.
        digest: of content, options and pipeline when it was last read to its end; None when it must be read again.
        options: what the run added, JSON-ready, so that a retry can add it again.
        failures: why parts of it could not be read.
        left_out: what of it was not read on purpose, such as hidden sheets; where of one of several documents, its id
            and a colon come first.
    """

    source: str
    root: str
    file: str
    digest: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    failures: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """Where the file lies, or lay."""
        return Path(self.root) / self.file


class SourceLedger:
    """The notes of one corpus. Safe to read from many threads; one process writes."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def get(self, source: str) -> SourceNote | None:
        """Return what is known of a source file, or None."""
        return next(iter(self._select(sources.c.source == source)), None)

    def under(self, root: str) -> list[SourceNote]:
        """Return the notes of all files of a root, ordered by source."""
        return self._select(sources.c.root == root)

    def all(self) -> list[SourceNote]:
        """Return all notes, ordered by source."""
        return self._select(sa.true())

    def failed(self) -> list[SourceNote]:
        """Return the notes of all files of which something could not be read, ordered by source."""
        return self._select(sources.c.failure_count > 0)

    def incomplete(self) -> list[SourceNote]:
        """Return the notes of all files of which something could not be, or was not, read, ordered by source."""
        return self._select(_incomplete)

    def unread(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Return what of these files could not be, or was not, read: at most `MAX_REASONS` reasons a source."""
        found = [note for batch in batches(names) for note in self._select(_incomplete & sources.c.source.in_(batch))]
        return {note.source: [*note.failures, *note.left_out][:MAX_REASONS] for note in found}

    def note(self, notes: Sequence[SourceNote]) -> None:
        """Keep these notes, in place of older ones of the same sources."""
        with failures_named(), self._engine.begin() as connection:
            write_notes(connection, notes)

    def forget(self, names: Iterable[str]) -> None:
        """Drop the notes of these sources."""
        with failures_named(), self._engine.begin() as connection:
            for batch in batches(names):
                connection.execute(sa.delete(sources).where(sources.c.source.in_(batch)))

    def _select(self, where: sa.ColumnElement[bool]) -> list[SourceNote]:
        with failures_named(), self._engine.connect() as connection:
            rows = connection.execute(sa.select(sources).where(where).order_by(sources.c.source))
            return [_from_row(row) for row in rows]


def write_notes(connection: sa.Connection, notes: Sequence[SourceNote]) -> None:
    """Keep these notes, in place of older ones of the same sources, within a transaction that is open already."""
    if not notes:
        return
    for batch in batches([note.source for note in notes]):
        connection.execute(sa.delete(sources).where(sources.c.source.in_(batch)))
    connection.execute(sa.insert(sources), [_to_row(note) for note in notes])


def reopen(connection: sa.Connection, names: Iterable[str]) -> None:
    """Have the next ingestion read these sources again: within the open transaction documents of theirs are lost."""
    for batch in batches(names):
        connection.execute(sa.update(sources).where(sources.c.source.in_(batch)).values(digest=None))


def _to_row(note: SourceNote) -> dict[str, Any]:
    row = asdict(note)
    # What was left out stands behind the failures that are counted: an earlier release's file has no other column.
    return row | {"failures": [*note.failures, *row.pop("left_out")], "failure_count": len(note.failures)}


def _from_row(row: Any) -> SourceNote:
    failures, left_out = row.failures[: row.failure_count], row.failures[row.failure_count :]
    return SourceNote(row.source, row.root, row.file, row.digest, row.options, tuple(failures), tuple(left_out))
