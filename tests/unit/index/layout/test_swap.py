"""Replacing a corpus by a rebuilt one, and what a crash between the two renames leaves."""

from pathlib import Path

import pytest

from errors import CorpusLockedError
from index.layout.lock import CorpusLock
from index.layout.swap import finish_swap, rebuilt, swap_in


@pytest.fixture
def target(tmp_path: Path) -> Path:
    target = tmp_path / "books"
    for folder, word in ((target, "old"), (rebuilt(target), "new")):
        folder.mkdir()
        (folder / "manifest.json").write_text(word)
    return target


def crash_between_the_renames(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.rename

    def once(self: Path, other: Path) -> Path:
        if self != target:
            raise InterruptedError("crash")
        return rename(self, other)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", once)
        with pytest.raises(InterruptedError):
            swap_in(target)
    assert not target.exists()


def test_the_rebuilt_corpus_takes_the_place_and_nothing_else_is_left(target: Path) -> None:
    swap_in(target)

    assert (target / "manifest.json").read_text() == "new"
    assert list(target.parent.iterdir()) == [target]


def test_a_crash_between_the_renames_is_mended_at_the_next_opening(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash_between_the_renames(target, monkeypatch)

    finish_swap(target)

    assert (target / "manifest.json").read_text() == "new"


def test_without_the_rebuilt_corpus_the_old_one_comes_back(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crash_between_the_renames(target, monkeypatch)
    rebuilt(target).rename(target.with_name("elsewhere"))

    finish_swap(target)

    assert (target / "manifest.json").read_text() == "old"


def test_a_swap_that_is_under_way_is_left_alone(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    swapping = CorpusLock(target)
    crash_between_the_renames(target, monkeypatch)

    with pytest.raises(CorpusLockedError, match="in use by process"):
        finish_swap(target)
    swapping.release()


def test_where_nothing_was_swapped_nothing_is_done(tmp_path: Path) -> None:
    finish_swap(tmp_path / "books")

    assert list(tmp_path.iterdir()) == []
