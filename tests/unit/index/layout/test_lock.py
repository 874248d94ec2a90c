"""The lock: one holder, named to others, gone with its process."""

import errno
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TextIO

import pytest

from errors import CorpusLockedError, StorageError
from index.layout import lock
from index.layout.lock import CorpusLock


@pytest.mark.parametrize("url", [None, "http://127.0.0.1:8000"])
def test_a_second_holder_is_refused_and_told_who_holds_it_and_where_a_service_is(
    tmp_path: Path, url: str | None
) -> None:
    lock = CorpusLock(tmp_path, url)

    with pytest.raises(CorpusLockedError, match=f"process {os.getpid()}") as caught:
        CorpusLock(tmp_path)

    assert caught.value.url == url
    lock.release()


def test_a_killed_holder_leaves_the_lock_free(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from index.layout.lock import CorpusLock\n"
        "lock = CorpusLock(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(CorpusLockedError, match=f"process {holder.pid}"):
            CorpusLock(tmp_path)
        holder.kill()
        holder.wait()

    CorpusLock(tmp_path).release()


def test_a_full_disk_is_told_and_the_lock_is_free_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> TextIO:
        file = locked_file(path)
        monkeypatch.setattr(file, "flush", partial(_refuse, errno.ENOSPC))
        return file

    locked_file = lock._locked_file
    with monkeypatch.context() as patched:
        patched.setattr(lock, "_locked_file", full)
        with pytest.raises(StorageError, match="No space left"):
            CorpusLock(tmp_path)

    CorpusLock(tmp_path).release()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "_locked_file", partial(_refuse, errno.EROFS))

    with pytest.raises(StorageError, match="Read-only"):
        CorpusLock(tmp_path)


def _refuse(error: int, *_: object) -> None:
    raise OSError(error, os.strerror(error))
