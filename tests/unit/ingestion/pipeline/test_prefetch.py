"""Stages of an ingestion in threads: order, bounds, errors, and that nothing is left running."""

import threading
from collections.abc import Iterable, Iterator

import pytest

from errors import ModelError, StorageError
from ingestion.pipeline.prefetch import Prefetched

pytestmark = pytest.mark.timeout(20)


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = {*threading.enumerate()}
    yield
    # Threads of earlier tests may end meanwhile.
    assert not {*threading.enumerate()} - before


def failing(items: int, error: Exception) -> Iterator[int]:
    yield from range(items)
    raise error


class Source:
    """Counts how far it was read, and tells whether and where it was closed."""

    def __init__(self, items: int) -> None:
        self._items = iter(range(items))
        self.given = 0
        self.asked = threading.Semaphore(0)
        self.closed_in: threading.Thread | None = None

    def __iter__(self) -> "Source":
        return self

    def __next__(self) -> int:
        item = next(self._items)
        self.given += 1
        self.asked.release()
        return item

    def close(self) -> None:
        self.closed_in = threading.current_thread()


def test_items_come_in_order() -> None:
    with Prefetched(iter(range(1000)), max_weight=3) as items:
        assert list(items) == list(range(1000))


def test_what_waits_is_bounded_by_its_weight() -> None:
    source = Source(100)
    with Prefetched(source, max_weight=10, weigh=lambda _: 4) as items:
        for _ in range(3):
            source.asked.acquire()
        assert source.given == 3  # two wait, the third is at hand
        assert next(items) == 0


def test_one_item_heavier_than_the_bound_passes() -> None:
    with Prefetched(iter([5, 50, 5]), max_weight=10, weigh=float) as items:
        assert list(items) == [5, 50, 5]


def read(items: Iterable[int], seen: list[int]) -> None:
    for item in items:
        seen.append(item)  # noqa: PERF402  # what came before an error counts


def test_an_error_arrives_with_its_type_after_the_items_before_it() -> None:
    seen: list[int] = []
    source = failing(3, ModelError("It is gone.", "Fetch it."))
    with Prefetched(source, max_weight=1) as items, pytest.raises(ModelError, match=r"It is gone\."):
        read(items, seen)
    assert seen == [0, 1, 2]


def test_an_error_passes_through_every_later_stage() -> None:
    seen: list[int] = []
    with (
        Prefetched(failing(5, StorageError("Full.", "Make room.")), max_weight=1) as first,
        Prefetched((item + 1 for item in first), max_weight=1) as second,
        Prefetched((item * 2 for item in second), max_weight=1) as third,
        pytest.raises(StorageError, match=r"Full\."),
    ):
        read(third, seen)
    assert seen == [2, 4, 6, 8, 10]


def test_leaving_early_closes_the_source_in_its_own_thread() -> None:
    source = Source(1_000_000)
    with Prefetched(source, max_weight=2) as items:
        next(items)

    assert source.given < 10
    assert source.closed_in not in (None, threading.current_thread())


def test_a_source_that_fails_while_it_is_closed_is_told_instead_of_waited_for() -> None:
    class Stubborn(Source):
        def close(self) -> None:
            raise OSError("cannot be closed")

    with Prefetched(Stubborn(2), max_weight=1) as items:
        assert [next(items), next(items)] == [0, 1]
        with pytest.raises(OSError, match="cannot be closed"):
            next(items)


def test_an_item_that_cannot_be_weighed_is_an_error_like_any_other() -> None:
    def weigh(item: int) -> float:
        return 1 / item

    with Prefetched(iter([1, 0]), max_weight=1, weigh=weigh) as items:
        assert next(items) == 1
        with pytest.raises(ZeroDivisionError):
            next(items)
