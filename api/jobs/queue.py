"""Ingestions that run beside the requests: one works at a time, and clients take turns.

Flow: `POST /ingest` submits work -> **here**, in a thread of its own -> `GET /ingest/{job}` looks at it. What the work
does is `ingester.py`'s business.

A job that tells its progress has committed what it did so far, and gives way there: at once to a job of another client
that has not begun, after `TURN_S` to one that was interrupted. What both would write waits for the end, see `Writes`.

Jobs live as long as the process. That loses little: what a job has committed stays, and the same request goes on from
there. Where another process takes the place of one that was killed, it knows from `notes.py` which jobs that had not
ended, and tells that they failed.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal
from uuid import uuid4

from api.jobs.notes import JobNote, JobNotes
from errors import RagError
from ingestion.console.pace import Pace, PaceMeter
from ingestion.schema import Progress

MAX_QUEUED = 20
"""Of one client."""
MAX_QUEUED_OF_ALL = 60
MAX_BEGUN = 4
"""Each has child processes for reading and cutting, and some batches in memory."""
MAX_FINISHED = 100
TURN_S = 5.0

State = Literal["queued", "running", "done", "failed", "cancelled"]
Result = dict[str, Any]
"""What a job did, JSON-ready. `stopped` is true when it was ended before its end."""
Work = Callable[[Callable[[Progress], None], threading.Event], Result]
"""Does the job: tells its progress to the one, and ends soon after the other is set."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Writes:
    """What a job changes.

    Attributes:
        corpus: its name.
        parts: of the corpus, by names that jobs agree on; None: all of it.
    """

    corpus: str
    parts: frozenset[str] | None = None

    def meets(self, other: "Writes") -> bool:
        """Say whether two jobs change the same, so that one has to end before the other begins."""
        if self.corpus != other.corpus:
            return False
        return self.parts is None or other.parts is None or not self.parts.isdisjoint(other.parts)


class Job:
    """One ingestion that was asked for. Its attributes may be read from any thread.

    Attributes:
        id: names it, and cannot be guessed.
        request: what was asked for, JSON-ready.
        client: who asks.
        writes: what it changes.
        created_at, started_at, finished_at: UTC; None as long as it has not come to that.
        progress, pace: how far it is and how fast; None before the first file.
        stop: set to end it.
    """

    def __init__(self, request: dict[str, Any], client: str, writes: Writes) -> None:
        self.id = uuid4().hex
        self.request = request
        self.client = client
        self.writes = writes
        self.created_at = datetime.now(UTC)
        self.started_at: datetime | None = None
        self.finished_at: datetime | None = None
        self.progress: Progress | None = None
        self.pace: Pace | None = None
        self.stop = threading.Event()
        self._future: Future[Result] = Future()
        self._future.add_done_callback(self._note_end)
        self._since = 0  # how many turns there had been when it came

    @classmethod
    def interrupted(cls, note: JobNote) -> "Job":
        """Return a job that had not ended when its process was killed: one that failed."""
        job = cls(note.request, "", Writes(""))
        job.id, job.created_at, job.finished_at = note.id, note.created_at, datetime.now(UTC)
        job._future.set_exception(
            RagError(
                "The process that ran this job was ended before the job was.",
                "Send the same request again: what was committed stays, and the rest is brought in.",
                "job_interrupted",
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
    def elapsed_s(self) -> float:
        """Seconds that it has worked, or did; 0 while it waits."""
        return ((self.finished_at or datetime.now(UTC)) - self.started_at).total_seconds() if self.started_at else 0.0

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

    def _note_end(self, _future: Future[Result]) -> None:
        self.finished_at = datetime.now(UTC)

    def _run(self, work: Work, give_way: Callable[[], None]) -> None:
        meter = PaceMeter()

        def tell(progress: Progress) -> None:
            self.pace, self.progress = meter.at(progress), progress
            give_way()

        try:
            self._future.set_result(work(tell, self.stop))
        except RagError as error:
            logger.warning("Job %s failed: %s", self.id, error)
            self._future.set_exception(error)
        except BaseException as error:
            logger.exception("Job %s failed", self.id)
            self._future.set_exception(error)


class Jobs:
    """The jobs of this process. Safe from many threads.

    Args:
        notes: of a process whose place another one takes if it is killed; None if none does.
        turn_s: how long a job may work before one that was interrupted goes on.
    """

    def __init__(self, notes: JobNotes | None = None, turn_s: float = TURN_S) -> None:
        self._notes = notes
        self._turn_s = turn_s
        self._changed = threading.Condition()
        self._jobs = {note.id: Job.interrupted(note) for note in (notes.left() if notes else ())}
        self._works: dict[Job, Work] = {}  # of those that have not begun
        self._begun: dict[Job, threading.Thread] = {}
        self._working: Job | None = None
        self._turn_began_s = 0.0
        self._turns = 0
        self._last_turn: dict[str, int] = {}  # by client, as long as the client has a job here
        self._stopping = False

    def submit(self, request: dict[str, Any], work: Work, client: str = "", writes: Writes | None = None) -> Job:
        """Put work in line.

        Args:
            request: what was asked for, JSON-ready.
            work: does it.
            client: who asks; the next job is that of the client that had its last turn the longest ago.
            writes: what it changes; None: all that any other job changes that says nothing.

        Raises:
            RagError: the line is full.
        """
        job = Job(request, client, writes or Writes(""))
        with self._changed:
            waiting = [one.client for one in self._works if one.state == "queued"]
            if waiting.count(client) >= MAX_QUEUED or len(waiting) >= MAX_QUEUED_OF_ALL:
                raise RagError(
                    f"{len(waiting)} ingestions are waiting already.",
                    "Try again when some of them are finished.",
                    "too_many_jobs",
                )
            self._forget_old()
            self._jobs[job.id] = job
            if self._notes:
                self._notes.add(JobNote(job.id, request, job.created_at))
                job.at_end(partial(self._notes.strike, job.id))
            self._works[job] = work
            job._since = self._turns
            self._go_on()
        if self._stopping:
            self.cancel(job.id)
        return job

    def get(self, job_id: str) -> Job:
        """Return a job.

        Raises:
            RagError: there is none of this name, or it is long finished.
        """
        with self._changed:
            if job := self._jobs.get(job_id):
                return job
        raise unknown_job()

    def recent(self) -> list[Job]:
        """Return all jobs that are known, the newest first."""
        with self._changed:
            return list(reversed(self._jobs.values()))

    def cancel(self, job_id: str) -> Job:
        """End a job: immediately if it waits, soon if it runs; a finished one does not change.

        Raises:
            RagError: see `get`.
        """
        job = self.get(job_id)
        job.stop.set()
        job._future.cancel()  # has an effect only before it began
        with self._changed:
            if job.state == "cancelled":
                self._works.pop(job, None)
        return job

    def stop(self) -> None:
        """Cancel all jobs, and all that are still submitted; return immediately."""
        self._stopping = True
        for job in self.recent():
            self.cancel(job.id)

    def close(self) -> None:
        """Cancel all jobs and wait until the one that runs has ended."""
        self.stop()
        with self._changed:
            self._changed.wait_for(lambda: not self._begun)

    def _go_on(self) -> None:
        """Give the turn to the next job if none has it. For those who hold the lock, as all below."""
        while self._working is None and (job := self._next()) is not None:
            self._begin(job)

    def _next(self, among: Callable[[Job], bool] = lambda _job: True) -> Job | None:
        """Return the job whose client had its last turn the longest ago."""
        able = [job for job in (*self._begun, *filter(self._may_begin, self._works)) if among(job)]
        return min(able, key=lambda job: max(job._since, self._last_turn.get(job.client, 0)), default=None)

    def _may_begin(self, job: Job) -> bool:
        meets = any(job.writes.meets(one.writes) for one in self._begun)
        return len(self._begun) < MAX_BEGUN and not meets and not self._stopping

    def _begin(self, job: Job) -> None:
        """Give a job the turn; one that was cancelled just now only leaves the line."""
        work = self._works.pop(job, None)
        if work is not None and not job._future.set_running_or_notify_cancel():
            return
        self._working, self._turn_began_s = job, time.monotonic()
        if work is not None:
            job.started_at = datetime.now(UTC)
            self._begun[job] = threading.Thread(target=self._work, args=(job, work), name="ingestion job")
            self._begun[job].start()
        self._changed.notify_all()

    def _end_turn(self, job: Job) -> None:
        self._working = None
        self._turns += 1
        self._last_turn[job.client] = self._turns
        clients = {one.client for one in (*self._begun, *self._works)}
        self._last_turn = {client: turn for client, turn in self._last_turn.items() if client in clients}

    def _work(self, job: Job, work: Work) -> None:
        job._run(work, lambda: self._give_way(job))
        with self._changed:
            del self._begun[job]
            self._end_turn(job)
            self._go_on()
            self._changed.notify_all()

    def _give_way(self, job: Job) -> None:
        """Let others work between two batches of this job, and return when it is its turn again."""
        with self._changed:
            is_over = time.monotonic() - self._turn_began_s >= self._turn_s

            def may_have_it(one: Job) -> bool:
                return one.client != job.client and (is_over or one in self._works or one.stop.is_set())

            other = self._next(may_have_it)
            if other is None:
                return
            self._end_turn(job)
            self._begin(other)
            self._go_on()
            self._changed.wait_for(lambda: self._working is job)

    def _forget_old(self) -> None:
        finished = [job.id for job in self._jobs.values() if job.finished_at]
        for job_id in finished[: max(0, len(finished) - MAX_FINISHED + 1)]:
            del self._jobs[job_id]
            if self._notes:
                self._notes.strike(job_id)


def unknown_job() -> RagError:
    """Return the refusal of an id that no job has."""
    return RagError(
        "There is no such job.",
        f"They end with the service, and the last {MAX_FINISHED} finished ones are kept; what was committed stays.",
        "unknown_job",
    )
