"""Ingestions that run beside the requests: one at a time, the others wait in line.

Flow: `POST /ingest` submits work -> **here**, in a separate thread -> `GET /ingest/{job}` looks at it. What the work
does is `ingester.py`'s business.

Jobs live as long as the process. That loses little: what a job has committed stays, and the same request goes on from
there. Where another process takes the place of one that was killed, it knows from `notes.py` which jobs that had not
ended, and tells that they failed.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal
from uuid import uuid4

from api.jobs.notes import JobNote, JobNotes
from errors import JobInterruptedError, RagError, TooManyJobsError, UnknownJobError
from ingestion.console.pace import Pace, PaceMeter
from ingestion.schema import Progress

MAX_QUEUED = 20
MAX_FINISHED = 100

State = Literal["queued", "running", "done", "failed", "cancelled"]
Result = dict[str, Any]
"""What a job did, JSON-ready. `stopped` is true when it was ended before its end."""
Work = Callable[[Callable[[Progress], None], threading.Event], Result]
"""Does the job: tells its progress to the one, and ends soon after the other is set."""

logger = logging.getLogger(__name__)


class Job:
    """One ingestion that was asked for. Its attributes may be read from any thread.

    Attributes:
        id: names it, and cannot be guessed.
        request: what was asked for, JSON-ready.
        created_at, started_at, finished_at: UTC; None as long as it has not come to that.
        progress, pace: how far it is and how fast; None before the first file.
        stop: set to end it.
    """

    def __init__(self, request: dict[str, Any]) -> None:
        self.id = uuid4().hex
        self.request = request
        self.created_at = datetime.now(UTC)
        self.started_at: datetime | None = None
        self.finished_at: datetime | None = None
        self.progress: Progress | None = None
        self.pace: Pace | None = None
        self.stop = threading.Event()
        self._future: Future[Result] = Future()

    @classmethod
    def interrupted(cls, note: JobNote) -> "Job":
        """Return a job that had not ended when its process was killed: one that failed."""
        job = cls(note.request)
        job.id, job.created_at, job.finished_at = note.id, note.created_at, datetime.now(UTC)
        job._future.set_exception(
            JobInterruptedError(
                "The process that ran this job was ended before the job was.",
                "Send the same request again: what was committed stays, and the rest is brought in.",
            )
        )
        return job

    @property
    def state(self) -> State:
        """Where it stands; `done`, `failed` and `cancelled` are final."""
        if self.finished_at is None:
            return "running" if self.started_at else "queued"
        if self.error:
            return "failed"
        return "cancelled" if self.result is None or self.result["stopped"] else "done"

    @property
    def result(self) -> Result | None:
        """What it did; None before its end, when it failed, and when it was cancelled before it began."""
        return None if self._without_value() or self._future.exception() else self._future.result()

    @property
    def error(self) -> BaseException | None:
        """Why it failed, or None."""
        return None if self._without_value() else self._future.exception()

    async def finished(self, wait_s: float | None = None) -> bool:
        """Wait for its end, at most `wait_s`, and say whether it came. A wait that ends does not stop the job."""
        end = asyncio.wrap_future(self._future)
        # Looked at, so that asyncio does not report it as forgotten.
        end.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        await asyncio.wait({end}, timeout=wait_s)
        return end.done()

    def at_end(self, do: Callable[[], object]) -> None:
        """Have something done when it has ended in any way, or at once if it has already."""
        self._future.add_done_callback(lambda _future: do())

    def _without_value(self) -> bool:
        return self.finished_at is None or self._future.cancelled()

    def _follow(self, future: Future[Result]) -> None:
        self._future = future
        future.add_done_callback(self._note_end)

    def _note_end(self, _future: Future[Result]) -> None:
        self.finished_at = datetime.now(UTC)

    def _run(self, work: Work) -> Result:
        self.started_at = datetime.now(UTC)
        meter = PaceMeter()

        def tell(progress: Progress) -> None:
            self.pace, self.progress = meter.at(progress), progress

        try:
            return work(tell, self.stop)
        except RagError as error:
            logger.warning("Job %s failed: %s", self.id, error)
            raise
        except Exception:
            logger.exception("Job %s failed", self.id)
            raise


class Jobs:
    """The jobs of this process. Safe from many threads.

    Args:
        notes: of a process whose place another one takes if it is killed; None if none does.
    """

    def __init__(self, notes: JobNotes | None = None) -> None:
        self._notes = notes
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ingestion job")
        self._lock = threading.Lock()
        self._jobs = {note.id: Job.interrupted(note) for note in (notes.left() if notes else ())}
        self._stopping = False

    def submit(self, request: dict[str, Any], work: Work) -> Job:
        """Put work in line.

        Raises:
            TooManyJobsError: the line is full.
        """
        job = Job(request)
        with self._lock:
            queued = sum(waiting.state == "queued" for waiting in self._jobs.values())
            if queued >= MAX_QUEUED:
                raise TooManyJobsError(
                    f"{queued} ingestions are waiting already.", "Try again when some of them are finished."
                )
            self._forget_old()
            self._jobs[job.id] = job
            if self._notes:
                self._notes.add(JobNote(job.id, request, job.created_at))
            job._follow(self._pool.submit(job._run, work))
            if self._notes:
                job.at_end(partial(self._notes.strike, job.id))
        if self._stopping:
            self.cancel(job.id)
        return job

    def get(self, job_id: str) -> Job:
        """Return a job.

        Raises:
            UnknownJobError: there is none of this name, or it is long finished.
        """
        with self._lock:
            if job := self._jobs.get(job_id):
                return job
        raise UnknownJobError(
            "There is no such job.",
            f"They end with the service, and the last {MAX_FINISHED} finished ones are kept; what was committed stays.",
        )

    def recent(self) -> list[Job]:
        """Return all jobs that are known, the newest first."""
        with self._lock:
            return list(reversed(self._jobs.values()))

    def cancel(self, job_id: str) -> Job:
        """End a job: immediately if it waits, soon if it runs; a finished one does not change.

        Raises:
            UnknownJobError: see `get`.
        """
        job = self.get(job_id)
        job.stop.set()
        job._future.cancel()  # has an effect only before it began
        return job

    def stop(self) -> None:
        """Cancel all jobs, and all that are still submitted; return immediately."""
        self._stopping = True
        for job in self.recent():
            self.cancel(job.id)

    def close(self) -> None:
        """Cancel all jobs and wait until the one that runs has ended."""
        self.stop()
        self._pool.shutdown(wait=True)

    def _forget_old(self) -> None:
        finished = [job.id for job in self._jobs.values() if job.finished_at]
        for job_id in finished[: max(0, len(finished) - MAX_FINISHED + 1)]:
            del self._jobs[job_id]
            if self._notes:
                self._notes.strike(job_id)
