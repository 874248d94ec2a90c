"""Notice what changes in a folder, and have it brought in round by round.

Flow: the operating system's notices -> **here**: gathered until the folder is quiet for a moment -> `bring`, which runs
an ordinary ingestion of what changed: `console/follow.py` in a command, `api/jobs/watcher.py` in the service.

A round knows nothing of the one before it, so nothing is lost when the process is killed: the next start compares the
whole folder.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from errors import SettingsError, UnreadableError
from ingestion.reading.files import list_files
from ingestion.reading.format_table import format_of

# A round begins when nothing has happened for so long, or after this time of changes without such a pause.
QUIET_MS, LONGEST_MS = 300, 3000
# So often it is looked whether the watch shall end or a failed round is due.
LOOK_MS = 500
RETRY_S = 30.0
MAX_CHANGES = 1000
"""Paths in one round, at most."""

Bring = Callable[[tuple[str, ...] | None], bool]
"""Brings in what is at these paths from the folder, None meaning everything; False to be asked again later."""


Rounds = Callable[[Path, Bring, threading.Event], None]
"""Calls the second for the first until the third is set."""


def watchable(path: Path) -> Path:
    """Return a folder with all links resolved.

    Raises:
        UnreadableError: it does not exist or cannot be looked into.
        SettingsError: it is a file.
    """
    list_files(path)
    if not path.is_dir():
        raise SettingsError(f"{path} is one file; only folders are watched.", "Watch the folder that it is in.")
    return path.resolve()


def follow(folder: Path, bring: Bring, stop: threading.Event) -> None:
    """Call `bring` with None at once, then with what changed, until `stop` is set.

    What changes during a round belongs to the next one. If the folder itself vanishes, nothing counts as removed; once
    it is back, everything is brought in again.

    Args:
        folder: absolute, with all links resolved.
        bring: called in this thread.
        stop: ends this within half a second; a round that is under way must look at it itself.

    Raises:
        UnreadableError: the system does not let us watch the folder.
    """
    while not stop.is_set():
        if folder.is_dir():
            _follow(folder, bring, stop)
        else:
            bring(None)  # says what is wrong
            stop.wait(RETRY_S)


def again_every(pause_s: float) -> Rounds:
    """Return what calls `bring` with None, waits, and does so again until `stop` is set; sooner after a failure."""

    def rounds(_folder: Path, bring: Bring, stop: threading.Event) -> None:
        while not stop.is_set():
            stop.wait(pause_s if bring(None) else min(pause_s, RETRY_S))

    return rounds


def _follow(folder: Path, bring: Bring, stop: threading.Event) -> None:
    """Do so until `stop`, or until this folder is gone or is another one: the system watches it no longer then."""
    watched = folder.stat().st_ino
    everything, waiting = True, set[str]()
    due_s = 0.0
    for news in _news(folder, stop):
        waiting |= news
        if not folder.is_dir() or folder.stat().st_ino != watched:
            return
        if not news and time.monotonic() < due_s:
            continue
        while everything or waiting:
            names = None if everything else tuple(sorted(waiting)[:MAX_CHANGES])
            if stop.is_set() or not bring(names):
                due_s = time.monotonic() + RETRY_S
                break
            everything = everything and names is not None
            waiting -= set(names or ())


def _news(folder: Path, stop: threading.Event) -> Iterator[set[str]]:
    """Yield paths from the folder that appeared, changed or vanished; nothing from time to time, first of all."""
    from watchfiles import watch  # noqa: PLC0415  # only those who watch need it

    try:
        for changes in watch(
            folder,
            watch_filter=None,
            debounce=LONGEST_MS,
            step=QUIET_MS,
            stop_event=stop,
            rust_timeout=LOOK_MS,
            yield_on_timeout=True,
            ignore_permission_denied=True,
        ):
            yield set(_names(folder, ((change.raw_str(), path) for change, path in changes)))
    except (OSError, RuntimeError) as error:
        raise UnreadableError(
            f"{folder} cannot be watched: {error}.",
            "Raise `fs.inotify.max_user_watches`, or set WATCHFILES_FORCE_POLLING=true.",
        ) from error


def _names(folder: Path, changes: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the paths that matter: none that is hidden, and no file of a type that is not read which only grows."""
    for change, found in changes:
        path = Path(found)
        if path == folder or not path.is_relative_to(folder):
            continue
        name = path.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if change != "modified" or format_of(name, images=True) or path.is_dir():
            yield name
