import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from errors import PipelineError, TasksUnavailableError
from pipelines.build import Pipelines
from pipelines.tasks import view
from pipelines.tasks.queue import TaskQueue
from tests.failing import failing
from tests.fakes.pipelines import TEXTS, FakeSource, Start, body_of, fake_services, scripted

WAIT_S = 30


class Gate:
    """Lets a step's rows through when it is opened; says when the first one has come."""

    def __init__(self) -> None:
        self.reached, self.open = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self.reached.set()
        assert self.open.wait(WAIT_S)


class CountingSource(FakeSource):
    id = "counting_source"
    runs = 0

    def transform(self, state: Any, handler: Any) -> Any:
        type(self).runs += 1
        return super().transform(state, handler)


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open.set()


def ended(tasks: TaskQueue, task_id: str) -> dict[str, Any]:
    tasks.end_of(task_id).result(WAIT_S)
    return shown(tasks, task_id)


def shown(tasks: TaskQueue, task_id: str) -> dict[str, Any]:
    task, live = tasks.get(task_id)
    state = tasks.state_of(task_id) if task.state == "finished" else None
    return view.progress(task, live, tasks.store.facts(task_id), state, registry=tasks._registry, most_bytes=1_000_000)


def test_a_task_runs_to_its_end(pipelines: Pipelines) -> None:
    tasks = pipelines.tasks

    reply = ended(tasks, tasks.submit(body_of("fake_source", "word_counter")))

    assert reply["has_finished"] is True
    assert reply["progress"]["pipeline_progress"] == "2/2"
    assert reply["progress"]["pipeline_percentage"] == 1.0
    assert '"wordCount": 3' in reply["result"]["data"]
    assert reply["result"]["result_description"].startswith("Retrieved 3 documents in 0.")
    assert reply["result"]["result_description"].endswith("seconds. 0% cache hits.")


@pytest.mark.promise("D08")
def test_the_share_of_known_rows_is_told(start: Start) -> None:
    pipelines = start(scripted())
    tasks, body = pipelines.tasks, body_of("fake_source", "scripted")
    ended(tasks, tasks.submit(body))

    reply = ended(tasks, tasks.submit(body))

    assert reply["result"]["result_description"].endswith("100% cache hits.")


def test_the_cache_can_be_turned_off(start: Start) -> None:
    step = scripted()
    pipelines = start(step, services=fake_services(pipelines={"cache_mb": 0}))
    for _ in range(2):
        ended(pipelines.tasks, pipelines.tasks.submit(body_of("fake_source", "scripted")))

    assert step.rows == 2 * len(TEXTS)


def test_a_running_task_tells_how_far_it_is(gate: Gate, start: Start) -> None:
    pipelines = start(scripted(gate))
    tasks = pipelines.tasks
    task_id = tasks.submit(body_of("fake_source", "scripted", "word_counter"))
    assert gate.reached.wait(WAIT_S)

    reply = shown(tasks, task_id)

    assert reply["has_finished"] is False
    assert reply["result"] is None
    progress = reply["progress"]
    assert (progress["current_step"], progress["current_step_index"]) == ("Scripted", "2")
    assert (progress["pipeline_progress"], progress["pipeline_percentage"]) == ("1/3", 1 / 3)
    assert progress["step_progress"]["scripted"] == ["0/3"]
    assert progress["log"][-1] == "Processing step 2 (scripted)"
    gate.open.set()
    assert ended(tasks, task_id)["has_finished"]


def test_a_task_that_fails_names_class_and_step_and_finds_nothing(start: Start) -> None:
    def broken() -> None:
        raise ZeroDivisionError("by nought")

    pipelines = start(scripted(broken))

    reply = ended(pipelines.tasks, pipelines.tasks.submit(body_of("fake_source", "scripted", "word_counter")))

    assert reply["progress"]["pipeline_error"] == "ZeroDivisionError in step 2 (scripted): by nought"
    assert reply["progress"]["pipeline_error_index"] == "2"
    assert reply["progress"]["current_step_index"] == "2"
    assert reply["result"]["data"] == "[]"
    assert reply["result"]["result_description"].startswith("Retrieved 0 documents")


@pytest.mark.promise("D27")
def test_cancelling_takes_effect_at_once_and_for_all_further_steps(gate: Gate, start: Start) -> None:
    step = scripted(gate)
    pipelines = start(step)
    tasks = pipelines.tasks
    running, waiting = (tasks.submit(body_of("fake_source", "scripted", "word_counter")) for _ in range(2))
    assert gate.reached.wait(WAIT_S)

    for task_id in (running, waiting):
        tasks.cancel(task_id)
        reply = ended(tasks, task_id)
        assert reply["has_finished"] is True
        assert reply["progress"]["pipeline_error"].startswith("TaskCancelledError")
    gate.open.set()
    after = ended(tasks, tasks.submit(body_of("fake_source")))

    assert after["progress"]["pipeline_error"] == ""
    assert tasks.get(running)[0].state == tasks.get(waiting)[0].state == "cancelled"
    assert [one["name"] for one in tasks.store.facts(running)] == ["fake_source"]
    assert step.rows == 1


def test_an_ended_task_stays_as_it_is_when_it_is_cancelled(pipelines: Pipelines) -> None:
    task_id = pipelines.tasks.submit(body_of("fake_source"))
    ended(pipelines.tasks, task_id)

    pipelines.tasks.cancel(task_id)

    assert pipelines.tasks.get(task_id)[0].state == "finished"


def test_what_cannot_run_is_not_taken(pipelines: Pipelines) -> None:
    with pytest.raises(PipelineError):
        pipelines.tasks.submit(body_of("no_such_step"))


def test_a_full_line_takes_no_further_task(gate: Gate, monkeypatch: pytest.MonkeyPatch, start: Start) -> None:
    monkeypatch.setattr("pipelines.tasks.queue.MAX_WAITING", 1)
    pipelines = start(scripted(gate))
    body = body_of("fake_source", "scripted")
    pipelines.tasks.submit(body)
    assert gate.reached.wait(WAIT_S)
    pipelines.tasks.submit(body)

    with failing("too_many_tasks"):
        pipelines.tasks.submit(body)
    gate.open.set()


@pytest.mark.promise("D25")
def test_a_task_that_was_cut_off_goes_on_from_its_last_finished_step(tmp_path: Path, gate: Gate, start: Start) -> None:
    CountingSource.runs = 0
    pipelines = start(CountingSource, scripted(gate), folder=tmp_path)
    tasks = pipelines.tasks
    task_id = tasks.submit(body_of("counting_source", "scripted"))
    assert gate.reached.wait(WAIT_S)
    pipelines.stop()
    gate.open.set()
    pipelines.close()

    again = start(CountingSource, scripted(), folder=tmp_path)
    again.resume()
    reply = ended(again.tasks, task_id)

    assert CountingSource.runs == 1
    assert reply["progress"]["pipeline_error"] == ""
    assert "Going on after step 1" in reply["progress"]["log"]


def test_every_task_ends_in_exactly_one_state_over_two_stops(tmp_path: Path, start: Start) -> None:
    """The service is stopped twice in the midst of 40 tasks, 5 of which are cancelled."""
    ids: list[str] = []
    for turn in range(3):
        gate = Gate()
        pipelines = start(scripted(gate), folder=tmp_path)
        tasks = pipelines.tasks
        if turn == 0:
            ids = [tasks.submit(body_of("fake_source", "scripted", "word_counter")) for _ in range(40)]
            for task_id in ids[3:8]:
                tasks.cancel(task_id)
        assert gate.reached.wait(WAIT_S)
        if turn < 2:
            pipelines.stop()
            gate.open.set()
            pipelines.close()
    gate.open.set()
    states = []
    for task_id in ids:
        tasks.end_of(task_id).result(WAIT_S)
        states.append(tasks.get(task_id)[0].state)

    assert Counter(states) == {"finished": 35, "cancelled": 5}
    assert all(
        task.log.count("Finished the task.") == 1 for task in map(tasks.store.get, ids) if task.state == "finished"
    )


def test_one_process_holds_the_tasks(tmp_path: Path, start: Start) -> None:
    first, second = start(folder=tmp_path), start(folder=tmp_path)
    task_id = first.tasks.submit(body_of("fake_source"))
    ended(first.tasks, task_id)

    with pytest.raises(TasksUnavailableError, match="Another service holds the tasks"):
        _ = second.tasks
    second.resume()
    first.close()

    assert second.tasks.get(task_id)[0].state == "finished"


def test_nothing_is_opened_where_there_were_no_tasks(tmp_path: Path, start: Start) -> None:
    pipelines = start(folder=tmp_path / "pipelines")

    pipelines.resume()
    pipelines.close()

    assert not (tmp_path / "pipelines").exists()


@pytest.mark.promise("D28")
def test_ended_tasks_expire(tmp_path: Path, start: Start) -> None:
    services = fake_services(pipelines={"ttl_s": 1e-9})
    pipelines = start(folder=tmp_path, services=services)
    tasks = pipelines.tasks
    task_id = tasks.submit(body_of("fake_source"))
    tasks.end_of(task_id).result(WAIT_S)

    tasks.submit(body_of("fake_source"))

    with failing("unknown_task"):
        tasks.get(task_id)
    assert tasks.store.facts(task_id) == []


def test_a_closed_service_takes_no_task(start: Start) -> None:
    pipelines: Pipelines = start()
    pipelines.close()

    with pytest.raises(TasksUnavailableError, match="being stopped"):
        _ = pipelines.tasks


def test_who_waits_for_a_task_is_told_when_the_service_stops(gate: Gate, start: Start) -> None:
    pipelines = start(scripted(gate))
    tasks = pipelines.tasks
    task_id = tasks.submit(body_of("fake_source", "scripted"))
    waiting = tasks.end_of(task_id)
    assert gate.reached.wait(WAIT_S)

    pipelines.stop()

    assert waiting.done()
    assert shown(tasks, task_id)["has_finished"] is False
    gate.open.set()
