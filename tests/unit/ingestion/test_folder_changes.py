"""A folder that is watched: what is brought in, when again, and what is left alone. With the system's own notices."""

import queue
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

from errors import SettingsError, UnreadableError
from ingestion import folder_changes
from ingestion.folder_changes import follow, watchable

# Far longer than any notice takes.
WAIT_S = 30


class Watched:
    """A folder that is watched in a thread; `told` waits for the next round."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._rounds: queue.SimpleQueue[tuple[str, ...] | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=follow, args=(folder, self._bring, self._stop), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive()

    def told(self) -> tuple[str, ...] | None:
        return self._rounds.get(timeout=WAIT_S)

    def told_until(self, *names: str) -> set[str]:
        """Gather rounds until all these names were told: the system may cut a burst of changes anywhere."""
        gathered: set[str] = set()
        while not gathered.issuperset(names):
            gathered.update(self.told() or ())
        return gathered

    def _bring(self, names: tuple[str, ...] | None) -> bool:
        self._rounds.put(names)
        return self.answers.empty() or self.answers.get()


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    monkeypatch.setattr(folder_changes, "RETRY_S", 0.05)
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "old.md").write_text("Old.")
    with Watched(folder) as watching:
        yield watching


def test_everything_comes_first_then_what_is_new_changed_and_gone(watched: Watched) -> None:
    assert watched.told() is None

    (watched.folder / "new.md").write_text("New.")
    assert watched.told_until("new.md") == {"new.md"}

    (watched.folder / "old.md").write_text("Changed.")
    assert watched.told_until("old.md") == {"old.md"}

    (watched.folder / "new.md").unlink()
    assert watched.told_until("new.md") == {"new.md"}


def test_a_folder_that_is_moved_here_is_told_and_what_happens_in_it_later(watched: Watched, tmp_path: Path) -> None:
    watched.told()
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "a.md").write_text("A.")

    (tmp_path / "made").rename(watched.folder / "notes")
    watched.told_until("notes")
    (watched.folder / "notes" / "b.md").write_text("B.")

    watched.told_until("notes/b.md")


def test_hidden_files_and_growing_logs_start_no_round(watched: Watched) -> None:
    (watched.folder / "run.log").write_text("started\n")  # new: told, so that its skipping can be reported
    watched.told()

    with (watched.folder / "run.log").open("a") as log:
        log.write("more\n")
    (watched.folder / ".git").mkdir()
    (watched.folder / ".git" / "notes.md").write_text("Hidden.")
    (watched.folder / "seen.md").write_text("Seen.")

    assert watched.told_until("seen.md") <= {"seen.md", "run.log"}


def test_a_round_that_fails_is_tried_again_with_the_same_files(watched: Watched) -> None:
    watched.answers.put(False)
    assert watched.told() is None
    assert watched.told() is None

    watched.answers.put(False)
    (watched.folder / "new.md").write_text("New.")

    assert [watched.told(), watched.told()] == [("new.md",), ("new.md",)]


def test_when_the_folder_vanishes_nothing_counts_as_gone_and_all_comes_in_when_it_is_back(
    watched: Watched,
) -> None:
    watched.told()

    watched.folder.rename(watched.folder.with_name("away"))
    assert watched.told() is None

    watched.folder.with_name("away").rename(watched.folder)
    while watched.told() is None and not (watched.folder / "again.md").exists():
        (watched.folder / "again.md").write_text("Again.")
    (watched.folder / "later.md").write_text("Later.")
    watched.told_until("later.md")


def test_a_folder_that_is_replaced_is_watched_anew(watched: Watched, tmp_path: Path) -> None:
    watched.told()
    (tmp_path / "other").mkdir()

    shutil.rmtree(watched.folder)
    (tmp_path / "other").rename(watched.folder)

    while watched.told() is not None:
        pass
    (watched.folder / "new.md").write_text("New.")
    watched.told_until("new.md")


def test_only_a_folder_is_watched(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("A.")

    with pytest.raises(SettingsError):
        watchable(tmp_path / "a.md")
    with pytest.raises(UnreadableError):
        watchable(tmp_path / "gone")
