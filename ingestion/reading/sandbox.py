"""Run a task in one long-lived child process, so that a bad file or text costs itself and nothing else.

Flow: `reader.py` and `pipeline/cutter.py` -> **here** -> pipe -> `child.py`.

The child has a clock and a memory limit. When it dies the request it was at is at fault: the death becomes an
`UnreadableError` and the next request gets a new child. The child is a plain subprocess rather than a
`multiprocessing` one, which would run the parent's main module again, and gets none of the parent's environment,
so that no parser ever sees a key.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from errors import UnreadableError
from ingestion.schema import RunStopped

# How the reports of a child's end are worded.
TOO_LONG, KILLED = "took longer than", "killed its process"
STOP_POLL_S = 0.1
# Threads and memory pools set address space aside, of which the child has little.
_FRUGAL = {
    "OPENBLAS_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
_PROJECT_ROOT = Path(__file__).resolve().parents[2]
_LEAST_S = 0.001  # no time at all would mean no limit


@dataclass(slots=True)
class TimeLeft:
    """The time that the batches of several requests share, in seconds.

    Attributes:
        left_s: of all.
        batch_s: for one batch, at most.
    """

    left_s: float
    batch_s: float

    @property
    def is_spent(self) -> bool:
        """Whether none is left."""
        return self.left_s <= 0


class Sandbox:
    """One child process, started by `start`, else when it is first needed. For one thread at a time.

    Args:
        task: what the child does, as `module:function`; called with `argument` it returns a `child.Task`.
        argument: for it.
        doing: the task in people's words, at the beginning of a sentence.
        timeout_s: wall time the child may take for one batch, where a request says nothing else.
        memory_mb: address space of the child, in MB of a million bytes.
        stop: once it is set, a request that is under way ends with RunStopped.
    """

    def __init__(
        self,
        task: str,
        argument: str,
        *,
        doing: str,
        timeout_s: float,
        memory_mb: int,
        stop: threading.Event | None = None,
    ) -> None:
        self._task = task
        self._argument = argument
        self._doing = doing
        self._timeout_s = timeout_s
        self._memory_mb = memory_mb
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._is_ready = False
        self._turn = object()
        self._stop = stop or threading.Event()

    def items(self, request: Mapping[str, Any], time_left: TimeLeft | None = None) -> Iterator[dict[str, Any]]:
        """Yield the items that the child finds, batch by batch; ask for the next only when it is wanted.

        Args:
            request: for the task.
            time_left: what all batches share, less what they take; None gives each batch the time of the sandbox.

        Raises:
            UnreadableError: the child died over this request.
            RunStopped: the run shall end; the child is ended.
        """
        connection = self._ready_connection()
        turn = self._turn = object()
        while True:
            if turn is not self._turn:
                raise RuntimeError("Another request was started before this one was answered to its end.")
            limit_s = self._timeout_s
            if time_left:
                limit_s = max(min(time_left.left_s, time_left.batch_s), _LEAST_S)
            begun_s = time.monotonic()
            try:
                connection.send_bytes(json.dumps({**request, "limit_s": limit_s}).encode())
                while not connection.poll(STOP_POLL_S):
                    self._check_stop()
                reply = json.loads(connection.recv_bytes())
            except (EOFError, OSError) as error:
                death = self._death(limit_s)
                if time_left:
                    is_late = TOO_LONG in death.fact
                    time_left.left_s -= limit_s if is_late else time.monotonic() - begun_s
                raise death from error
            if time_left:
                time_left.left_s -= max(0, limit_s - reply["left_s"])
            if reply["retire"]:
                self.close()
            yield from reply["items"]
            if not reply["more"]:
                return
            request = {}

    def close(self) -> None:
        """End the child; a later request starts a new one."""
        if self._connection:
            self._connection.close()
        if self._process:
            self._process.kill()
            self._process.wait()
        self._connection = self._process = None
        self._is_ready = False

    def start(self) -> None:
        """Start the child, unless it is there, and do not wait: it imports for seconds."""
        if self._connection is None:
            self._connection, child_end = Pipe()
            limits = (str(self._timeout_s), str(self._memory_mb))
            arguments = (*limits, self._task, self._argument)
            path = [str(_PROJECT_ROOT), *(entry for entry in sys.path if entry)]
            with child_end:
                self._process = subprocess.Popen(  # noqa: S603 - a fixed command
                    [sys.executable, "-P", "-m", "ingestion.reading.child", str(child_end.fileno()), *arguments],
                    pass_fds=[child_end.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,  # ours is for the summary
                    env={"PYTHONPATH": os.pathsep.join(path), **_FRUGAL},
                    start_new_session=True,  # Ctrl-C is for us; we end the child
                )

    def _check_stop(self) -> None:
        if self._stop.is_set():
            self.close()
            raise RunStopped

    def _ready_connection(self) -> Connection:
        if self._is_ready and self._process and self._process.poll() is not None:
            self.close()  # it died between two requests: no one's fault
        self.start()
        assert self._connection is not None
        if not self._is_ready:
            self._await_child(self._connection)
        return self._connection

    def _await_child(self, connection: Connection) -> None:
        assert self._process is not None
        try:
            while not connection.poll(STOP_POLL_S):
                self._check_stop()
            connection.recv_bytes()
            self._is_ready = True
        except EOFError:
            code = self._process.wait()
            self.close()
            raise RuntimeError(f"The process for {self._doing.lower()} did not start (exit code {code}).") from None

    def _death(self, limit_s: float) -> UnreadableError:
        assert self._process is not None
        code = self._process.wait()
        self.close()
        if code == -signal.SIGALRM:
            return UnreadableError(
                f"{self._doing} {TOO_LONG} {limit_s:.3g} s.",
                "Split the file, or raise RAG_INGEST__PARSE_TIMEOUT_S.",
            )
        cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return UnreadableError(
            f"{self._doing} {KILLED} ({cause}).",
            "Repair or convert it, or raise RAG_INGEST__PARSE_MEMORY_MB.",
        )
