"""Keep the folder in order in which several workers share their numbers (`PROMETHEUS_MULTIPROC_DIR`).

Flow: what starts the workers -> **here**, in its own process. One alone shares nothing unless the variable is set.
"""

import atexit
import os
import shutil
from pathlib import Path

from api import temporary
from settings import foreign_variable

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"


def shared_folder() -> Path | None:
    """Return the folder, made if need be; None if no numbers are shared."""
    name = foreign_variable(SHARED_FOLDER)
    if not name:
        return None
    folder = Path(name)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def begin_sharing(workers: int = 1) -> None:
    """Delete what earlier workers left, before the first one starts; make a folder for several if none is named."""
    if workers > 1 and shared_folder() is None:
        made = temporary.shared_folder("treeline-metrics-")
        os.environ[SHARED_FOLDER] = str(made)
        atexit.register(_remove, made, os.getpid())
    if (folder := shared_folder()) is not None:
        for file in folder.glob("*.db"):
            file.unlink()


def worker_ended(pid: int) -> None:
    """Take a worker's levels, such as its slots, out of the sum; what it counted stays."""
    if (folder := shared_folder()) is not None:
        from prometheus_client.multiprocess import mark_process_dead  # noqa: PLC0415  # reads the variable when loaded

        mark_process_dead(pid, str(folder))  # type: ignore[no-untyped-call]


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # workers are forked, and inherit what is registered
        shutil.rmtree(folder, ignore_errors=True)
