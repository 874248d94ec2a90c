"""What the workers of one service share: made by their parent before they are forked, closed after they ended.

Flow: gunicorn's parent (`gunicorn.conf.py`) makes one -> **here** -> each worker asks for its role. The first one that
acquires the leader lock writes until it ends; its replacement acquires it at its own start. Requests to the writer
come through a socket on loopback that the parent listens on, so that they wait while the writer is replaced.
"""

import fcntl
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TextIO

from api.temporary import shared_folder
from api.workers.role import WorkerRole
from errors import SettingsError
from index.keeper.client import Member
from settings import ServeSettings

BACKLOG = 512
# When the leader lock has been free this long, as after a reload of gunicorn, a reader restarts to take it.
VACANT_S = 30.0
LOOK_S = 1.0
_TRIES, _TRY_AGAIN_S = 5, 0.05
_PROJECT_ROOT = Path(__file__).resolve().parents[2]

logger = logging.getLogger(__name__)


class WorkerGroup:
    """The workers of a service.

    Args:
        serve: the settings of the service.
        url: where it is reached from this machine.
        workers: how many there are.
        folder: what was ingested at the start, if anything.
        watched: the corpus to keep in step with it, if any.

    Attributes:
        url, folder, watched: as given.
        private: the writer's own socket; it listens.
        private_url: its address.

    Raises:
        SettingsError: the keeper of the corpora does not start.
    """

    def __init__(
        self,
        serve: ServeSettings,
        url: str,
        workers: int,
        folder: Path | None = None,
        watched: str | None = None,
    ) -> None:
        self._serve, self.url, self._workers, self.folder, self.watched = serve, url, workers, folder, watched
        self._parent = os.getpid()
        self._shared = shared = shared_folder("treeline-")
        self._socket, self._lock_path, self._mark = shared / "keeper", shared / "writer", shared / "cleared"
        self._job_notes = shared / "jobs"
        self._mark.touch()
        self._job_notes.mkdir()
        self._leader_lock: TextIO | None = None
        self.private = socket.socket()
        self.private.bind(("127.0.0.1", 0))
        self.private.listen(BACKLOG)
        self.private_url = f"http://127.0.0.1:{self.private.getsockname()[1]}"
        try:
            self._keeper = self._started()
        except SettingsError:
            self.private.close()
            shutil.rmtree(shared, ignore_errors=True)
            raise

    def role(self) -> WorkerRole:
        """Return the role of this worker, which is the calling process."""
        if self._serve.role == "reader":
            role = WorkerRole(Member(self._socket), self._serve.writer_url, self._workers, self._mark)
        elif self._acquire_leader_lock():
            role = WorkerRole(Member(self._socket, read_only=False), None, self._workers, self._mark, self._job_notes)
        else:
            role = WorkerRole(Member(self._socket), self.private_url, self._workers, self._mark)
        threading.Thread(target=self._watch, args=(role,), name="group", daemon=True).start()
        return role

    def close(self) -> None:
        """End the keeper, which lets go of the corpora; blocks. In the parent only, when the workers have ended."""
        self.private.close()
        assert self._keeper.stdin is not None
        self._keeper.stdin.close()
        self._keeper.wait()
        shutil.rmtree(self._shared, ignore_errors=True)

    def _started(self) -> "subprocess.Popen[str]":
        reads = ["--reads"] if self._serve.role == "reader" else []
        keeper = subprocess.Popen(  # noqa: S603  # a fixed command
            [sys.executable, "-m", "index.keeper", str(self._socket), "--url", self.url, *reads],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(_PROJECT_ROOT), *filter(None, sys.path)])},
            start_new_session=True,  # Ctrl-C is for the workers; it ends after them
        )
        assert keeper.stdout is not None
        with keeper.stdout:
            if not keeper.stdout.readline():
                keeper.communicate()
                raise SettingsError(
                    "The process that holds the corpora of several workers has not started.",
                    "See what it has written above, or set RAG_SERVE__WORKERS=1.",
                )
        return keeper

    def _acquire_leader_lock(self) -> bool:
        file = self._lock_path.open("a")
        for _ in range(_TRIES):  # another worker may just be looking whether it is vacant
            if _locked(file):
                self._leader_lock = file
                return True
            time.sleep(_TRY_AGAIN_S)
        file.close()
        return False

    def _watch(self, role: WorkerRole) -> None:
        """Restart this worker if nobody writes; end it with its parent, and the service with the keeper."""
        may_write = self._serve.role != "reader"
        vacant_s = 0.0
        while vacant_s < VACANT_S and os.getppid() == self._parent:
            time.sleep(LOOK_S)
            if not _answers(self._socket):
                logger.error("The process that holds the corpora has ended: the service ends.")
                os.kill(self._parent, signal.SIGTERM)
                return
            vacant_s = vacant_s + LOOK_S if may_write and not role.writes and self._is_vacant() else 0.0
        os.kill(os.getpid(), signal.SIGTERM)

    def _is_vacant(self) -> bool:
        with self._lock_path.open("a") as file:
            return _locked(file)


def _locked(file: TextIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _answers(path: Path) -> bool:
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
    except (ConnectionRefusedError, FileNotFoundError):
        return False
    except OSError:
        return True  # this process may open no more files; that says nothing of the keeper
    return True
