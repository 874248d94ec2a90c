"""A corpus of another machine, as a folder here: its manifest from the database, its words made from the documents.

Flow: `folder_stores.py` opens a corpus whose documents are in PostgreSQL -> **here** -> the folder is there, and its
words are those of the documents' last commit. Words are derived, so a machine that starts with an empty disk makes them
all; later only what changed. Only folders that were made here are touched: any other one has its own writer.
"""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from errors import IndexDamagedError
from index.disk import private_folder, refusals_named
from index.documents.store import DocumentStore
from index.documents.tables import Database
from index.layout.locations import Servers
from index.layout.manifest import Manifest
from index.layout.registry import noted_corpora
from index.lexical.leaves import word_rows

if TYPE_CHECKING:
    from index.lexical.tantivy_index import LexicalIndex

MARK = "replica"
# Documents whose whole text is in memory at once.
BATCH_DOCUMENTS = 64
MAX_TRIES = 5


def is_replica(folder: Path) -> bool:
    """Say whether a corpus's folder was made here from the database."""
    return (folder / MARK).exists()


def make_folders(root: Path, servers: Servers) -> None:
    """Make the folder of each corpus that the database knows and this machine does not; delete those it forgot.

    Raises:
        StoreUnavailableError: the database does not answer.
        StorageError: the disk is full, or refuses.
    """
    if not servers.database_url:
        return
    noted = noted_corpora(servers.database_url)
    with refusals_named(root):
        for name, manifest in noted.items():
            folder = root / name
            if folder.exists() and not is_replica(folder):
                continue
            if not _has(folder, manifest):
                private_folder(folder)
                with _alone(folder):
                    manifest.write(folder)
        for mark in root.glob(f"*/{MARK}"):
            if mark.parent.name not in noted:
                shutil.rmtree(mark.parent, ignore_errors=True)


def follow(folder: Path, manifest: Manifest, database: Database) -> None:
    """Bring the words of a replica to the documents as they are; blocks. One process of a machine at a time does it.

    Raises:
        StoreUnavailableError: the database does not answer.
        StorageError: the disk is full, or refuses.
    """
    from index.lexical.tantivy_index import LexicalIndex  # noqa: PLC0415  # imports tantivy

    words = folder / "words"
    with _alone(folder) as mark:
        mark.seek(0)
        if mark.read() != manifest.corpus_id:  # another corpus of this name, or one that was not finished
            shutil.rmtree(words, ignore_errors=True)
        for _ in range(MAX_TRIES):
            documents = DocumentStore(database)
            generation = documents.generation()
            index = LexicalIndex(words)
            _bring(index, documents)
            if documents.generation() != generation:
                continue  # its writer committed meanwhile
            if index.count() == DocumentStore(database).leaf_count():
                break
            # A version that went and came back looks as if it were there.
            del index
            shutil.rmtree(words, ignore_errors=True)
        mark.truncate(0)
        mark.write(manifest.corpus_id)


def own_from_now_on(folder: Path, manifest: Manifest, database: Database) -> None:
    """Make a replica, if it is one, the folder of the corpus's writer; raises what `follow` raises."""
    if is_replica(folder):
        follow(folder, manifest, database)
        (folder / MARK).unlink()


def _has(folder: Path, manifest: Manifest) -> bool:
    try:
        return Manifest.read(folder) == manifest
    except IndexDamagedError:
        return False


def _bring(index: "LexicalIndex", documents: DocumentStore) -> None:
    wanted, there = set(documents.versions().values()), index.versions()
    index.delete(sorted(there - wanted))
    missing = sorted(wanted - there)
    if missing:
        index.add(_rows(documents, missing))


def _rows(documents: DocumentStore, versions: list[str]) -> Iterator[tuple[str, str, str, str]]:
    for start in range(0, len(versions), BATCH_DOCUMENTS):
        found = documents.get_versions(versions[start : start + BATCH_DOCUMENTS])
        yield from word_rows(found.values())


@contextmanager
def _alone(folder: Path) -> Iterator[TextIO]:
    with refusals_named(folder), (folder / MARK).open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
