"""Tell a full or unwilling disk from a damaged store, and stop before a disk is full.

Flow: `corpus.py` asks for room before each commit; `documents/tables.py`, `vectors/chroma.py` and
`lexical/tantivy_index.py` name failures here. Chroma cannot even be read while the disk is full, so an ingestion stops
while some room is left.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from errors import CorpusError, IndexDamagedError, StorageError

# What must be left when a batch has been written: SQLite's log, and tantivy's next merge of segments.
FLOOR_BYTES = 32_000_000
# SQLite's and the system's words for a disk that is full or refuses; Chroma gives SQLite's codes alone.
_REFUSALS = (
    *("disk is full", "No space left", "readonly", "read-only", "disk I/O error", "unable to open database file"),
    *("Permission denied", "Read-only file system", "Input/output error", "quota exceeded"),
    *("(code: 13)", "(code: 8)", "(code: 1032)", "(code: 10)", "(code: 14)"),
)


def check_space(folder: Path, needed: int) -> None:
    """Make sure that `needed` bytes can be written in `folder`, and some room remains.

    Raises:
        StorageError: there is less.
    """
    free = shutil.disk_usage(folder).free
    if free < needed + FLOOR_BYTES:
        raise StorageError(
            f"The disk of {folder} has {free:,} bytes free; the next batch needs {needed:,} and "
            f"{FLOOR_BYTES:,} must remain.",
            "Free some space and run the same command again; nothing that was committed is lost.",
        )


@contextmanager
def refusals_named(folder: Path) -> Iterator[None]:
    """Turn what the system refuses in a corpus folder into a StorageError."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"The folder {folder} cannot be read or written: {error.strerror or error}.",
            "Free some space, or let this program write there, and try again; nothing that was committed is lost.",
        ) from error


@contextmanager
def failing_store(store: str) -> Iterator[None]:
    """Note in a CorpusError which store of the corpus failed, unless that is noted already."""
    try:
        yield
    except CorpusError as error:
        error.store = error.store or store
        raise


def private_folder(folder: Path) -> None:
    """Make a folder, and what is missing above it, that only its owner can look into; one that exists stays as it is.

    Raises:
        OSError: the disk refuses.
    """
    for missing in reversed([one for one in (folder, *folder.parents) if not one.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)


def private_file(path: Path) -> None:
    """Make a file, if it is missing, and let only its owner read and write it.

    Raises:
        OSError: the disk refuses, or the file is another user's.
    """
    os.close(os.open(path, os.O_CREAT | os.O_RDONLY | os.O_CLOEXEC, 0o600))
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)


def folder_bytes(folder: Path) -> int:
    """Return what a folder takes on the disk, all its files together."""
    size = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # its holder writes meanwhile
            size += path.lstat().st_blocks * 512
    return size


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk: a file that was renamed is safe only then."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_refusal(cause: str) -> bool:
    """Say whether a store's own message means a disk that is full, or that refuses."""
    return any(word in cause for word in _REFUSALS)


def is_locked(cause: str) -> bool:
    """Say whether SQLite refused because another connection is writing; it may succeed a moment later."""
    return "database is locked" in cause


def failure(store: str, error: BaseException, folder: Path | None) -> CorpusError:
    """Return what a store's own error means: a disk that is full or refuses, or damage.

    Args:
        store: the store, as the subject of a sentence.
        error: what its library raised.
        folder: the store's folder, inside the corpus folder; None for a store in memory.
    """
    cause = str(error).strip().rstrip(".")
    if folder is None:
        return IndexDamagedError(f"{store} in memory failed: {cause}.", "Ask again, over fewer or shorter documents.")
    if is_locked(cause):
        return StorageError(
            f"{store} in {folder} is locked by another process: {cause}.",
            "Run the same command again when that process has ended; nothing that was committed is lost.",
        )
    if is_refusal(cause):
        return StorageError(
            f"{store} in {folder} cannot be written or read: {cause}.",
            "Free some space, or let this program write there, and run the same command again; "
            "nothing that was committed is lost.",
        )
    if folder.exists() and (free := shutil.disk_usage(folder).free) < FLOOR_BYTES:
        return StorageError(
            f"{store} failed, and its disk has only {free:,} bytes free: {cause}.",
            "Free some space and try again; nothing that was committed is lost.",
        )
    return IndexDamagedError(f"{store} in {folder} failed: {cause}.", repair(folder.parent.name))


def repair(corpus: str) -> str:
    """Return the remedy for a damaged store that is derived from the documents."""
    return f"Run `python -m ingestion doctor --corpus {corpus} --repair`."
