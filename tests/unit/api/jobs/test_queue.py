import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from api.jobs.ingester import result_of
from api.jobs.notes import JobNotes
from api.jobs.queue import MAX_FINISHED, MAX_QUEUED, Job, Jobs, Result
from api.schemas.replies.corpora import BriefJob, JobReply
from errors import StorageError
from ingestion.schema import Progress, Summary
from tests.failing import failing
from tests.fakes.ingesting import a_progress

Tell = Callable[[Progress], None]
FULL = StorageError("The disk is full.", "Free some space.")


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    jobs = Jobs()
    yield jobs
    jobs.close()


def done(_tell: Tell, stop: threading.Event) -> Result:
    return result_of(Summary("default", new=1, stopped=stop.is_set()), chunks_total=4)


class Held:
    """Work that has begun and waits until it is stopped."""

    def __init__(self) -> None:
        self.began = threading.Event()

    def __call__(self, tell: Tell, stop: threading.Event) -> Result:
        tell(a_progress())
        self.began.set()
        assert stop.wait(10)
        return done(tell, stop)


def that_fails_by(error: Exception) -> Callable[..., Result]:
    def work(_tell: Tell, _stop: threading.Event) -> Result:
        raise error

    return work


def show(job: Job) -> dict[str, Any]:
    return JobReply.build(job).to_dict()


def ended(job: Job) -> Job:
    asyncio.run(asyncio.wait_for(job.finished(), 10))
    return job


def test_a_job_goes_through_its_states(jobs: Jobs) -> None:
    held = Held()
    job = jobs.submit({"path": "wind"}, held)
    waiting = jobs.submit({}, done)
    assert held.began.wait(10)

    assert (job.state, waiting.state) == ("running", "queued")
    assert show(job)["progress"]["source"] == "wind.md"
    assert show(job)["result"] is None

    jobs.cancel(job.id)
    assert (ended(job).state, ended(waiting).state) == ("cancelled", "done")


def test_one_job_runs_at_a_time_in_the_order_of_arrival(jobs: Jobs) -> None:
    running, order = 0, []

    def work(number: int) -> Callable[..., Result]:
        def run(tell: Tell, stop: threading.Event) -> Result:
            nonlocal running
            running += 1
            assert running == 1
            order.append(number)
            running -= 1
            return done(tell, stop)

        return run

    for job in [jobs.submit({}, work(number)) for number in range(10)]:
        assert ended(job).error is None

    assert order == list(range(10))


def test_a_waiting_job_is_cancelled_at_once_and_never_begins(jobs: Jobs) -> None:
    jobs.submit({}, Held())
    waiting = jobs.submit({}, that_fails_by(AssertionError("it began")))

    assert jobs.cancel(waiting.id).state == "cancelled"
    shown = show(waiting)
    assert shown["started_at"] is None
    assert shown["finished_at"] is not None
    assert shown["result"] is None


def test_a_running_job_is_cancelled_when_its_work_has_ended(jobs: Jobs) -> None:
    held = Held()
    job = jobs.submit({}, held)
    assert held.began.wait(10)

    jobs.cancel(job.id)

    assert show(ended(job))["state"] == "cancelled"
    assert show(job)["result"]["new"] == 1


def test_cancelling_a_finished_job_changes_nothing(jobs: Jobs) -> None:
    job = ended(jobs.submit({}, done))

    assert jobs.cancel(job.id).state == "done"
    assert not show(job)["cancelling"]


def test_a_foreseen_failure_is_shown_with_its_code_and_remedy(jobs: Jobs) -> None:
    shown = show(ended(jobs.submit({}, that_fails_by(FULL))))

    assert shown["state"] == "failed"
    assert shown["error"] == {"code": "storage_full", "detail": "The disk is full. Free some space."}


def test_an_unforeseen_failure_is_logged_and_tells_clients_nothing(
    jobs: Jobs, caplog: pytest.LogCaptureFixture
) -> None:
    shown = show(ended(jobs.submit({}, that_fails_by(ZeroDivisionError("secret inside")))))

    assert shown["error"]["code"] == "internal"
    assert "secret" not in str(shown)
    assert "secret inside" in caplog.text
    assert ended(jobs.submit({}, done)).state == "done"


def test_the_line_is_bounded(jobs: Jobs) -> None:
    held = Held()
    jobs.submit({}, held)
    assert held.began.wait(10)
    for _ in range(MAX_QUEUED):
        jobs.submit({}, done)

    with failing("too_many_jobs", match="Try again"):
        jobs.submit({}, done)


def test_only_the_last_finished_jobs_are_kept(jobs: Jobs) -> None:
    first = ended(jobs.submit({}, done))
    rest = [ended(jobs.submit({}, done)) for _ in range(MAX_FINISHED)]

    assert jobs.recent() == rest[::-1]
    with failing("unknown_job", match="stays"):
        jobs.get(first.id)


def test_stopping_cancels_all_jobs_and_those_that_still_come() -> None:
    jobs, held = Jobs(), Held()
    first = jobs.submit({}, held)
    waiting = jobs.submit({}, done)
    assert held.began.wait(10)

    jobs.stop()
    late = jobs.submit({}, that_fails_by(AssertionError("it began")))
    jobs.close()

    assert [job.state for job in (first, waiting, late)] == ["cancelled"] * 3


def test_who_stops_waiting_does_not_stop_the_job(jobs: Jobs) -> None:
    held = Held()
    job = jobs.submit({}, held)

    async def leave() -> None:
        await asyncio.wait_for(job.finished(), 0.05)

    with pytest.raises(TimeoutError):
        asyncio.run(leave())
    assert held.began.wait(10)
    assert job.state == "running"


def test_a_result_names_everything_twice_and_cuts_long_lists() -> None:
    failed = [{"source": f"{n}.md", "reason": "It is damaged."} for n in range(1500)]
    summary = Summary("default", 2, 1, 4, leaves=30, duration_s=1.5, failed=failed, skipped=failed)

    result = result_of(summary, chunks_total=90)

    evaluation: dict[str, Any] = {
        "docs_total": 1507,
        "docs_ok": 7,
        "docs_failed": 1500,
        "chunks_total": 90,
        "chunks_indexed": 30,
        "duration_sec": 1.5,
        "errors": failed[:10],
    }
    assert result | evaluation == result
    assert result.keys() >= summary.to_dict().keys()
    assert (len(result["failed"]), len(result["skipped"]), result["skipped_total"]) == (1000, 1000, 1500)


def test_a_list_of_jobs_leaves_out_what_failed_one_by_one(jobs: Jobs) -> None:
    shown = BriefJob.build(ended(jobs.submit({}, done))).to_dict()

    assert shown["result"]["docs_ok"] == 1
    assert shown["result"].keys().isdisjoint({"failed", "skipped"})


def test_a_running_job_tells_its_pace_beside_its_progress(jobs: Jobs) -> None:
    held = Held()
    job = jobs.submit({}, held)
    assert held.began.wait(10)

    shown = show(job)["progress"]

    assert shown["leaves"] == a_progress().leaves
    assert shown["elapsed_s"] >= 0
    assert shown.keys() >= {"leaves_per_s", "eta_s"}


@pytest.mark.fault("C10")
def test_jobs_that_had_not_ended_when_their_process_was_killed_have_failed_for_every_later_one(tmp_path: Path) -> None:
    killed, held = Jobs(JobNotes(tmp_path)), Held()
    try:
        ended(killed.submit({"path": "ended"}, done))
        ended(killed.submit({"path": "failed"}, that_fails_by(FULL)))
        running = killed.submit({"path": "running"}, held)
        waiting = killed.submit({"path": "waiting"}, done)
        killed.cancel(killed.submit({"path": "cancelled"}, done).id)
        assert held.began.wait(10)

        for _ in range(2):  # the next one may be killed too
            next_one = Jobs(JobNotes(tmp_path))

            assert [job.request["path"] for job in next_one.recent()] == ["waiting", "running"]
            for job in (running, waiting):
                told = show(next_one.get(job.id))
                assert (told["state"], told["error"]["code"]) == ("failed", "job_interrupted")
                assert (told["request"], told["created_at"]) == (job.request, show(job)["created_at"])
                assert next_one.cancel(job.id).state == "failed"
            next_one.close()
    finally:
        killed.close()

    assert Jobs(JobNotes(tmp_path)).recent() == []


@pytest.mark.fault("C10")
def test_a_disk_that_refuses_a_note_costs_no_job(tmp_path: Path) -> None:
    jobs = Jobs(JobNotes(tmp_path / "missing"))

    assert ended(jobs.submit({}, done)).state == "done"
    jobs.close()
