"""Replace a corpus by its rebuilt version, so that a crash leaves one of the two.

Flow: `ingestion/build.py` builds a whole corpus at `rebuilt(target)` -> `swap_in` -> the corpus's own folder. Two
renames cannot be one: what a crash between them leaves, `finish_swap` repairs at the next opening.
"""

from pathlib import Path

from index.layout.locations import LOCAL, Servers
from index.layout.lock import CorpusLock


def rebuilt(target: Path) -> Path:
    """Return where the replacement of `target` is built."""
    return target.with_name(f".{target.name}.rebuild")


def reembedded(target: Path) -> Path:
    """Return where the documents of `target` are embedded again."""
    return target.with_name(f".{target.name}.reembed")


def swap_in(target: Path, servers: Servers = LOCAL) -> None:
    """Put the corpus at `rebuilt(target)` in the place of `target`; both must be closed, and `target` locked.

    The old one is deleted last, with what it has on `servers`.

    Raises:
        StoreUnavailableError: a server does not answer; the next swap deletes the old one.
    """
    retired = _retired(target)
    servers.discard(retired)
    if target.exists():
        target.rename(retired)
    rebuilt(target).rename(target)
    servers.discard(retired)


def finish_swap(target: Path) -> None:
    """Put the new corpus in its place if a crash put the old one aside and came no further.

    Raises:
        CorpusLockedError: the process that swaps is alive.
    """
    retired = _retired(target)
    if target.exists() or not retired.exists():
        return
    with CorpusLock(retired):
        if rebuilt(target).exists():
            rebuilt(target).rename(target)
        else:
            retired.rename(target)


def _retired(target: Path) -> Path:
    return target.with_name(f".{target.name}.retired")
