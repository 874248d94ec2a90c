import threading
from typing import Any

import pytest

from errors import TaskCancelledError
from pipelines.body import PlannedStep, read_plan
from pipelines.row_cache import RowCache
from pipelines.running import FailedStepError, Runner
from pipelines.state import PipelineState
from pipelines.step import RowProcessorPipelineStep, RowStep
from tests.fakes.pipelines import TEXTS, Noting, a_registry, body_of, fake_services, run_body, scripted


@pytest.mark.promise("D12")
def test_every_step_gives_its_watcher_a_copy_of_the_table() -> None:
    tables: list[PipelineState] = []

    class Keeping(Noting):
        def ended(self, planned: PlannedStep, state: PipelineState) -> None:  # noqa: ARG002
            tables.append(state)

    state = run_body(body_of("fake_source", "word_counter", ("reduction_step", {"k": 1})), watcher=Keeping())

    assert [(one.step, one.name) for one in state.history] == [
        (1, "fake_source"),
        (2, "word_counter"),
        (3, "reduction_step"),
    ]
    assert [one.count for one in tables] == [3, 3, 1]
    assert "wordCount" not in tables[0].columns
    assert state.values("wordCount") == [3]
    assert state.metadata() == [
        {"id": "full-text", "rank": False, "text": True, "chip": False},
        {"id": "_original_ranking_", "rank": True, "text": False, "chip": False},
        {"id": "wordCount", "rank": False, "text": False, "chip": True},
    ]


def test_progress_is_told_row_by_row() -> None:
    noting = Noting()

    run_body(body_of("fake_source", "word_counter"), watcher=noting)

    assert noting.begun == noting.ends == [1, 2]
    assert noting.progress == [(0, 3), (1, 3), (2, 3), (3, 3)]


def broken() -> None:
    raise ZeroDivisionError("by nought")


@pytest.mark.promise("D22")
def test_a_failing_step_is_named_with_its_class_and_place() -> None:
    with pytest.raises(FailedStepError, match=r"^ZeroDivisionError in step 2 \(scripted\): by nought$"):
        run_body(body_of("fake_source", "scripted"), scripted(broken))


@pytest.mark.promise("D22")
def test_a_step_may_be_left_out_when_it_fails() -> None:
    failing = {"id": "scripted", "on_error": "continue"}

    state = run_body(body_of("fake_source", failing, "word_counter"), scripted(broken))

    assert state.columns == ["id", "full-text", "_original_ranking_", "wordCount"]
    assert state.history[1].warnings == ("The step was left out: ZeroDivisionError in step 2 (scripted): by nought",)


def test_a_column_that_only_shows_while_it_runs_to_be_missing_fails_the_step() -> None:
    failing = {"id": "scripted", "on_error": "continue"}

    with pytest.raises(FailedStepError, match=r"StepError in step 3 \(word_counter\): There is no column 'result'"):
        run_body(body_of("fake_source", failing, ("word_counter", {"input_column": "result"})), scripted(broken))


@pytest.mark.promise("D31")
def test_a_step_may_have_mosaicrags_signature() -> None:
    class Initial(RowProcessorPipelineStep):
        id, name, category = "initial", "Initial", "Metadata Analysis"
        description = "For tests."
        rows = 0

        def transform_row(self, data: Any, handler: Any) -> Any:  # type: ignore[override]
            handler.log(data)
            type(self).rows += 1
            return data[0], "chip"

    cache, noting = RowCache(None, 1_000_000), Noting()
    first = run_body(body_of("fake_source", "initial"), Initial, cache=cache, watcher=noting)
    again = run_body(body_of("fake_source", "initial"), Initial, cache=cache)

    assert first.values("result") == again.values("result") == ["W", "T", "R"]
    assert first.roles["result"] == again.roles["result"] == ("chip",)
    assert (Initial.rows, noting.lines) == (3, list(TEXTS))


def test_a_step_of_that_signature_returns_a_pair() -> None:
    class Bare(RowStep):
        id, name, category = "bare", "Bare", "Metadata Analysis"
        description = "For tests."

        def transform_row(self, data: Any, handler: Any) -> Any:  # type: ignore[override]  # noqa: ARG002
            return data

    with pytest.raises(FailedStepError, match="returns no pair"):
        run_body(body_of("fake_source", "bare"), Bare)


def test_what_is_cancelled_stops_at_the_next_row_and_runs_no_further_step() -> None:
    stop, noting, step = threading.Event(), Noting(), scripted()
    step.before_row = staticmethod(stop.set)
    services = fake_services()
    plan = read_plan(body_of("fake_source", "scripted", "word_counter"), a_registry(step), services)

    with pytest.raises(TaskCancelledError):
        Runner(services, None).run(plan, noting, stop)

    assert step.rows == 1
    assert noting.begun == [1, 2]
    assert noting.ends == [1]


def test_a_run_goes_on_from_what_was_kept() -> None:
    first, second = Noting(), Noting()
    services, step = fake_services(), scripted()
    plan = read_plan(body_of("fake_source", "scripted", "word_counter"), a_registry(step), services)
    runner = Runner(services, None)
    part = runner.run(
        read_plan(body_of("fake_source", "scripted"), a_registry(step), services), first, threading.Event()
    )

    whole = runner.run(plan, second, threading.Event(), part)

    assert second.begun == [3]
    assert step.rows == len(TEXTS)
    assert [one.step for one in whole.history] == [1, 2, 3]


@pytest.mark.parametrize(
    ("limit", "most", "reason"),
    [
        ("MAX_DOCUMENTS", 2, "The table has 3 documents; 2 are allowed"),
        ("MAX_COLUMN_BYTES", 1_000_000, "Column 'result' takes"),
    ],
)
def test_a_table_that_grows_too_large_fails_its_step(
    limit: str, most: int, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"pipelines.running.{limit}", most)
    step = scripted()
    step.transform_row = lambda *_: "x" * 400_000  # type: ignore[method-assign,assignment]

    with pytest.raises(FailedStepError, match=reason):
        run_body(body_of("fake_source", "scripted"), step)


@pytest.mark.promise("D14")
def test_rows_that_are_known_are_not_computed_again() -> None:
    cache, step = RowCache(None, 1_000_000), scripted()

    first = run_body(body_of("fake_source", "scripted"), step, cache=cache)
    again = run_body(body_of("fake_source", ("scripted", {"output_column": "length"})), step, cache=cache)

    assert step.rows == len(TEXTS)
    assert again.values("length") == first.values("result")
    assert (first.history[1].looked_up, first.history[1].found) == (3, 0)
    assert (again.history[1].looked_up, again.history[1].found) == (3, 3)


def test_rows_that_were_computed_before_a_failure_are_kept() -> None:
    cache, step = RowCache(None, 1_000_000), scripted()
    step.before_row = staticmethod(lambda: broken() if step.rows == 2 else None)

    with pytest.raises(FailedStepError):
        run_body(body_of("fake_source", "scripted"), step, cache=cache)
    step.before_row = staticmethod(lambda: None)
    state = run_body(body_of("fake_source", "scripted"), step, cache=cache)

    assert state.history[1].found == 2
    assert step.rows == len(TEXTS)


def test_another_version_of_a_step_computes_again() -> None:
    cache, step = RowCache(None, 1_000_000), scripted()
    run_body(body_of("fake_source", "scripted"), step, cache=cache)
    step.version = 2

    run_body(body_of("fake_source", "scripted"), step, cache=cache)

    assert step.rows == 2 * len(TEXTS)


def test_a_cache_that_fails_is_left_out_with_a_warning() -> None:
    cache, step = RowCache(None, 1_000_000), scripted()
    cache.close()

    state = run_body(body_of("fake_source", "scripted"), step, cache=cache)

    assert state.values("result") == [len(text) for text in TEXTS]
    assert "The row cache was left out" in state.history[1].warnings[0]
