"""How many files this process may still open.

Flow: `main.py` raises the limit at its start -> the engines ask **here** whether there is room for another corpus.
Sockets count as files: without a reserve, a service that has opened many corpora could take no connection.
"""

import os
import resource

# Those of an open corpus: 15 when it is idle, more while several questions read it.
CORPUS_FILES = 24
# For connections, and for what is read meanwhile.
RESERVED_FILES = 64
# More is of no use, and some programs look at each file that they might have open.
ENOUGH_FILES = 65_536


def raise_limit() -> None:
    """Raise the process's limit of open files as far as the system lets it, up to 65,536."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = ENOUGH_FILES if hard == resource.RLIM_INFINITY else min(hard, ENOUGH_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def has_room_for(corpora: int) -> bool:
    """Say whether so many more corpora can be opened, and the reserve remains."""
    return _free() >= RESERVED_FILES + corpora * CORPUS_FILES


def exhausted() -> bool:
    """Say whether there is room for less than one corpus: then that is why one could not be opened."""
    return _free() < CORPUS_FILES


def _free() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return ENOUGH_FILES
    try:
        return soft - len(os.listdir("/proc/self/fd"))
    except OSError:
        return 0  # not even this folder could be opened
