"""The tables of a corpus, and how its database is opened.

Flow: `corpus.py` opens the database -> `documents.py`, `catalogue.py` and `ledger.py` read and write their tables
through it. With those and `filters.py`, the only files that know SQLAlchemy.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DatabaseError, OperationalError

from errors import IndexDamagedError, StorageError
from index.storage import is_refusal

Database = sa.Engine
tables = sa.MetaData()
documents = sa.Table(
    "documents",
    tables,
    sa.Column("doc_id", sa.String, primary_key=True),
    sa.Column("version", sa.String, nullable=False, unique=True),
    sa.Column("title", sa.String, nullable=False),
    sa.Column("url", sa.String),
    sa.Column("source", sa.String, nullable=False, index=True),
    sa.Column("content_type", sa.String, nullable=False),
    sa.Column("pages", sa.JSON, nullable=False),
    sa.Column("metadata", sa.JSON, nullable=False),
    sa.Column("leaf_count", sa.Integer, nullable=False),
    sa.Column("ingested_at", sa.String, nullable=False),
    sa.Column("tree", sa.LargeBinary, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
)
# Apart from the text, so that reading the one never pages through the other.
parents = sa.Table(
    "parents",
    tables,
    sa.Column("version", sa.String, primary_key=True),
    sa.Column("vectors", sa.LargeBinary, nullable=False),
)
pending = sa.Table("pending", tables, sa.Column("version", sa.String, primary_key=True))
totals = sa.Table(
    "totals",
    tables,
    sa.Column("row", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("documents", sa.BigInteger, nullable=False),
    sa.Column("leaves", sa.BigInteger, nullable=False),
    sa.Column("state", sa.String, nullable=False),
)
sources = sa.Table(
    "sources",
    tables,
    sa.Column("source", sa.String, primary_key=True),
    sa.Column("root", sa.String, nullable=False, index=True),
    sa.Column("file", sa.String, nullable=False),
    sa.Column("digest", sa.String),
    sa.Column("options", sa.JSON, nullable=False),
    sa.Column("failures", sa.JSON, nullable=False),
    sa.Column("failure_count", sa.Integer, nullable=False),
)

RESTORE = "Run `python -m ingestion doctor`; restore the corpus from a backup, or delete it and ingest again."


def open_database(path: Path) -> sa.Engine:
    """Open the SQLite file at `path`, with all tables; it is made when missing.

    Raises:
        IndexDamagedError: the file is no database.
    """
    engine = sa.create_engine(f"sqlite:///{path}", connect_args={"timeout": 30})
    sa.event.listen(engine, "connect", _configure_sqlite)
    with failures_named():
        tables.create_all(engine)
    return engine


@contextmanager
def failures_named() -> Iterator[None]:
    """Turn a database failure into ours: a full disk is no damage, and the remedies differ."""
    try:
        yield
    except OperationalError as error:
        if is_refusal(str(error.orig)):
            raise StorageError(
                f"The document store cannot be written: {error.orig}.",
                "Free some space, or let this program write there, and run the same command again; "
                "nothing that was committed is lost.",
            ) from error
        raise IndexDamagedError(f"The document store failed: {error.orig}.", RESTORE) from error
    except DatabaseError as error:
        raise IndexDamagedError(f"The document store cannot be read: {error.orig}.", RESTORE) from error


def _configure_sqlite(connection: Any, _record: object) -> None:
    # WAL lets questions read while an ingestion writes; FULL survives a power cut.
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
