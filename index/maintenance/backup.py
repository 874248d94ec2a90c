"""Save a corpus as one file, and make a corpus of such a file.

Flow: `python -m ingestion backup` and `restore` -> **here** -> `archive.py` packs and checks, `layout/swap.py` puts a
restored corpus in its place. A backup holds everything, vectors included: restoring needs no model and reads no source
file.

Stores on servers are left to the servers' own tools.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from errors import CorpusError, IndexDamagedError, StorageError
from index.corpus import check_corpus_name, exists
from index.disk import private_file, private_folder, sync_folder
from index.folder_stores import open_folder
from index.layout.locations import LOCAL
from index.layout.lock import FILE_NAME as LOCK_NAME
from index.layout.lock import CorpusLock
from index.layout.manifest import Manifest
from index.layout.swap import finish_swap, rebuilt, swap_in
from index.maintenance.archive import Contents, list_files, pack, refusal, unpack
from index.maintenance.corpora import corpus_folder
from settings import VERSION, Settings


@dataclass(frozen=True, slots=True)
class BackupFacts:
    """What was saved or restored.

    Attributes:
        path: the archive that was written, or the folder of the restored corpus.
        bytes: size of that archive, or of the corpus's files.
        documents: how many the corpus holds.
        leaves: how many the corpus holds.
    """

    path: Path
    bytes: int
    documents: int
    leaves: int


def backup(name: str, settings: Settings, target: Path) -> BackupFacts:
    """Save the named corpus, with any embedding model, as one .tar.gz that appears when it is complete.

    Args:
        name: of the corpus.
        settings: where it is.
        target: the file to write.

    Raises:
        SettingsError: `name` cannot name a corpus.
        UnknownCorpusError: there is no such corpus.
        CorpusLockedError: another process holds it.
        IndexDamagedError: its stores cannot be opened or disagree.
        CorpusError: `target` exists or cannot be written, or the corpus has stores on servers.
        StorageError: the disk is full, or refuses.
    """
    _check_in_folder(settings)
    folder = corpus_folder(name, settings)
    _check_target(target, folder)
    with closing(open_folder(folder, Manifest.read(folder))) as corpus:
        corpus.open_derived()  # what is saved can be searched
        documents, leaves, state = corpus.documents.count(), corpus.documents.leaf_count(), corpus.documents.state()
        corpus.close_stores()  # SQLite's log goes into its file with the last connection
        members = list_files(folder, without=LOCK_NAME)
        _write(
            folder,
            Contents(corpus=name, version=VERSION, documents=documents, leaves=leaves, state=state, members=members),
            target,
        )
    return BackupFacts(target, target.stat().st_size, documents, leaves)


def restore(archive: Path, settings: Settings, name: str, *, replace: bool = False) -> BackupFacts:
    """Make a corpus of what `backup` wrote. It is checked as a whole, beside its place, before it is put there.

    Args:
        archive: what `backup` wrote.
        settings: where corpora are.
        name: the restored corpus's, which need not be the saved one's.
        replace: put it in the place of the corpus that has this name; that one is deleted last.

    Raises:
        SettingsError: `name` cannot name a corpus.
        CorpusError: the archive is damaged or no backup, or a corpus has this name and `replace` is off.
        CorpusLockedError: another process holds the corpus of this name, or restores one.
        IndexMismatchError: the corpus to replace has stores on servers.
        StorageError: the disk is full, or refuses.
    """
    check_corpus_name(name)
    _check_in_folder(settings)
    target = settings.index.dir / name
    finish_swap(target)
    _check_free(target, replace=replace)
    with _scratch(target) as scratch, _disk_failures(scratch):
        contents = unpack(archive, scratch)
        _check_restored(scratch, contents)
        target.mkdir(exist_ok=True)
        with CorpusLock(target):
            _check_free(target, replace=replace)
            shutil.rmtree(rebuilt(target), ignore_errors=True)
            scratch.rename(rebuilt(target))
            swap_in(target)
    return BackupFacts(target, contents.bytes, contents.documents, contents.leaves)


def _check_in_folder(settings: Settings) -> None:
    if settings.index.chroma_url or settings.index.database_url:
        raise CorpusError(
            "The stores of this installation's corpora are on servers, which one file cannot hold.",
            "While nothing ingests, save the index folder, the database by `pg_dump` and the Chroma server's folder.",
            "bad_backup",
        )


def _check_target(target: Path, folder: Path) -> None:
    if target.exists():
        raise CorpusError(f"{target} exists.", "Name another file, or move that one away.", "bad_backup")
    if not target.parent.is_dir():
        fact = f"Cannot write the backup: no folder exists at {target.parent}."
        raise CorpusError(fact, "Create the folder, or choose another path.", "bad_backup")
    if target.resolve().is_relative_to(folder.resolve()):
        raise CorpusError(f"{target} is inside the corpus that it shall save.", "Name a file elsewhere.", "bad_backup")


def _check_free(target: Path, *, replace: bool) -> None:
    if not exists(target):
        return
    if not replace:
        raise CorpusError(
            f"There is a corpus {target.name!r} already.",
            "Restore under another name, or replace it by `--replace`.",
            "bad_backup",
        )
    with suppress(IndexDamagedError):  # to be replaced is what a damaged one is here for
        LOCAL.check(Manifest.read(target), target.name)


def _write(folder: Path, contents: Contents, target: Path) -> None:
    partial = target.with_name(f".{target.name}.partial")
    try:
        with _disk_failures(target):
            private_file(partial)
            with partial.open("wb") as file:
                pack(folder, contents, file)
                file.flush()
                os.fsync(file.fileno())
            partial.rename(target)
            sync_folder(target.parent)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _scratch(target: Path) -> Iterator[Path]:
    """Yield an empty folder beside `target` that is deleted at the end, by the next restoring at the latest."""
    beside = target.with_name(f".{target.name}.restore")
    with _disk_failures(beside):
        private_folder(beside)
    folder = beside / target.name
    with CorpusLock(beside):
        try:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
            yield folder
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def _check_restored(folder: Path, contents: Contents) -> None:
    """Open what was unpacked as a corpus, and compare it with what the archive says it is."""
    if (folder / LOCK_NAME).exists():
        raise refusal("it holds a lock")
    try:
        with closing(open_folder(folder, Manifest.read(folder))) as corpus:
            corpus.open_derived()
            documents = corpus.documents
            found = documents.count(), documents.leaf_count(), documents.state()
    except IndexDamagedError as error:
        raise refusal(f"what it holds cannot be opened, {error.fact.rstrip('.')}") from error
    if found != (contents.documents, contents.leaves, contents.state):
        raise refusal("its documents are not those that its list says")


@contextmanager
def _disk_failures(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written: {error.strerror or error}.",
            "Free some space, or let this program write there, and try again; nothing was changed.",
        ) from error
