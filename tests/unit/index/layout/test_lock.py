"""The lock: one holder, named to others, gone with its process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from errors import CorpusLockedError
from index.layout.lock import CorpusLock


def test_a_second_holder_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    lock = CorpusLock(tmp_path)

    with pytest.raises(CorpusLockedError, match=f"process {os.getpid()}"):
        CorpusLock(tmp_path)
    lock.release()


def test_a_service_leaves_its_address(tmp_path: Path) -> None:
    lock = CorpusLock(tmp_path, "http://127.0.0.1:8000")

    with pytest.raises(CorpusLockedError) as caught:
        CorpusLock(tmp_path)

    assert caught.value.url == "http://127.0.0.1:8000"
    lock.release()


def test_a_released_lock_is_free(tmp_path: Path) -> None:
    CorpusLock(tmp_path).release()
    CorpusLock(tmp_path).release()


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
