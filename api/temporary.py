"""Temporary folders that a service's processes share, protected from cleaners while one of the processes runs.

Flow: what starts the workers -> **here**. systemd-tmpfiles deletes files in `/tmp` that have been idle for days, unless
their folder is locked (tmpfiles.d(5), "Age").
"""

import fcntl
import os
import tempfile
from pathlib import Path


def shared_folder(prefix: str) -> Path:
    """Make a folder and lock it until this process and those forked from it have ended; the caller deletes it."""
    # A `TemporaryDirectory` would be deleted by the first worker that ends: it is forked with its finalizer.
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_SH)
    return folder
