"""One writer holds a corpus, and any number of readers beside it: advisory locks that die with their holders.

Flow: taken first when a corpus is opened, freed last. There are two files. `lock` is the writer's, and says who that
is, and where to reach it when it is a service. `readers` is shared by those that only read; what must be alone takes it
whole: embedded Chroma, which loses vectors when two processes open it, and what puts another corpus in its place.
"""

import fcntl
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Self, TextIO

from errors import CorpusLockedError
from index.disk import refusals_named

FILE_NAME = "lock"
READERS_NAME = "readers"


class CorpusLock:
    """The writer's hold on a corpus folder, let go by `release` or at the end of a `with`.

    Args:
        folder: the corpus folder; must exist.
        url: base address of this process when it is a service.
        beside_readers: let readers in, those that are there and those that come.

    Raises:
        CorpusLockedError: another process holds it; carries that process's URL if it is a writing service.
        StorageError: the folder cannot be written.
    """

    def __init__(self, folder: Path, url: str | None = None, *, beside_readers: bool = False) -> None:
        self._readers: TextIO | None = None
        with refusals_named(folder):
            self._file = _held_file(folder / FILE_NAME)
            try:
                if not beside_readers:
                    self._readers = _readers_file(folder, fcntl.LOCK_EX)
                self._file.truncate(0)
                self._file.write(json.dumps({"pid": os.getpid(), "url": url}))
                self._file.flush()
            except (OSError, CorpusLockedError):
                if self._readers is not None:
                    self._readers.close()
                with suppress(OSError):  # it writes again what could not be written
                    self._file.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def files(self) -> tuple[int, ...]:
        """Descriptors of the locks: a child that inherits them holds the corpus as long as it lives."""
        return tuple(file.fileno() for file in (self._file, self._readers) if file is not None)

    def release(self) -> None:
        """Let others in; a second call does nothing."""
        if not self._file.closed:
            if self._readers is not None:
                self._readers.close()
            self._file.truncate(0)
            self._file.close()


class ReadersLock:
    """A reader's hold on a corpus folder, beside a writer that lets readers in, and other readers.

    Args:
        folder: the corpus folder; must exist.

    Raises:
        CorpusLockedError: a process holds the corpus alone; carries its URL if it is a service.
        StorageError: the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        with refusals_named(folder):
            self._file = _readers_file(folder, fcntl.LOCK_SH)

    def release(self) -> None:
        """Let go; a second call does nothing."""
        self._file.close()


def holder_of(folder: Path) -> str | None:
    """Say who holds the corpus in `folder`, `process 7` or `process 7 at http://...`; None if nobody does."""
    try:
        check_free(folder)
    except CorpusLockedError:
        holder = _parse((folder / FILE_NAME).read_text())
        url = f" at {holder['url']}" if holder.get("url") else ""
        return f"process {holder.get('pid', 'unknown')}{url}"
    return None


def check_free(folder: Path) -> None:
    """Refuse a corpus folder that another process holds now; one that is free, or is not there, is not an error.

    Raises:
        CorpusLockedError: another process holds it; carries that process's URL if it is a service.
    """
    try:
        # What is not held has an empty file, unless a holder died: only then is it locked, for a moment, to find out.
        if (folder / FILE_NAME).read_text():
            _locked_file(folder / FILE_NAME).close()
    except FileNotFoundError:
        return


def _held_file(path: Path) -> TextIO:
    file = _locked_file(path)
    while not _is_at(file, path):  # a rebuilt corpus took this one's place between opening and locking
        file.close()
        file = _locked_file(path)
    return file


def _readers_file(folder: Path, kind: int) -> TextIO:
    path = folder / READERS_NAME
    while True:
        file = path.open("a+")
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.close()
            raise _read_by_others(folder, kind) from error
        if _is_at(file, path):
            return file
        file.close()


def _read_by_others(folder: Path, kind: int) -> CorpusLockedError:
    if kind == fcntl.LOCK_EX:
        return CorpusLockedError(
            f"Corpus {folder.name!r} is open in a service that reads it.",
            "Stop the services with RAG_SERVE__ROLE=reader, and try again.",
        )
    holder = (folder / FILE_NAME).read_text() if (folder / FILE_NAME).exists() else ""
    return _locked(folder.name, _parse(holder))


def _locked_file(path: Path) -> TextIO:
    file = path.open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.seek(0)
        holder = _parse(file.read())
        file.close()
        raise _locked(path.parent.name, holder) from error
    return file


def _is_at(file: TextIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _parse(text: str) -> dict[str, object]:
    try:
        return dict(json.loads(text))
    except ValueError:
        return {}  # the holder is just writing it


def _locked(corpus: str, holder: dict[str, object]) -> CorpusLockedError:
    pid, url = holder.get("pid", "unknown"), holder.get("url")
    if isinstance(url, str):
        fact = f"Corpus {corpus!r} is in use by the service at {url} (process {pid})."
        return CorpusLockedError(fact, "Ask that service, or stop it and try again.", url)
    return CorpusLockedError(
        f"Corpus {corpus!r} is in use by process {pid}.", "Wait until it has finished, or stop it, and try again."
    )
