"""The tables of a corpus, and how its database is opened.

Flow: `corpus.py` opens the database -> `store.py`, `catalogue.py` and `sources.py` read and write their tables
through it. With those and `filters.py`, the only files that know SQLAlchemy.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError

from errors import CorpusError, IndexDamagedError, SettingsError, StorageError, StoreUnavailableError
from index.disk import is_locked, is_refusal

Database = sa.Engine
# Longest wait for the next bytes of a database server. Statements are many and small.
SERVER_TIMEOUT_S = 3
# Fewer than the values that one statement may hold, in SQLite and in PostgreSQL.
BATCH_ROWS = 500
# Names are compared byte by byte, as SQLite does.
String = sa.String().with_variant(sa.String(collation="C"), "postgresql")
tables = sa.MetaData()
documents = sa.Table(
    "documents",
    tables,
    sa.Column("doc_id", String, primary_key=True),
    sa.Column("version", String, nullable=False, unique=True),
    sa.Column("title", String, nullable=False),
    sa.Column("url", String),
    sa.Column("source", String, nullable=False, index=True),
    sa.Column("content_type", String, nullable=False),
    sa.Column("pages", sa.JSON, nullable=False),
    sa.Column("metadata", sa.JSON, nullable=False),
    sa.Column("leaf_count", sa.Integer, nullable=False),
    sa.Column("ingested_at", String, nullable=False),
    sa.Column("tree", sa.LargeBinary, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
)
# Apart from the text, so that reading the one never pages through the other.
parents = sa.Table(
    "parents",
    tables,
    sa.Column("version", String, primary_key=True),
    sa.Column("vectors", sa.LargeBinary, nullable=False),
)
# What the parts of a text are, see `structure.py`. A corpus of an earlier release has none.
structures = sa.Table(
    "structures",
    tables,
    sa.Column("version", String, primary_key=True),
    sa.Column("blocks", sa.LargeBinary, nullable=False),
)
# Named by hash, to find documents that hold the same text.
texts = sa.Table(
    "texts",
    tables,
    sa.Column("version", String, primary_key=True),
    sa.Column("text_hash", String, nullable=False, index=True),
)
pending = sa.Table("pending", tables, sa.Column("version", String, primary_key=True))
totals = sa.Table(
    "totals",
    tables,
    sa.Column("row", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("documents", sa.BigInteger, nullable=False),
    sa.Column("leaves", sa.BigInteger, nullable=False),
    sa.Column("state", String, nullable=False),
)
# One row, see `totals.py`. A corpus of an earlier release has none before it is next opened for writing.
generations = sa.Table(
    "generations",
    tables,
    sa.Column("row", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("number", sa.BigInteger, nullable=False),
)
sources = sa.Table(
    "sources",
    tables,
    sa.Column("source", String, primary_key=True),
    sa.Column("root", String, nullable=False, index=True),
    sa.Column("file", String, nullable=False),
    sa.Column("digest", String),
    sa.Column("options", sa.JSON, nullable=False),
    sa.Column("failures", sa.JSON, nullable=False),
    sa.Column("failure_count", sa.Integer, nullable=False),
)

_PG_DISK_FULL = "53100"
# Connections, logins, missing databases, shutdowns and lack of resources, by the first two digits.
_PG_UNAVAILABLE = ("08", "28", "3D", "53", "57", "58")

RESTORE = "Run `python -m ingestion doctor`; restore the corpus from a backup, or delete it and ingest again."


def open_file(path: Path, *, read_only: bool = False) -> Database:
    """Open the SQLite file at `path`, with all tables; it is made when missing, unless it shall only be read.

    Raises:
        IndexDamagedError: the file is not a database, or it is to be read only and lacks a table.
    """
    if read_only:
        return _complete(look_into_file(path))
    engine = sa.create_engine(f"sqlite:///{path}", connect_args={"timeout": 30})
    sa.event.listen(engine, "connect", _configure_sqlite)
    with failures_named():
        tables.create_all(engine)
    return engine


def look_into_file(path: Path) -> Database:
    """Open the SQLite file at `path` to read from, as it is: tables that its release did not have are missing."""
    return sa.create_engine(f"sqlite:///file:{quote(str(path))}?mode=ro&uri=true")


def open_memory(name: str) -> Database:
    """Open an SQLite database that lives in memory under `name`, with all tables, until the engine is disposed of."""
    engine = sa.create_engine(
        f"sqlite:///file:{name}?mode=memory&cache=shared&uri=true",
        # Threads get connections of their own, as with a file; the first one is kept, and with it what was written.
        poolclass=sa.QueuePool,
        connect_args={"check_same_thread": False},
    )
    with failures_named():
        tables.create_all(engine)
    return engine


def open_schema(url: str, schema: str, *, read_only: bool = False) -> Database:
    """Open one schema of a PostgreSQL database, with all tables; it is made when missing, as in `open_file`.

    Raises:
        StoreUnavailableError: the server does not answer, or refuses.
        IndexDamagedError: it is to be read only and has not all tables.
    """
    if read_only:
        return _complete(look_into_schema(url, schema), schema)
    engine = _in_schema(url, schema)
    with failures_named():
        with engine.begin() as connection:
            connection.execute(sa.schema.CreateSchema(schema, if_not_exists=True))
        tables.create_all(engine)
    return engine


def look_into_schema(url: str, schema: str) -> Database:
    """Open one schema of a PostgreSQL database to read from, as `look_into_file` does."""
    return _in_schema(url, schema).execution_options(postgresql_readonly=True)


def schema_exists(url: str, schema: str) -> bool:
    """Say whether a PostgreSQL database has this schema; raises what `open_schema` raises."""
    with failures_named(), closing_engine(open_database(url)) as engine:
        return sa.inspect(engine).has_schema(schema)


def drop_schema(url: str, schema: str) -> None:
    """Delete a schema of a PostgreSQL database with all its tables; raises what `open_schema` raises."""
    with failures_named(), closing_engine(open_database(url)) as engine, engine.begin() as connection:
        connection.execute(sa.schema.DropSchema(schema, cascade=True, if_exists=True))


def batches(values: Iterable[str]) -> Iterator[list[str]]:
    """Cut into lists that fit the number of values a statement may hold."""
    listed = list(values)
    return (listed[start : start + BATCH_ROWS] for start in range(0, len(listed), BATCH_ROWS))


@contextmanager
def closing_engine(engine: Database) -> Iterator[Database]:
    """Close the engine's connections at the end."""
    try:
        yield engine
    finally:
        engine.dispose()


@contextmanager
def fresh_connection(engine: Database) -> Iterator[sa.Connection]:
    """Yield a connection to what is there now: open ones of SQLite go on reading a file that was deleted."""
    address = engine.url
    if address.get_backend_name() != "sqlite" or address.query.get("mode") == "memory":
        with engine.connect() as connection:
            yield connection
        return
    read_only = address.query.get("mode") == "ro"
    fresh = sa.create_engine(address) if read_only else look_into_file(Path(str(address.database)))
    with closing_engine(fresh), fresh.connect() as connection:
        yield connection


def _in_schema(url: str, schema: str) -> Database:
    return open_database(url).execution_options(schema_translate_map={None: schema})


def _complete(engine: Database, schema: str | None = None) -> Database:
    with failures_named():
        missing = set(tables.tables) - set(sa.inspect(engine).get_table_names(schema))
    if missing:
        engine.dispose()
        raise IndexDamagedError(
            f"The document store lacks {', '.join(sorted(missing))}: no writer of this release has opened it.",
            "Start the writer once, or run `python -m ingestion doctor`; then try again.",
        )
    return engine


def open_database(url: str) -> Database:
    """Return what connects to a PostgreSQL database.

    Raises:
        SettingsError: this is not the address of one.
    """
    try:
        address = sa.make_url(url)
    except ArgumentError:
        address = None  # its message would show the password
    if address is None or address.get_backend_name() != "postgresql":
        raise SettingsError(
            "RAG_INDEX__DATABASE_URL is not an address of a PostgreSQL database.",
            "Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE.",
        )
    address = address.set(drivername="postgresql+pg8000")
    engine = sa.create_engine(address, connect_args={"timeout": SERVER_TIMEOUT_S}, pool_pre_ping=True)
    sa.event.listen(engine, "handle_error", _forget_silent)
    return engine


@contextmanager
def failures_named() -> Iterator[None]:
    """Turn a database failure into ours: a full disk is not damage, and a silent server neither.

    A damaged file may open, and hold bytes that are not text, JSON or vectors: that is a ValueError in the body.
    """
    try:
        yield
    except DBAPIError as error:
        raise _failure(error) from error
    except TimeoutError as error:
        raise _unavailable(f"it did not answer within {SERVER_TIMEOUT_S} s") from error
    except ValueError as error:
        raise _damaged(str(error).rstrip(".")) from error


def _failure(error: DBAPIError) -> CorpusError:
    answer = error.orig.args[0] if error.orig and error.orig.args else None
    if isinstance(answer, dict):  # PostgreSQL's own, by its codes
        code, cause = str(answer.get("C", "")), str(answer.get("M", ""))
        if code == _PG_DISK_FULL:
            return _full(cause)
        return _unavailable(cause) if code.startswith(_PG_UNAVAILABLE) else _damaged(cause)
    cause = str(error.orig).rstrip(".")
    if isinstance(error, InterfaceError):
        return _unavailable(cause)
    return _full(cause) if is_refusal(cause) or is_locked(cause) else _damaged(cause)


def _full(cause: str) -> StorageError:
    return StorageError(
        f"The document store cannot be written: {cause}.",
        "Free some space, or let this program write there, and run the same command again; "
        "nothing that was committed is lost.",
    )


def _damaged(cause: str) -> IndexDamagedError:
    return IndexDamagedError(f"The document store cannot be read: {cause}.", RESTORE)


def _unavailable(cause: str) -> StoreUnavailableError:
    return StoreUnavailableError(
        f"The database server failed: {cause}.",
        "Start it, or check its log and RAG_INDEX__DATABASE_URL; then try again.",
    )


def _forget_silent(context: ExceptionContext) -> None:
    """Drop a connection that timed out: ending its transaction would wait once more."""
    if isinstance(context.original_exception, TimeoutError):
        context.is_disconnect = True


def _configure_sqlite(connection: Any, _record: object) -> None:
    # WAL lets questions read while an ingestion writes; FULL survives a power cut.
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
