"""Real servers for the stores, private to a test: Chroma from this environment, PostgreSQL from the system."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psutil
import pytest
import sqlalchemy as sa

POSTGRES = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(ready: Callable[[], bool], what: str, seconds: float = 120) -> None:
    """Wait for a server."""
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, f"{what} did not start"
        time.sleep(0.05)


class ChromaServer:
    """`chroma run` over one folder, always on the same port."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        program = Path(sys.executable).with_name("chroma")
        command = [str(program), "run", "--path", str(self._folder), "--host", "127.0.0.1", "--port", str(self._port)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self._answers, "Chroma")

    def kill(self) -> None:
        """End it at once."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        """Have it take connections, and answer none."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)
        # One of its threads may answer once more until all have stopped.
        os.waitpid(self._process.pid, os.WUNTRACED)

    def thaw(self) -> None:
        """Have it go on."""
        assert self._process
        self._process.send_signal(signal.SIGCONT)

    def _answers(self) -> bool:
        with suppress(httpx.TransportError):
            return httpx.get(f"{self.url}/api/v2/heartbeat", timeout=1).is_success
        return False


class PostgresServer:
    """A separate cluster, run by an ordinary user: PostgreSQL refuses to run as root."""

    def __init__(self, folder: Path) -> None:
        assert POSTGRES
        self._data = folder / "data"
        self._port = free_port()
        self._as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self._as_user:
            shutil.chown(folder, "postgres")
        self._run("initdb", "-D", str(self._data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        self.url = f"postgresql://postgres:secret@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-p {self._port} -k {self._data} -c listen_addresses=127.0.0.1 -c fsync=off"
        self._run("pg_ctl", "start", "-w", "-D", str(self._data), "-o", options, "-l", str(self._data / "log"))

    def stop(self) -> None:
        """End it at once."""
        self._run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", str(self._data))

    def freeze(self) -> None:
        """Have it take connections, and answer none."""
        for process in self._processes():
            process.suspend()

    def thaw(self) -> None:
        """Have it go on."""
        for process in self._processes():
            process.resume()

    def schemas(self) -> list[str]:
        """Return the schemas that hold corpora."""
        engine = sa.create_engine(self.url.replace("postgresql:", "postgresql+pg8000:"))
        try:
            return [name for name in sa.inspect(engine).get_schema_names() if name.startswith("treeline_")]
        finally:
            engine.dispose()

    def _processes(self) -> list[psutil.Process]:
        main = psutil.Process(int((self._data / "postmaster.pid").read_text().split()[0]))
        return [main, *main.children()]

    def _run(self, program: str, *arguments: str) -> None:
        assert POSTGRES
        command = [*self._as_user, str(POSTGRES / program), *arguments]
        # Files, not pipes: the server would keep a pipe open.
        with (self._data.parent / "output").open("ab") as output:
            subprocess.run(command, check=True, stdout=output, stderr=output, cwd="/")


@contextmanager
def chroma_server(folder: Path) -> Iterator[ChromaServer]:
    """Run Chroma's own server."""
    server = ChromaServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Run PostgreSQL; skips the test where it is not installed."""
    if POSTGRES is None:
        pytest.skip("PostgreSQL is not installed (Debian: `apt-get install postgresql`)")
    # Not in pytest's own folder: that is for its owner alone, and the server runs as another user.
    with tempfile.TemporaryDirectory(prefix="postgres") as folder:
        server = PostgresServer(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()
