"""The stores of a corpus in a folder: its lock, manifest, documents, vectors and words.

Flow: `build.py` -> **here** -> `corpus.py`, which reads and changes them as one thing. Vectors are opened only when
they are known to be sound: their files are those of the last clean close, or a child process has just examined them.
"""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from errors import CorpusError, IndexDamagedError, UnknownCorpusError
from index.corpus import Corpus, Stores, corpus_names, exists
from index.disk import check_space, failing_store, folder_bytes, private_folder, refusals_named
from index.disk import repair as remedy
from index.documents.totals import recorded_totals
from index.health.check import SAMPLE, examine_store
from index.health.seal import VectorsSeal
from index.layout.access import Access, Lock, Writing
from index.layout.locations import LOCAL, Servers
from index.layout.manifest import Manifest
from index.layout.registry import note_corpus
from index.layout.swap import finish_swap
from index.replica import follow, is_replica, own_from_now_on
from index.vectors.flush import flush_in_child

if TYPE_CHECKING:
    from index.lexical.tantivy_index import LexicalIndex
    from index.vectors.chroma import Collection


def open_folder(
    folder: Path,
    manifest: Manifest,
    servers: Servers = LOCAL,
    *,
    create: bool = False,
    access: Access | None = None,
) -> Corpus:
    """Open the corpus in a folder.

    Args:
        folder: made, with the manifest, when missing and `create` is set.
        manifest: what the settings ask for; an existing corpus must match it.
        servers: where its documents and vectors are, if not in the folder; an existing corpus must be there.
        create: make the corpus if it does not exist.
        access: how it is opened; None: as its writer, for a program that is not a service.

    Raises:
        UnknownCorpusError: there is no such corpus and `create` is off.
        CorpusLockedError: another process holds it.
        IndexMismatchError: it was built with other settings.
        IndexDamagedError: one of its stores cannot be opened.
        StorageError: the folder cannot be written: the disk is full, or refuses.
        CorpusError: it is to be made by a process that only reads.
    """
    access = access or Writing()
    if create and access.read_only:
        raise CorpusError.read_only(folder.name)
    if not access.read_only:
        finish_swap(folder)
    if create:
        with refusals_named(folder):
            private_folder(folder)
    elif not exists(folder):
        raise UnknownCorpusError.of(folder.name, corpus_names(folder.parent))
    if access.read_only and not servers.has_documents(folder, Manifest.read(folder)):
        raise UnknownCorpusError.of(folder.name, [])  # its writer is just making it
    lock = access.acquire(folder, servers)
    try:
        if not exists(folder):
            with refusals_named(folder):
                servers.created(manifest).write(folder)
        stored = Manifest.read(folder)
        stored.check(manifest, folder.name)
        servers.check(stored, folder.name)
        stores = FolderStores(folder, lock, stored, servers, read_only=access.read_only)
        if servers.database_url and not access.read_only:
            own_from_now_on(folder, stored, stores.database)
            if not folder.name.startswith("."):  # it gets its name when it is complete
                note_corpus(servers.database_url, folder.name, stored)
        return Corpus(folder.name, stored, stores)
    except BaseException:
        lock.release()
        raise


class FolderStores(Stores):
    """The stores of the corpus in `folder`, some of them perhaps on servers.

    Args:
        folder: of the corpus.
        lock: released at the end.
        manifest: of the corpus.
        servers: where its documents and vectors are, if not in the folder.
        read_only: another process writes.

    Raises:
        IndexDamagedError: the documents cannot be opened.
    """

    def __init__(
        self, folder: Path, lock: Lock, manifest: Manifest, servers: Servers, *, read_only: bool = False
    ) -> None:
        self._folder = folder
        self._vectors = folder / "vectors"
        self._words = folder / "words"
        self._vectors_seal = VectorsSeal(folder, self._vectors)
        self._lock = lock
        self._manifest = manifest
        self._servers = servers
        self.read_only = read_only
        self._embedded = not (servers.chroma_url or lock.vectors_url)
        with failing_store("documents"):
            self.database = servers.open_documents(folder, manifest, read_only=read_only)

    def open_vectors(self, *, examined: bool) -> "Collection":
        """Open the vectors, which a child process examines first unless they are as the last clean close left them.

        Args:
            examined: the caller has examined them.

        Raises:
            IndexDamagedError: they are damaged, or some of them are gone.
        """
        if self._lock.vectors_url:  # examined before its server was started
            from index.vectors.chroma import EMBEDDED_NAME, open_served  # noqa: PLC0415  # a second to import

            return open_served(self._lock.vectors_url, EMBEDDED_NAME, self._folder.name, near=True)
        if self._embedded and not examined:
            self._check_vectors()
        vectors = self._servers.open_vectors(self._folder, self._manifest)
        self._seal()  # Chroma writes when it is opened; a reader that is killed leaves them as they are now
        return vectors

    def open_words(self) -> "LexicalIndex":
        """Open the word index; raises IndexDamagedError when it is damaged."""
        from index.lexical.tantivy_index import LexicalIndex  # noqa: PLC0415  # a run without changes needs none of it

        if self.read_only and is_replica(self._folder):
            follow(self._folder, self._manifest, self.database)
        return LexicalIndex(self._words, read_only=self.read_only)

    def record(self, manifest: Manifest) -> None:
        """Write the manifest, and note it in the database that names the corpora of all machines."""
        with refusals_named(self._folder):
            manifest.write(self._folder)
        if self._servers.database_url and not self._folder.name.startswith("."):
            note_corpus(self._servers.database_url, self._folder.name, manifest)
        self._manifest = manifest

    def check_space(self, needed_bytes: int) -> None:
        """Raise StorageError unless so much can be written."""
        check_space(self._folder, needed_bytes)

    def size_bytes(self) -> int:
        """What the folder takes."""
        return folder_bytes(self._folder)

    def write_graph(self) -> None:
        """Have the whole graph of the vectors, which are closed, written; raises IndexDamagedError if it is damaged."""
        if self._embedded:
            self._check_vectors()
            flush_in_child(self._vectors)
            self._seal()

    def delete_vectors(self) -> None:
        """Delete all vectors, which are not open."""
        self._servers.delete_vectors(self._folder, self._manifest)

    def delete_words(self) -> None:
        """Delete the word index, which is not open."""
        shutil.rmtree(self._words, ignore_errors=True)

    def close_vectors(self, vectors: "Collection") -> None:
        """Close the vectors, and seal their files as they are now."""
        vectors.close()
        self._seal()

    def release(self) -> None:
        """Let others in; a second call does nothing."""
        self._lock.release()

    def _seal(self) -> None:
        if self._embedded and self._folder.exists():  # somebody may have deleted it
            with refusals_named(self._folder):
                self._vectors_seal.write()

    def _check_vectors(self) -> None:
        if not self._vectors.exists():
            if recorded_totals(self.database).leaves:
                raise IndexDamagedError(
                    f"The vectors of corpus {self._folder.name!r} are gone.", remedy(self._folder.name)
                )
            return  # nothing was ever stored
        if self._vectors_seal.matches():
            return
        for check in examine_store(self._folder, self._servers, "vectors", SAMPLE):
            if not check.ok:
                raise IndexDamagedError(
                    f"The vectors of corpus {self._folder.name!r} are damaged: {check.finding}",
                    remedy(self._folder.name),
                )
