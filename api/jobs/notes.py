"""Note in files which jobs are under way, for the process that takes this one's place if it is killed.

Flow: `queue.py` notes a job when it is submitted and strikes it out at its end -> **here**, a folder of the service's
workers -> the next writer finds what its predecessor left. Where the folder is, `workers/group.py` says.
"""

import json
import logging
import os
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

logger = logging.getLogger(__name__)


class JobNote(NamedTuple):
    """A job that was submitted.

    Attributes:
        id: its name.
        request: what was asked for, JSON-ready.
        created_at: UTC.
    """

    id: str
    request: dict[str, Any]
    created_at: datetime


class JobNotes:
    """The notes in one folder; one process at a time writes them. A disk that refuses costs the note, not the job.

    Args:
        folder: exists.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, note: JobNote) -> None:
        """Note a job."""
        path = self._path(note.id)
        try:
            path.with_suffix(".new").write_text(json.dumps([note.request, note.created_at.isoformat()]), "utf-8")
            os.replace(path.with_suffix(".new"), path)
        except OSError as error:
            logger.warning("Job %s is not noted, and will be unknown if this process is killed: %s", note.id, error)

    def strike(self, job_id: str) -> None:
        """Forget a job; one that is not noted is not an error."""
        try:
            self._path(job_id).unlink(missing_ok=True)
        except OSError as error:
            logger.warning("Job %s stays noted as under way: %s", job_id, error)

    def left(self) -> list[JobNote]:
        """Return what is noted, the oldest first."""
        notes = []
        for path in self._folder.glob("*.json"):
            request, created_at = json.loads(path.read_text("utf-8"))
            notes.append(JobNote(path.stem, request, datetime.fromisoformat(created_at)))
        return sorted(notes, key=lambda note: note.created_at)

    def _path(self, job_id: str) -> Path:
        return self._folder / f"{job_id}.json"
