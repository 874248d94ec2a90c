"""What is said of a run's speed and end must be worth believing."""

from ingestion.console.pace import PaceMeter
from ingestion.schema import Progress


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def at(size: int, leaves: int, total: int = 1000) -> Progress:
    return Progress("a.md", "new", None, 1, 10, size, total, 1, leaves)


def test_nothing_is_said_in_the_first_batch() -> None:
    clock = Clock()
    meter = PaceMeter(clock)
    meter.at(at(0, 0))
    clock.now += 10

    first, second = meter.at(at(1, 5)), meter.at(at(200, 100))

    assert (first.leaves_per_s, first.eta_s) == (second.leaves_per_s, second.eta_s) == (None, None)
    assert first.elapsed_s == 10


def test_a_batch_is_measured_as_a_whole() -> None:
    clock = Clock()
    meter = PaceMeter(clock)
    for size, leaves in ((100, 60), (300, 100)):  # a batch: told at once, after ten seconds
        clock.now = 110
        meter.at(at(size, leaves))
    clock.now = 120

    first = meter.at(at(301, 101))
    second = meter.at(at(600, 200))

    assert first.leaves_per_s == second.leaves_per_s == 10
    assert (first.eta_s, second.eta_s) == (round(699 / 30, 1), round(400 / 30, 1))


def test_known_files_that_fly_by_do_not_promise_an_early_end() -> None:
    clock = Clock()
    meter = PaceMeter(clock)
    for moment in range(1, 200):  # the first half of the bytes in two seconds
        clock.now = 100 + moment / 100
        meter.at(at(500 * moment // 200, 0))
    for minute in range(1, 6):  # then ten a minute
        clock.now = 102 + 60 * minute
        pace = meter.at(at(500 + 10 * minute, 100 * minute))

    assert pace.eta_s is not None
    assert 2000 < pace.eta_s < 3000


def test_a_second_folder_restarts_the_measurement() -> None:
    clock = Clock()
    meter = PaceMeter(clock)
    clock.now += 10
    meter.at(at(900, 300))
    clock.now += 10

    assert meter.at(at(5, 1)).eta_s is None
