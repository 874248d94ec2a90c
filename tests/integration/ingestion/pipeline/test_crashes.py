"""Ingestions that are killed, or fail, at chosen points and at random moments; `make torture` tries all of them.

After each: every visible document is whole and can be found, nothing that was committed is lost, and the next run
makes exactly what a run makes that nobody disturbed.
"""

import pytest

from tests.torture.cases import SCENARIOS, Case, Scenario, Signal
from tests.torture.faults import Fault
from tests.torture.harness import Ground, contend, random_kill

pytestmark = pytest.mark.slow

SEED = 7


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return Ground(tmp_path_factory.mktemp("torture") / "ground", SEED)


@pytest.mark.fault("A2")
@pytest.mark.parametrize(
    ("scenario", "fault"),
    [
        ("first", Fault("manifest written", 1, "after", "crash")),
        ("first", Fault("words stored", 2, "after", "no space")),
        ("update", Fault("documents published", 2, "before", "database full")),
        ("update", Fault("documents published", 2, "after", "input/output error")),
        ("update", Fault("documents published", 4, "after", "crash")),  # a renamed file's document is there twice
        ("update", Fault("old vectors deleted", 1, "after", "crash")),
        ("update", Fault("sources forgotten", 1, "before", "crash")),
        ("rebuild", Fault("corpus renamed", 1, "after", "crash")),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.how} {value.when} {value.point}",
)
def test_a_fault_at_a_point_of_writing_loses_nothing(ground: Ground, scenario: Scenario, fault: Fault) -> None:
    case = Case(scenario, fault)

    result = ground.play(case)

    assert result.struck
    assert result.problems == [], case.command(SEED)


@pytest.mark.fault("A3")
@pytest.mark.parametrize("limit", [120_000, 450_000])
def test_files_that_cannot_grow_lose_nothing(ground: Ground, limit: int) -> None:
    case = Case("first", max_file_bytes=limit)

    result = ground.play(case)

    assert result.struck
    assert result.problems == [], case.command(SEED)


@pytest.mark.promise("G05")
@pytest.mark.fault("A1")
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_kill_at_a_random_moment_loses_nothing(ground: Ground, scenario: Scenario) -> None:
    case = random_kill(ground, scenario, SEED, 0)

    assert ground.play(case).problems == [], case.command(SEED)


@pytest.mark.fault("A13")
@pytest.mark.parametrize("name", ["TERM", "INT"])
def test_a_run_that_is_asked_to_stop_ends_soon_and_the_next_one_goes_on(ground: Ground, name: Signal) -> None:
    case = random_kill(ground, "first", SEED, 0, name)

    assert ground.play(case).problems == [], case.command(SEED)


@pytest.mark.fault("A7")
def test_a_second_ingestion_is_refused_at_once_and_a_dead_one_holds_nothing(ground: Ground) -> None:
    problems, _ = contend(ground)

    assert problems == []
