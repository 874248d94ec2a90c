"""A folder that the service watches: a job for each round, tried again when it failed."""

import queue
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from api.jobs.queue import Job, Jobs, Result
from api.jobs.watcher import FolderWatcher
from errors import RagError, StorageError
from ingestion import folder_changes
from ingestion.schema import Progress

WAIT_S = 30
DONE: Result = {"stopped": False}
FULL = StorageError("The disk is full.", "Make room.")


class Service:
    """Submits jobs that end as they are told to, and notes what was asked for."""

    def __init__(self, *answers: Result | Exception) -> None:
        self.jobs = Jobs()
        self.asked: queue.SimpleQueue[tuple[str, ...] | None] = queue.SimpleQueue()
        self._answers = list(answers)

    def submit(self, names: tuple[str, ...] | None) -> Job:
        answer = self._answers.pop(0) if self._answers else DONE
        self.asked.put(names)
        if isinstance(answer, RagError) and answer.code == "too_many_jobs":
            raise answer

        def work(_tell: Callable[[Progress], None], _stop: threading.Event) -> Result:
            if isinstance(answer, Exception):
                raise answer
            return answer

        return self.jobs.submit({}, work)


@pytest.fixture
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_changes, "RETRY_S", 0.05)


@pytest.mark.parametrize("outcomes", [(), ({"stopped": True},)], ids=["it ends", "somebody cancels it"])
def test_each_round_is_a_job_and_one_that_is_cancelled_is_not_tried_again(
    tmp_path: Path, outcomes: tuple[Result, ...]
) -> None:
    service = Service(*outcomes)
    with closing(service.jobs), closing(FolderWatcher(tmp_path, service.submit)):
        assert service.asked.get(timeout=WAIT_S) is None
        (tmp_path / "a.md").write_text("A.")
        assert service.asked.get(timeout=WAIT_S) == ("a.md",)


@pytest.mark.usefixtures("_soon")
@pytest.mark.parametrize("failure", [FULL, RagError("20 are waiting.", "Wait.", "too_many_jobs")])
def test_a_round_that_failed_or_found_no_place_in_line_is_tried_again(tmp_path: Path, failure: Exception) -> None:
    service = Service(failure, failure)
    with closing(service.jobs), closing(FolderWatcher(tmp_path, service.submit)):
        assert [service.asked.get(timeout=WAIT_S) for _ in range(3)] == [None, None, None]
