"""Who works next: clients take turns, in line and between the batches of a job."""

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest

from api.jobs.ingester import result_of
from api.jobs.queue import MAX_BEGUN, MAX_QUEUED, MAX_QUEUED_OF_ALL, Job, Jobs, Result, Writes
from ingestion.schema import Progress, Summary
from tests.failing import failing
from tests.fakes.ingesting import a_progress

pytestmark = pytest.mark.fault("D13")

Tell = Callable[[Progress], None]


class Line:
    """Jobs that note what they do. Each but the first works in batches, one after the other."""

    def __init__(self, turn_s: float = 1000) -> None:
        self.jobs = Jobs(turn_s=turn_s)
        self.done: list[str] = []
        self.go = threading.Event()
        self._began = threading.Event()

    def hold(self, client: str = "long", corpus: str = "long", batches: int = 3) -> Job:
        """Submit a job that waits for `go` within its first batch, and return once it does."""

        def wait() -> None:
            self._began.set()
            assert self.go.wait(10)

        job = self.submit(client, client, corpus, batches=batches, first=wait)
        assert self._began.wait(10)
        return job

    def submit(
        self,
        name: str,
        client: str,
        corpus: str = "other",
        *parts: str,
        batches: int = 1,
        first: Callable[[], object] = lambda: None,
    ) -> Job:
        def work(tell: Tell, stop: threading.Event) -> Result:
            first()
            for number in range(batches):
                if stop.is_set():
                    break
                self.done.append(f"{name}{number}" if batches > 1 else name)
                tell(a_progress())
            return result_of(Summary("default", stopped=stop.is_set()), chunks_total=0)

        return self.jobs.submit({}, work, client, Writes(corpus, frozenset(parts) if parts else None))

    def ended(self, *jobs: Job) -> list[str]:
        """Let all go, and return what was done, in order."""
        self.go.set()
        for job in jobs:
            assert asyncio.run(job.finished(10))
            assert job.error is None
        return self.done


@pytest.fixture
def line() -> Iterator[Line]:
    line = Line()
    yield line
    line.go.set()
    line.jobs.close()


@pytest.fixture
def fast() -> Iterator[Line]:
    """Turns of no length: who gives way does so after each batch."""
    line = Line(turn_s=0)
    yield line
    line.go.set()
    line.jobs.close()


def test_a_client_s_first_job_comes_before_another_client_s_second(line: Line) -> None:
    held = line.hold(batches=1)
    others = [line.submit(name, name[0], "one") for name in ("a1", "a2", "a3", "b1", "c1", "b2")]

    assert line.ended(held, *others)[1:] == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_a_job_gives_way_between_its_batches_to_what_has_not_begun(line: Line) -> None:
    held = line.hold()
    small = line.submit("small", "other")

    assert line.ended(held, small) == ["long0", "small", "long1", "long2"]


def test_jobs_of_one_client_do_not_interrupt_each_other(line: Line) -> None:
    held = line.hold()
    second = line.submit("second", "long")

    assert line.ended(held, second) == ["long0", "long1", "long2", "second"]


@pytest.mark.parametrize(
    ("first", "second", "gives_way"),
    [
        (("c", "uploads/a"), ("c", "uploads/b"), True),
        (("c", "uploads/a"), ("c", "uploads/a", "uploads/b"), False),
        (("c", "folders"), ("c", "uploads/a"), True),
        (("c", "folders"), ("c", "folders"), False),
        (("c", "uploads/a"), ("c",), False),
        (("c",), ("d",), True),
    ],
)
def test_jobs_that_write_the_same_do_not_interrupt_each_other(
    line: Line, first: tuple[str, ...], second: tuple[str, ...], *, gives_way: bool
) -> None:
    held = line.hold("holder", "elsewhere", batches=1)
    jobs = [line.submit("long", "a", *first, batches=2), line.submit("small", "b", *second)]

    order = ["long0", "small", "long1"] if gives_way else ["long0", "long1", "small"]
    assert line.ended(held, *jobs)[1:] == order


def test_long_jobs_take_turns(fast: Line) -> None:
    held = fast.hold("a", "one")
    others = [fast.submit(name, name, name, batches=3) for name in ("b", "c")]

    assert fast.ended(held, *others) == ["a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2"]


def test_an_interrupted_job_goes_on_before_what_came_after_its_turn(line: Line) -> None:
    held = line.hold()
    late: list[Job] = []
    first = line.submit("first", "x", "x", batches=0, first=lambda: late.append(line.submit("late", "y", "y")))

    line.ended(held, first)

    assert line.ended(*late) == ["long0", "long1", "late", "long2"]


def test_only_so_many_jobs_are_begun(line: Line) -> None:
    held = line.hold("0", "0", batches=2)
    names = [str(number) for number in range(1, MAX_BEGUN + 2)]
    others = [line.submit(name, name, name, batches=2) for name in names]

    done = line.ended(held, *others)

    assert done[:MAX_BEGUN] == [f"{number}0" for number in range(MAX_BEGUN)]
    assert done[MAX_BEGUN] == f"{MAX_BEGUN - 1}1"
    assert sorted(done) == sorted(f"{name}{batch}" for name in ("0", *names) for batch in range(2))


def test_an_interrupted_job_that_is_cancelled_ends_at_the_next_batch(line: Line) -> None:
    held = line.hold()
    other = line.submit("other", "other", batches=3, first=lambda: line.jobs.cancel(held.id))

    assert line.ended(held, other) == ["long0", "other0", "other1", "other2"]
    assert held.state == "cancelled"


def test_a_client_that_fills_its_line_leaves_room_for_others(line: Line) -> None:
    held = line.hold()
    for _ in range(MAX_QUEUED):
        line.submit("many", "many")
    with failing("too_many_jobs"):
        line.submit("one more", "many")
    for number in range(MAX_QUEUED_OF_ALL - MAX_QUEUED):
        line.submit("other", f"client {number}")
    with failing("too_many_jobs"):
        line.submit("the last", "late")
    line.jobs.stop()
    line.ended(held)


def test_stopping_ends_interrupted_jobs(line: Line) -> None:
    held = line.hold()
    other = line.submit("other", "other", batches=2, first=line.jobs.stop)

    assert line.ended(held, other) == ["long0"]
    assert (held.state, other.state) == ("cancelled", "cancelled")
