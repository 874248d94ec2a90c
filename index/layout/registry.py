"""Which corpora a PostgreSQL database holds: their names and manifests, for machines that do not share a folder.

Flow: a writer that opens a corpus notes it -> **here** -> a process elsewhere makes the corpus's folder from it
(`replica.py`). There is one writer for a corpus on all machines: it holds a lock of the database, which goes with its
connection.
"""

import hashlib

import sqlalchemy as sa

from errors import CorpusLockedError
from index.documents.tables import closing_engine, failures_named, open_database
from index.layout.manifest import Manifest

_SCHEMA = "treeline"
_tables = sa.MetaData(schema=_SCHEMA)
_corpora = sa.Table(
    "corpora",
    _tables,
    sa.Column("corpus_id", sa.String, primary_key=True),
    sa.Column("name", sa.String, nullable=False, unique=True),
    sa.Column("manifest", sa.Text, nullable=False),
)


def note_corpus(url: str, name: str, manifest: Manifest) -> None:
    """Note a corpus, in place of what had its name or its id.

    Raises:
        StoreUnavailableError: the server does not answer.
    """
    with failures_named(), closing_engine(open_database(url)) as engine:
        with engine.begin() as connection:
            connection.execute(sa.schema.CreateSchema(_SCHEMA, if_not_exists=True))
        _tables.create_all(engine)
        row = {"corpus_id": manifest.corpus_id, "name": name, "manifest": manifest.to_json()}
        with engine.begin() as connection:
            if connection.execute(sa.select(_corpora).filter_by(**row)).first():
                return
            either = (_corpora.c.name == name) | (_corpora.c.corpus_id == manifest.corpus_id)
            connection.execute(sa.delete(_corpora).where(either))
            connection.execute(sa.insert(_corpora), row)


def forget_corpus(url: str, manifest: Manifest) -> None:
    """Forget a corpus that is deleted; raises what `note_corpus` raises."""
    with failures_named(), closing_engine(open_database(url)) as engine:
        if sa.inspect(engine).has_table("corpora", _SCHEMA):
            with engine.begin() as connection:
                connection.execute(sa.delete(_corpora).where(_corpora.c.corpus_id == manifest.corpus_id))


def noted_corpora(url: str) -> dict[str, Manifest]:
    """Return name -> manifest of every corpus; raises what `note_corpus` raises."""
    with failures_named(), closing_engine(open_database(url)) as engine:
        if not sa.inspect(engine).has_table("corpora", _SCHEMA):
            return {}
        with engine.connect() as connection:
            rows = connection.execute(sa.select(_corpora.c.name, _corpora.c.manifest)).all()
    return {row.name: Manifest.of_json(row.manifest) for row in rows}


class WriterLock:
    """The hold of the one writer of a corpus, on whichever machine it is.

    Args:
        url: of the database.
        corpus: its name.

    Raises:
        CorpusLockedError: a process on another machine has it.
        StoreUnavailableError: the server does not answer.
    """

    def __init__(self, url: str, corpus: str) -> None:
        self._engine = open_database(url)
        self._released = False
        key = int(hashlib.sha256(f"{_SCHEMA} {corpus}".encode()).hexdigest()[:15], 16)
        try:
            with failures_named():
                self._connection = self._engine.connect()
                taken = self._connection.execute(sa.select(sa.func.pg_try_advisory_lock(key))).scalar_one()
                self._connection.commit()  # the lock is of the session, and goes when the connection does
        except BaseException:
            self._engine.dispose()
            raise
        if not taken:
            self.release()
            raise CorpusLockedError(
                f"Corpus {corpus!r} of this database has a writer on another machine, or in another index folder.",
                "Stop that one, set RAG_SERVE__ROLE=reader here, or give each its own database.",
            )

    def release(self) -> None:
        """Let another writer in; a second call does nothing."""
        if not self._released:
            self._released = True
            self._connection.close()
            self._engine.dispose()
