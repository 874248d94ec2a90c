"""Ingestion is measured in turn, each run on an empty index, and the table says what came out."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench.speed.ingest import Ingested, Measured, Ours, Programs, allocated_mb, measure, table, warm_up
from bench.speed.workload import Workload
from tests.fakes.tables import plain_rows

RUN = Ingested(wall_s=10, cpu_s=20, peak_mb=800, largest_mb=700, leaves=100, index_mb=1.5)
SMALL = Workload(Path("small"), documents=2, text_mb=0.5, prepared=0, repeated=0)
LARGE = replace(SMALL, folder=Path("large"), documents=8, text_mb=2.0)


class Recorder(Programs):
    """Programs that only note what they were started for."""

    def __init__(self) -> None:
        super().__init__("Why?", Path("model"))
        self.started: list[str] = []

    def stock(self, folder: Path, index: Path) -> Ingested:
        return self._note("stock", folder, index)

    def ours(self, folder: Path, index: Path) -> Ingested:
        return self._note("ours", folder, index)

    def query_s(self, index: Path) -> float:
        assert list(index.iterdir()), "there is an index to ask"
        return 3.0

    def ready_s(self, index: Path) -> float:
        assert list(index.iterdir()), "there is an index to serve"
        return 2.0

    def _note(self, name: str, folder: Path, index: Path) -> Ingested:
        known = (index / "leaves").exists()
        (index / "leaves").touch()
        self.started.append(f"{name} {folder.name}{' again' if known else ''}")
        return replace(RUN, leaves=0 if known else 100)


def test_both_take_turns_and_every_first_run_finds_an_empty_index(tmp_path: Path) -> None:
    programs = Recorder()

    measured = measure(Measured("wind", Ours(SMALL)), programs, tmp_path, 2)

    ours = ["ours small", "ours small again"]
    assert programs.started == ["stock small", *ours, *ours, "stock small"]
    assert [run.leaves for run in measured.ours.again] == [0, 0]
    assert (measured.ours.query_s, measured.ours.ready_s) == ([3.0, 3.0], [2.0, 2.0])
    assert list(tmp_path.iterdir()) == []


def test_the_larger_workload_is_ingested_by_ours_alone(tmp_path: Path) -> None:
    programs = Recorder()

    measured = measure(Measured("wind", Ours(SMALL), scaled=Ours(LARGE)), programs, tmp_path, 1)

    assert programs.started[-2:] == ["ours large", "ours large again"]
    assert measured.scaled is not None
    assert [run.leaves for run in measured.scaled.first] == [100]


def test_the_warm_up_runs_both_once(tmp_path: Path) -> None:
    programs = Recorder()

    warm_up(programs, Path("one"), tmp_path)

    assert programs.started == ["stock one", "ours one"]


def test_a_cell_is_the_median_with_its_spread_and_quotients_are_of_medians() -> None:
    slow, quick = (
        [replace(RUN, wall_s=s) for s in (40.0, 50.0, 42.0)],
        [replace(RUN, wall_s=s) for s in (10.0, 11.0, 10.5)],
    )
    measured = Measured("wind", Ours(SMALL, first=quick, again=[replace(RUN, leaves=0)]), stock=slow)

    rows = plain_rows(table([measured]))

    assert rows[0] == "| set | measure | stock | ours | better |"
    assert "| wind | documents | – | 2 | – |" in rows
    assert "| wind | whole run, s | 42.0 (40.0–50.0) | 10.5 (10.0–11.0) | ×4.00 |" in rows
    assert "| wind | leaves/s | 2.4 (2.0–2.5) | 9.5 (9.1–10.0) | – |" in rows
    assert "| wind | index, kB/leaf | 15.00 | 15.00 | ×1.00 |" in rows
    assert "| wind | leaves embedded by that | – | 0 | – |" in rows


def test_growth_compares_the_larger_workload_with_ours_on_the_smaller() -> None:
    small = Ours(SMALL, first=[RUN], ready_s=[2.0])
    large = Ours(LARGE, first=[replace(RUN, wall_s=50, leaves=400, peak_mb=880)], ready_s=[2.5])

    rows = plain_rows(table([Measured("wind", small, stock=[RUN], scaled=large)]))

    assert rows[0] == "| set | measure | stock | ours | better | ours, ×4 | growth |"
    assert "| wind | documents | – | 2 | – | 8 | ×4.00 |" in rows
    assert "| wind | leaves/s | 10.0 | 10.0 | – | 8.0 | ×0.80 |" in rows
    assert "| wind | peak memory with children, MB | 800 | 800 | ×1.00 | 880 | ×1.10 |" in rows
    assert "| wind | `/ready` after start, s | – | 2.0 | – | 2.5 | ×1.25 |" in rows


def test_the_index_is_measured_in_blocks_as_du_does(tmp_path: Path) -> None:
    (tmp_path / "sparse").touch()
    with (tmp_path / "sparse").open("r+b") as file:
        file.truncate(50_000_000)
    before = allocated_mb(tmp_path)
    (tmp_path / "full").write_bytes(b"x" * 1_000_000)

    assert before < 1
    assert allocated_mb(tmp_path) - before == pytest.approx(1.0, abs=0.1)
