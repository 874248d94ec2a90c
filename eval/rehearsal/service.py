"""Start the service of this checkout on a free port of this machine, and stop it.

Flow: `command.py` -> **here** -> `python main.py`, in a process of its own, whose log goes to a file.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

from errors import RagError

ROOT = Path(__file__).parents[2]
POLL_S = 0.2
STOP_S = 60


class ServiceEndedError(RagError):
    """The service ended before it answered."""

    code = "service_ended"


@contextmanager
def started(program: Sequence[str | Path], log: Path, **variables: str) -> Iterator[str]:
    """Start a service and yield its address once `/health` answers; stop it at the end. Only in the main thread.

    The variables are set beside those of this process. What the service writes goes to `log`.

    Raises:
        ServiceEndedError: it ended before it answered.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    settings = {**os.environ, **variables, "RAG_SERVE__HOST": "127.0.0.1", "RAG_SERVE__PORT": str(port)}
    with (
        log.open("wb") as file,
        subprocess.Popen([sys.executable, *program], env=settings, stdout=file, stderr=file) as run,  # noqa: S603
    ):
        # A caller that is asked to stop must not leave the service behind.
        before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        try:
            while not _answers(url):
                if run.poll() is not None:
                    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() or ["without a word"]
                    fact = f"The service ended with exit code {run.returncode}: {lines[-1]}."
                    raise ServiceEndedError(fact, f"Mend that, or name one that runs by --url; its log is {log}.")
                time.sleep(POLL_S)
            yield url
        finally:
            run.terminate()
            with suppress(subprocess.TimeoutExpired):
                run.wait(STOP_S)
            run.kill()
            signal.signal(signal.SIGTERM, before)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", trust_env=False).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False
