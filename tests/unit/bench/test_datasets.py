"""Data sets are found by what they hold, and what is none is named."""

from pathlib import Path

import pytest

from bench.datasets import SAMPLE, DataSet, find_sets
from tests.failing import failing


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with two data sets and one folder that is none."""
    for name, corpus in (("wind", "corpus/a.txt"), ("sun", "corpus.jsonl"), ("notes", "readme.txt")):
        path = tmp_path / name / corpus
        path.parent.mkdir(parents=True)
        path.touch()
    for name in ("wind", "sun"):
        (tmp_path / name / "questions.jsonl").touch()
    return tmp_path


def test_a_folder_and_a_file_are_both_a_corpus_and_other_folders_are_named(data: Path) -> None:
    assert find_sets(data) == (
        [
            DataSet("sun", data / "sun" / "corpus.jsonl", data / "sun" / "questions.jsonl"),
            DataSet("wind", data / "wind" / "corpus", data / "wind" / "questions.jsonl"),
        ],
        ["notes"],
    )


def test_a_data_set_may_be_named_itself(data: Path) -> None:
    sets, others = find_sets(data / "wind")

    assert [data_set.name for data_set in sets] == ["wind"]
    assert others == []


def test_named_sets_come_in_the_order_named(data: Path) -> None:
    sets, others = find_sets(data, ["wind", "sun", "wind"])

    assert [data_set.name for data_set in sets] == ["wind", "sun"]
    assert others == []


def test_an_unknown_name_is_refused_with_the_known_ones(data: Path) -> None:
    with failing("no_data_set", match=r"no data set 'notes' .* There are: sun, wind"):
        find_sets(data, ["notes"])


def test_a_folder_without_data_sets_is_refused(tmp_path: Path) -> None:
    with failing("no_data_set", match="There is no data set in"):
        find_sets(tmp_path)


def test_the_sample_corpus_is_the_default() -> None:
    assert find_sets(None) == ([DataSet("sample", SAMPLE / "corpus", SAMPLE / "questions.jsonl")], [])
