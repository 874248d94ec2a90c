"""The folder that workers share: it is deleted at the end, and protected until then."""

import fcntl
import os
import tempfile
from pathlib import Path

import pytest

from api.temporary import shared_folder
from api.workers.group import WorkerGroup
from errors import SettingsError
from settings import ServeSettings


def test_a_keeper_that_does_not_start_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("RAG_SERVE__PORT", "none")

    with pytest.raises(SettingsError):
        WorkerGroup(ServeSettings(), "http://127.0.0.1:1", 2)

    assert list(tmp_path.iterdir()) == []


def test_who_cleans_temporary_folders_finds_it_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cleaner = os.open(shared_folder("treeline-"), os.O_RDONLY)
    try:
        with pytest.raises(BlockingIOError):  # what systemd-tmpfiles takes as a word to leave it alone
            fcntl.flock(cleaner, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(cleaner)
