"""Keep a corpus in step with a folder while the service runs: one job for each round of changes.

Flow: `serve.py` starts **this** -> `ingestion/folder_changes.py` tells what changed -> a job, in line with all others.
"""

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from api.jobs.queue import Job
from errors import RagError
from ingestion.folder_changes import follow

logger = logging.getLogger(__name__)


class FolderWatcher:
    """Watches from its construction until `close`.

    Args:
        folder: absolute, with all links resolved.
        submit: starts the job that brings in what is at these paths from the folder, None meaning everything.
    """

    def __init__(self, folder: Path, submit: Callable[[tuple[str, ...] | None], Job]) -> None:
        self._folder = folder
        self._submit = submit
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="folder watcher", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Watch no longer; blocks until the job that runs has ended, so cancel it first."""
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        try:
            follow(self._folder, self._bring, self._stop)
        except RagError as error:
            logger.error("The folder is watched no longer: %s", error)  # noqa: TRY400  # nothing is to be traced
        except Exception:
            logger.exception("The folder is watched no longer")

    def _bring(self, names: tuple[str, ...] | None) -> bool:
        """Wait for the job. What somebody cancels is not tried again."""
        try:
            job = self._submit(names)
        except RagError as error:
            logger.warning("Changes of %s wait: %s", self._folder, error)
            return False
        ended = threading.Event()
        job.at_end(ended.set)
        ended.wait()
        return job.error is None
