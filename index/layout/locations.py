"""Where a corpus's documents and vectors are: in its folder, or on servers that the settings name.

Flow: settings -> **here** -> `corpus.py` opens its stores, the examiner looks at them, `discard` deletes them. On a
server everything is named by the corpus's id: a corpus changes its name without touching them, and two never meet.
The lock, the manifest and the words stay in the folder.
"""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from errors import IndexDamagedError, IndexMismatchError
from index.documents.tables import (
    RESTORE,
    Database,
    drop_schema,
    look_into_file,
    look_into_schema,
    open_file,
    open_schema,
    schema_exists,
)
from index.layout.manifest import Manifest
from index.layout.registry import forget_corpus

if TYPE_CHECKING:
    from index.vectors.chroma import Collection

IN_FOLDER, ON_SERVER = "folder", "server"


@dataclass(frozen=True, slots=True)
class Servers:
    """Addresses of the servers; None keeps the store in the corpus's folder.

    Attributes:
        chroma_url: of a Chroma server, for vectors.
        database_url: of a PostgreSQL database, for documents.
    """

    chroma_url: str | None = None
    database_url: str | None = None

    def created(self, manifest: Manifest) -> Manifest:
        """Return the manifest of a new corpus whose stores are here."""
        return replace(manifest.created(), documents_at=_place(self.database_url), vectors_at=_place(self.chroma_url))

    def check(self, manifest: Manifest, corpus: str) -> None:
        """Compare where a corpus's stores are with where the settings look for them.

        Raises:
            IndexMismatchError: they are elsewhere.
        """
        for field, stored, url, variable in (
            ("documents_at", manifest.documents_at, self.database_url, "RAG_INDEX__DATABASE_URL"),
            ("vectors_at", manifest.vectors_at, self.chroma_url, "RAG_INDEX__CHROMA_URL"),
        ):
            if stored != _place(url):
                raise IndexMismatchError.of(field, stored=stored, wanted=_place(url), corpus=corpus, variable=variable)

    def open_documents(self, folder: Path, manifest: Manifest, *, read_only: bool = False) -> Database:
        """Open the database of the corpus in `folder`; a new corpus gets its tables, unless it shall only be read.

        Raises:
            IndexDamagedError: the documents are gone, or cannot be read.
            StoreUnavailableError: the server does not answer.
        """
        if (folder / "words").exists() and not self.has_documents(folder, manifest):
            raise IndexDamagedError(f"The documents of corpus {folder.name!r} are gone.", RESTORE)
        if self.database_url:
            return open_schema(self.database_url, _schema(manifest), read_only=read_only)
        return open_file(_file(folder), read_only=read_only)

    def look_into_documents(self, folder: Path, manifest: Manifest) -> Database:
        """Open the database of the corpus in `folder` to read from, whichever release made its tables."""
        if self.database_url:
            return look_into_schema(self.database_url, _schema(manifest))
        return look_into_file(_file(folder))

    def has_documents(self, folder: Path, manifest: Manifest) -> bool:
        """Say whether the corpus in `folder` has a database; a moment after its birth it has none."""
        if self.database_url:
            return schema_exists(self.database_url, _schema(manifest))
        return _file(folder).exists()

    def open_vectors(self, folder: Path, manifest: Manifest) -> "Collection":
        """Open the vectors of the corpus in `folder`; raises what `vectors/chroma.py` says."""
        from index.vectors.chroma import open_embedded, open_served  # noqa: PLC0415  # a second to import

        if self.chroma_url:
            return open_served(self.chroma_url, _collection(manifest), folder.name)
        return open_embedded(folder / "vectors")

    def delete_vectors(self, folder: Path, manifest: Manifest) -> None:
        """Delete the vectors of a corpus that is not open."""
        from index.vectors.chroma import delete_served  # noqa: PLC0415

        if self.chroma_url:
            delete_served(self.chroma_url, _collection(manifest), folder.name)
        shutil.rmtree(folder / "vectors", ignore_errors=True)

    def discard(self, folder: Path) -> None:
        """Delete the corpus in `folder` with all it has on servers; if there is none, the folder alone.

        Raises:
            IndexMismatchError: its stores are on servers that the settings do not name.
            StoreUnavailableError: a server does not answer; the folder is still there.
        """
        try:
            manifest = Manifest.read(folder)
        except IndexDamagedError:
            manifest = None
        if manifest and ON_SERVER in (manifest.documents_at, manifest.vectors_at):
            self.check(manifest, folder.name)
            self.delete_vectors(folder, manifest)
            if self.database_url:
                forget_corpus(self.database_url, manifest)
                drop_schema(self.database_url, _schema(manifest))
        shutil.rmtree(folder, ignore_errors=True)


LOCAL = Servers()


def _place(url: str | None) -> str:
    return ON_SERVER if url else IN_FOLDER


def _file(folder: Path) -> Path:
    return folder / "documents.sqlite"


def _schema(manifest: Manifest) -> str:
    return f"treeline_{manifest.corpus_id}"


def _collection(manifest: Manifest) -> str:
    return f"treeline-{manifest.corpus_id}"
