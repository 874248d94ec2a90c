from pathlib import Path

from pipelines.row_cache import ROW_BYTES, RowCache


def key(number: int) -> bytes:
    return number.to_bytes(16, "big")


def test_values_outlive_the_process(tmp_path: Path) -> None:
    first = RowCache(tmp_path / "rows.sqlite", 1_000_000)
    first.put({key(1): b"one", key(2): b"two"})
    first.close()

    again = RowCache(tmp_path / "rows.sqlite", 1_000_000)

    assert again.get([key(2), key(3)]) == {key(2): b"two"}
    again.close()


def test_more_keys_than_one_statement_takes_are_found() -> None:
    cache = RowCache(None, 100_000_000)
    cache.put({key(number): b"1" for number in range(40_000)})

    assert len(cache.get([key(number) for number in range(50_000)])) == 40_000


def test_the_oldest_make_room(tmp_path: Path) -> None:
    cache = RowCache(tmp_path / "rows.sqlite", 100 * (100 + ROW_BYTES))
    for start in range(0, 1000, 10):
        cache.put({key(number): b"x" * 100 for number in range(start, start + 10)})

    found = cache.get([key(number) for number in range(1000)])

    assert 80 <= len(found) <= 100
    assert min(found) > key(890)
    cache.close()
    assert (tmp_path / "rows.sqlite").stat().st_size < 100_000


def test_a_value_larger_than_the_cache_is_not_kept() -> None:
    cache = RowCache(None, 1000)
    cache.put({key(1): b"x" * 2000})

    assert cache.get([key(1)]) == {}
