"""The word index after a commit that was cut off between its files and its list of files."""

import shutil
from pathlib import Path

import pytest

from errors import IndexDamagedError
from index.lexical.tantivy_index import LexicalIndex

pytestmark = pytest.mark.integration

GONE = ["v0", "v1", "v2"]


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """Ten leaves, and deletions of three whose files are written but not yet listed."""
    whole, cut_off = tmp_path / "whole", tmp_path / "cut off"
    LexicalIndex(whole).add((f"v{number}.2", f"v{number}", "A tower.", "") for number in range(10))
    shutil.copytree(whole, cut_off)
    LexicalIndex(whole).delete(GONE)
    for path in whole.glob("*.del"):
        shutil.copy(path, cut_off)
    shutil.copy(whole / ".managed.json", cut_off)
    return cut_off


@pytest.mark.parametrize("versions", [GONE, ["v7", "v8", "v9"], ["v0"]])
def test_deletions_after_one_that_was_cut_off_take_place(words: Path, versions: list[str]) -> None:
    index = LexicalIndex(words)
    assert index.count() == 10

    index.delete(versions)

    assert {name.split(".")[0] for name in index.ids()} == {f"v{number}" for number in range(10)} - set(versions)
    assert index.count() == LexicalIndex(words).count() == 10 - len(versions)


def test_a_commit_that_fails_is_told(words: Path) -> None:
    (words / ".managed.json").write_text("[]")  # so that the file in the way is nobody's, and stays

    with pytest.raises(IndexDamagedError, match="FileAlreadyExists"):
        LexicalIndex(words).delete(GONE)

    assert LexicalIndex(words).count() == 10
