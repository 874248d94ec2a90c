"""What this process does in its service: whether it writes, and who does so otherwise.

Flow: `main.py` finds it out at the start, alone or from its `group.py` -> **here** -> `api/serve.py` opens corpora and
tasks accordingly, and `writer_proxy.py` sends on what this process does not do.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from index.layout.access import Access, Reading, Writing
from settings import ServeSettings, Settings

# So that one question that hangs does not stop a worker.
LEAST_SLOTS = 2


@dataclass(frozen=True, slots=True)
class WorkerRole:
    """The role of one process.

    Attributes:
        access: how it has corpora open.
        writer_url: of the process that writes, where this one does not; None if it is not known.
        workers: processes of the service on this machine.
        cache_mark: a file that is touched when answers shall be forgotten by all of them; None if it is alone.
        job_notes: a folder for the writer's notes of its jobs; None if no other process takes its place.
    """

    access: Access
    writer_url: str | None = None
    workers: int = 1
    cache_mark: Path | None = None
    job_notes: Path | None = None

    @property
    def writes(self) -> bool:
        """Whether ingestions, deletions, jobs and tasks run here."""
        return not self.access.read_only

    def settings(self, settings: Settings) -> Settings:
        """Return the settings with this process's share of the processor where they leave it open."""
        if self.workers == 1:
            return settings
        slots, threads = slots_of(settings.serve, self.workers), settings.embed.threads or _cores(self.workers)
        return settings.model_copy(
            update={
                "serve": settings.serve.model_copy(update={"slots": slots}),
                "embed": settings.embed.model_copy(update={"threads": threads}),
            }
        )


def slots_of(serve: ServeSettings, workers: int = 1) -> int:
    """Return how many questions one of several workers answers in parallel."""
    return serve.slots or max(LEAST_SLOTS, _cores(workers))


def single(serve: ServeSettings, url: str) -> WorkerRole:
    """Return the role of the only process of a service.

    Args:
        serve: says whether it may write.
        url: where the service is reached from this machine.
    """
    if serve.role == "reader":
        return WorkerRole(Reading(), serve.writer_url)
    return WorkerRole(Writing(url))


def _cores(workers: int) -> int:
    """Return one worker's share of the cores, at least 1."""
    return max(1, (os.cpu_count() or 1) // workers)
