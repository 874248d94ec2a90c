"""What is kept of a task's tables, how much room it takes, and what is read of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.build import Pipelines
from pipelines.step import RowStep
from pipelines.tasks import view
from pipelines.tasks.store import TaskStore
from tests.failing import failing
from tests.fakes.pipelines import TEXTS, Start, body_of, fake_services

WAIT_S = 30
RANKED = body_of("fake_source", "word_counter", ("tf_idf_reranker", {"query": "rain on hills, salt"}))


class Long(RowStep):
    """A megabyte of text that does not compress, for each row."""

    id, name, category = "long", "Long", "Pre-Processing"
    description = "For tests."
    cached = False

    def transform_row(self, text: Any, state: Any, handler: Any) -> str:  # noqa: ARG002
        import random  # noqa: PLC0415

        return random.Random(text).randbytes(500_000).hex()


def ended(pipelines: Pipelines, body: dict[str, Any]) -> str:
    task_id = pipelines.tasks.submit(body)
    pipelines.tasks.end_of(task_id).result(WAIT_S)
    return task_id


def shown(pipelines: Pipelines, task_id: str, most_bytes: int = 1_000_000) -> dict[str, Any]:
    tasks = pipelines.tasks
    task, live = tasks.get(task_id)
    state = tasks.state_of(task_id) if task.state == "finished" else None
    facts = tasks.store.facts(task_id)
    return view.progress(task, live, facts, state, registry=pipelines.registry, most_bytes=most_bytes)


def overwrite(pipelines: Pipelines, statement: str, *values: Any) -> None:
    with pipelines.tasks.store.changing() as database:
        database.execute(statement, values)


def test_each_table_is_read_back_as_it_was_whole_or_in_part(pipelines: Pipelines) -> None:
    task_id = ended(pipelines, RANKED)
    tasks = pipelines.tasks

    first, second, third = (tasks.state_of(task_id, step) for step in (1, 2, 3))

    assert first.columns == ["id", "full-text", "_original_ranking_"]
    assert second.columns == [*first.columns, "wordCount"]
    assert (first.values("id"), third.values("id")) == (["a", "b", "c"], ["c", "b", "a"])
    assert third.values("full-text") == list(TEXTS[::-1])
    assert third.roles["_reranking_rank_1_"] == ["rank"]
    part = tasks.state_of(task_id, 2, ["wordCount", "id", "none"])
    assert part.rows() == second.rows(["id", "wordCount"])
    with failing("unknown_task", match="step 4"):
        tasks.state_of(task_id, 4)


def test_a_column_that_no_step_changes_is_kept_once(tmp_path: Path, start: Start) -> None:
    pipelines = start(Long, folder=tmp_path)

    task_id = ended(
        pipelines, body_of("fake_source", "long", *[("word_counter", {"output_column": n}) for n in "abcd"])
    )

    assert 3_000_000 / 2 < pipelines.tasks.store.size(task_id) < 3_100_000
    assert len(pipelines.tasks.state_of(task_id, 6).texts("result")[0]) == 1_000_000


def test_a_task_that_fills_its_room_ends_at_that_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: Start
) -> None:
    monkeypatch.setattr("pipelines.running.MAX_TABLE_BYTES", 4_000_000)
    pipelines = start(Long, folder=tmp_path)
    again = {"id": "tf_idf_reranker", "parameters": {"query": "rain on hills, salt"}}

    for steps, told in (
        (["long", again, ("tf_idf_reranker", {"query": "wind"})], "step 4 (tf_idf_reranker): The tables of this task"),
        (["long", ("long", {"output_column": "two"})], "step 3 (long): The table takes 6,000,"),
    ):
        progress = shown(pipelines, ended(pipelines, body_of("fake_source", *steps)))["progress"]
        assert told in progress["pipeline_error"]
        assert progress["pipeline_error_index"] == told[5]


def test_what_ended_first_goes_when_all_tables_take_too_much(tmp_path: Path, start: Start) -> None:
    pipelines = start(Long, folder=tmp_path, services=fake_services(pipelines={"disk_mb": 4}))

    first, second, third = (ended(pipelines, body_of("fake_source", "long")) for _ in range(3))

    with failing("unknown_task", match="RAG_PIPELINES__DISK_MB"):
        pipelines.tasks.get(first)
    assert [pipelines.tasks.state_of(task_id).count for task_id in (second, third)] == [3, 3]


def test_progress_reads_no_earlier_table(pipelines: Pipelines) -> None:
    task_id = ended(pipelines, RANKED)
    overwrite(pipelines, "UPDATE snapshots SET documents = x'00' WHERE task_id = ? AND step < 3", task_id)

    reply = shown(pipelines, task_id)

    assert [row["id"] for row in json.loads(reply["result"]["data"])] == ["c", "b", "a"]


def test_data_has_the_rows_that_there_is_room_for_and_says_so(pipelines: Pipelines) -> None:
    task_id = ended(pipelines, RANKED)
    whole = json.loads(shown(pipelines, task_id)["result"]["data"])

    reply = shown(pipelines, task_id, most_bytes=len(json.dumps(whole[0])) + 10)

    assert json.loads(reply["result"]["data"]) == whole[:1]
    assert reply["result"]["result_description"].startswith("Retrieved 3 documents")
    (warning,) = reply["progress"]["warnings"]
    assert "the first 1 of 3 documents" in warning
    assert f"GET /task/table/{task_id}/3" in warning


def test_a_page_of_a_table_has_the_rows_that_there_is_room_for(pipelines: Pipelines) -> None:
    state = pipelines.tasks.state_of(ended(pipelines, RANKED))

    page = view.table(state, 1, offset=1, limit=2, cell_chars=5)

    assert (page["count"], [row["id"] for row in page["rows"]], page["cut"]) == (3, ["b"], 1)


def test_pipelines_are_listed_without_their_bodies_by_pages_and_deleted() -> None:
    store = TaskStore(None)
    first, second, third = (store.save_pipeline(body_of("fake_source", query=name), name) for name in "abc")
    with store.changing() as database:
        database.execute("UPDATE pipelines SET body = 'no JSON'")

    assert [one.name for one in store.pipelines(2)] == ["c", "b"]
    assert [one.query for one in store.pipelines(2, second)] == ["a"]
    store.delete_pipeline(second)
    assert [one.id for one in store.pipelines(9)] == [third, first]
    for unknown in (lambda: store.delete_pipeline(second), lambda: store.pipelines(2, second)):
        with failing("unknown_pipeline"):
            unknown()
    store.close()
