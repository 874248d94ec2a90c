"""Batches keep the order, are bounded, and are started ahead of their use but never further than allowed."""

from ingestion.pipeline.batching import begun_ahead, grouped


def test_groups_close_by_weight_or_by_number_and_lose_nothing() -> None:
    groups = list(grouped([5, 5, 1, 1, 1, 30, 2], float, max_weight=10, max_items=3))

    assert groups == [[5, 5], [1, 1, 1], [30], [2]]


def test_nothing_makes_no_group() -> None:
    assert list(grouped([], float, max_weight=10, max_items=3)) == []


def test_items_are_begun_ahead_of_their_use_and_yielded_in_order() -> None:
    started: list[int] = []

    def begin(item: int) -> int:
        started.append(item)
        return item * 10

    results = begun_ahead(range(6), begin, lambda: 2)

    assert next(results) == 0
    assert started == [0, 1, 2]
    assert next(results) == 10
    assert started == [0, 1, 2, 3]
    assert list(results) == [20, 30, 40, 50]


def test_with_no_room_ahead_each_item_is_begun_when_it_is_asked_for() -> None:
    started: list[int] = []
    results = begun_ahead(range(3), started.append, lambda: 0)

    next(results)

    assert started == [0]
