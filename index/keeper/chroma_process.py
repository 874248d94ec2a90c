"""Run Chroma's own server over the vectors of one corpus, on loopback, for the workers of one service.

Flow: `__main__.py` holds the corpus -> **here** -> `chroma run`, which inherits the hold: as long as it lives, nobody
else opens the files. It ends with the keeper.
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

from errors import IndexDamagedError
from index.disk import repair

START_S = 60.0
# Chroma writes what is in memory; a killed one reads it from its log when it is next started.
STOP_S = 15.0
_POLL_S = 0.02
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_LIBC = ctypes.CDLL(None)


class ChromaProcess:
    """`chroma run` over one folder, always on the same port.

    Args:
        vectors: the folder.
        kept_open: descriptors of the locks on it.

    Attributes:
        vectors: as given.
        url: where it is.

    Raises:
        IndexDamagedError: it does not start.
    """

    def __init__(self, vectors: Path, kept_open: tuple[int, ...]) -> None:
        self.vectors, self._kept_open = vectors, kept_open
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = int(probe.getsockname()[1])
        self.url = f"http://127.0.0.1:{self._port}"
        self._process = self._started()
        until = time.monotonic() + START_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                self.stop()
                corpus = vectors.parent.name
                raise IndexDamagedError(f"No Chroma server can be started over corpus {corpus!r}.", repair(corpus))
            time.sleep(_POLL_S)

    def restart_if_ended(self) -> bool:
        """Start it again if it has ended, without waiting for it; say whether it had."""
        if self._process.poll() is None:
            return False
        self._process = self._started()
        return True

    def stop(self) -> None:
        """End it, and wait for its end."""
        self._process.terminate()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _started(self) -> "subprocess.Popen[bytes]":
        program = Path(sys.executable).with_name("chroma")
        command = [str(program), "run", "--path", str(self.vectors), "--host", "127.0.0.1", "--port", str(self._port)]
        return subprocess.Popen(  # noqa: S603  # a fixed command
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "ANONYMIZED_TELEMETRY": "False"},
            pass_fds=self._kept_open,
            preexec_fn=_die_with_parent,  # noqa: PLW1509  # the keeper has one thread
        )

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/api/v2/heartbeat", timeout=1, trust_env=False).is_success
        except httpx.TransportError:
            return False


def _die_with_parent() -> None:
    _LIBC.prctl(_DIE_WITH_PARENT, signal.SIGTERM)
