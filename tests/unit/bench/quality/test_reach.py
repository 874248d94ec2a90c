"""The crowded corpus is the same for a seed, and the table says what was reached."""

from pathlib import Path

from bench.quality.reach import SUBJECTS, Reach, table, write_crowded


def test_a_seed_always_makes_the_same_corpus(tmp_path: Path) -> None:
    for name, seed in (("one", 0), ("same", 0), ("other", 1)):
        write_crowded(tmp_path / name, 50, seed)

    texts = {name: (tmp_path / name / "rows.csv").read_text() for name in ("one", "same", "other")}
    assert texts["one"] == texts["same"] != texts["other"]
    assert len(texts["one"].splitlines()) == 51
    assert len(list((tmp_path / "one").glob("*.md"))) == len(SUBJECTS)


def test_the_table_has_a_row_a_corpus_and_way_of_searching() -> None:
    ways = [Reach("graph alone", 2000, 1990, 12, 9, 1.25), Reach("as questions are answered", 2000, 1999, 12, 12, 1.5)]

    rows = table({"crowded": (12.34, ways)}).splitlines()[2:]

    assert rows == [
        "| crowded | 12.3 | graph alone | 2,000 | 0.9950 | 12 | 9 | 1.25 |",
        "| crowded | 12.3 | as questions are answered | 2,000 | 0.9995 | 12 | 12 | 1.50 |",
    ]
