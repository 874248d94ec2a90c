"""One process at a time holds a corpus: an advisory lock that dies with its holder.

Flow: taken first when a corpus is opened, freed last. Embedded Chroma loses vectors when two processes open it, so
readers take the lock as well. The file says who holds it, and where to reach it when that is a service.
"""

import fcntl
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from errors import CorpusLockedError
from index.disk import refusals_named

FILE_NAME = "lock"


class CorpusLock:
    """Exclusive hold on a corpus folder.

    Args:
        folder: the corpus folder; must exist.
        url: base address of this process when it is a service.

    Raises:
        CorpusLockedError: another process holds it; carries that process's URL if it is a service.
        StorageError: the folder cannot be written.
    """

    def __init__(self, folder: Path, url: str | None = None) -> None:
        path = folder / FILE_NAME
        with refusals_named(folder):
            self._file = _locked_file(path)
            while not _is_at(self._file, path):  # a rebuilt corpus took this one's place between opening and locking
                self._file.close()
                self._file = _locked_file(path)
            try:
                self._file.truncate(0)
                self._file.write(json.dumps({"pid": os.getpid(), "url": url}))
                self._file.flush()
            except OSError:
                with suppress(OSError):  # it writes again what could not be written
                    self._file.close()
                raise

    def release(self) -> None:
        """Let others in; a second call does nothing."""
        if not self._file.closed:
            self._file.truncate(0)
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
    """Refuse a corpus folder that another process holds now; one that is free, or is not there, is no error.

    Raises:
        CorpusLockedError: another process holds it; carries that process's URL if it is a service.
    """
    try:
        # What is not held has an empty file, unless a holder died: only then is it locked, for a moment, to find out.
        if (folder / FILE_NAME).read_text():
            _locked_file(folder / FILE_NAME).close()
    except FileNotFoundError:
        return


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
