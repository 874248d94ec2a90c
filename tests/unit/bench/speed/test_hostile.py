"""The hostile files and their table."""

from bench.speed.hostile import Hostile, hostile_texts
from bench.speed.hostile_table import table


def test_every_file_is_as_large_as_asked_or_an_eighth_of_that() -> None:
    sizes = [len(data) for _, data in hostile_texts(1)]

    assert len(sizes) == 8
    assert all(900_000 < size < 1_100_000 or 100_000 < size < 130_000 for size in sizes)


def test_the_table_has_a_row_a_file() -> None:
    one = Hostile("dots.txt", 5.0, "0 leaves; a | b", 1.0, 0.1, 20.0, 100.0, None, 0.5)
    lines = table([one, one]).splitlines()

    assert len(lines) == 4
    assert lines[2].startswith("| dots.txt | 5.0 | 1.0 | 0.10 | 20 | 100 | had ended | 0.5 |")
    assert lines[2].endswith(r"a \| b |")
