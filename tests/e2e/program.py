"""Start the project's programs as their users do, on loopback, and stop them."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

REPOSITORY = Path(__file__).parents[2]
START_TIMEOUT_S = 300
STOP_TIMEOUT_S = 60


def environment(**variables: str) -> dict[str, str]:
    """Return this process's environment with only the given `RAG_*` variables, able to import the project."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RAG_")}
    return {**clean, "PYTHONPATH": str(REPOSITORY), "PYTHONUNBUFFERED": "1", **variables}


def run(arguments: Sequence[str], variables: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a Python program to its end, in `folder`, so that nobody's `.env` is read."""
    (folder / ".env").touch()
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment(**variables),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=START_TIMEOUT_S,
        check=False,
    )


def preset(name: str, folder: Path) -> Path:
    """Return a new folder in which programs find a preset as their `.env`, as after `cp presets/NAME.env .env`."""
    home = folder / name
    home.mkdir()
    shutil.copy(REPOSITORY / "presets" / f"{name}.env", home / ".env")
    return home


class Process:
    """A running Python program; a context manager that ends it.

    Args:
        arguments: of Python: the script and what follows.
        variables: its `RAG_*` settings.
        folder: where it runs.
    """

    def __init__(self, arguments: Sequence[str], variables: Mapping[str, str], folder: Path) -> None:
        (folder / ".env").touch()
        self._process = subprocess.Popen(
            [sys.executable, *arguments],
            env=environment(**variables),
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines: list[str] = []
        self._news = threading.Condition()
        self._ended = False
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._listener.join()
        assert self._process.stderr is not None
        self._process.stderr.close()

    @property
    def log(self) -> str:
        """Everything it has written to stderr so far."""
        with self._news:
            return "\n".join(self._lines)

    def wait_for(self, pattern: str, timeout_s: float = 30) -> re.Match[str]:
        """Wait until a line on stderr matches, and return the match."""

        def found() -> re.Match[str] | None:
            return next((match for line in self._lines if (match := re.search(pattern, line))), None)

        with self._news:
            self._news.wait_for(lambda: found() or self._ended, timeout_s)
            match = found()
        assert match, f"{pattern!r} did not appear on stderr:\n{self.log}"
        return match

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    def exit_code(self) -> int:
        """Wait for the end."""
        return self._process.wait(STOP_TIMEOUT_S)

    def _listen(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            with self._news:
                self._lines.append(line.rstrip("\n"))
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()


class Program(Process):
    """A running service.

    Attributes:
        url: the address it printed.
    """

    def __init__(self, arguments: Sequence[str], variables: Mapping[str, str], folder: Path) -> None:
        super().__init__(arguments, variables, folder)
        try:
            self.url = self.wait_for(r"on (http://\S+)$", START_TIMEOUT_S)[1]
        except AssertionError:
            self.__exit__()  # nobody else can end what did not start
            raise
