"""Run one program in a separate process and measure it from outside.

Flow: `ingest.py` -> **here** -> time, memory and CPU of the program. What the programs are is not known here.

Everything from start to exit counts, imports included: that is what a person waits for.
"""

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import httpx
import psutil

from bench.figures import MB
from errors import RagError

ROOT = Path(__file__).parents[2]
MAIN = ROOT / "main.py"
# Adding up the pages of 1 GB takes the kernel 20 ms, which the measured program misses on a small machine.
SAMPLE_S = 0.5
READY_LIMIT_S = 120.0
POLL_S = 0.02
MOST_SAID_BYTES = 1_000_000


def program_failed(arguments: Sequence[str], outcome: str, stderr: str) -> RagError:
    """Name the measured program that failed, how it ended, and the last line it said."""
    last = (stderr.strip().splitlines() or ["it said nothing"])[-1]
    command = f"python {' '.join(arguments)}"
    remedy = "Run it by hand, with the settings of this measurement."
    return RagError(f"`{command}` {outcome}: {last}", remedy, "program_failed")


@dataclass(frozen=True, slots=True)
class Run:
    """One program from start to exit.

    Attributes:
        wall_s: what a clock on the wall shows.
        cpu_s: CPU time of the process and of the children it waited for.
        peak_mb: the most memory the process and all its descendants took together. Their proportional set sizes are
            summed every `SAMPLE_S`; where the kernel's high-water mark of the largest one is more, it is that.
        largest_mb: that high-water mark (`ru_maxrss`). It misses nothing between two samples, but knows one process
            and starts from what the measuring process takes, which must therefore be little.
        output: what it wrote to stdout.
    """

    wall_s: float
    cpu_s: float
    peak_mb: float
    largest_mb: float
    output: str


def run_python(arguments: Sequence[str], variables: Mapping[str, str]) -> Run:
    """Run `python ARGUMENTS` to its end.

    Args:
        arguments: after the interpreter's name.
        variables: environment variables beside the inherited ones.

    Raises:
        RagError: its exit code is not 0.
    """
    with tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
        started = time.perf_counter()
        process = start_python(arguments, variables, stdout=stdout, stderr=stderr)
        try:
            with _MemorySampler(process.pid) as memory:
                _, status, usage = os.wait4(process.pid, 0)
                wall_s = time.perf_counter() - started
                process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            end(process)
        for stream in (stdout, stderr):
            stream.seek(0)
        if process.returncode:
            raise program_failed(arguments, f"ended with exit code {process.returncode}", stderr.read())
        largest_mb = usage.ru_maxrss * 1024 / MB
        return Run(
            wall_s, usage.ru_utime + usage.ru_stime, max(memory.peak / MB, largest_mb), largest_mb, stdout.read()
        )


def seconds_until_ready(arguments: Sequence[str], variables: Mapping[str, str]) -> float:
    """Start a service, stop it once `/ready` answers 200, and return the time from its start to that answer.

    Raises:
        RagError: it ended, or was not ready within `READY_LIMIT_S`.
    """
    started = time.perf_counter()
    with serving(arguments, variables):
        return time.perf_counter() - started


@contextmanager
def serving(arguments: Sequence[str], variables: Mapping[str, str]) -> Iterator[str]:
    """Run a service, and yield its base URL once `/ready` answers 200; it is stopped at the end.

    Raises:
        RagError: it ended, or was not ready within `READY_LIMIT_S`.
    """
    deadline = time.perf_counter() + READY_LIMIT_S
    # A file, because a service would stand still once nobody empties its pipe.
    with tempfile.TemporaryFile("w+") as stderr:
        process = start_python(arguments, variables, stdout=subprocess.DEVNULL, stderr=stderr)
        try:
            url = _address(process, stderr, deadline)
            if url is None:
                raise program_failed(arguments, "ended before it listened", _said(stderr))
            if reason := _wait_until_ready(url, deadline):
                raise program_failed(arguments, f"was not ready within {READY_LIMIT_S:.0f} s", reason)
            yield url
        finally:
            end(process)


def _address(process: subprocess.Popen[str], stderr: IO[str], deadline: float) -> str | None:
    """Return where a service says that it listens; None if it ended, or time is up, before it did."""
    while True:
        running = process.poll() is None and time.perf_counter() < deadline
        if address := re.search(r"on (http://\S+)$", _said(stderr), re.MULTILINE):
            return address[1]
        if not running:
            return None
        time.sleep(POLL_S)


def _said(stderr: IO[str]) -> str:
    # pread, because the file's offset is shared with the process.
    return os.pread(stderr.fileno(), MOST_SAID_BYTES, 0).decode(errors="replace")


def _wait_until_ready(url: str, deadline: float) -> str | None:
    """Return None once `/ready` answers 200, or its last answer when time is up."""
    while True:
        try:
            reply = httpx.get(f"{url}/ready", timeout=max(deadline - time.perf_counter(), 1), trust_env=False)
        except httpx.HTTPError as error:
            return str(error)
        if reply.is_success:
            return None
        if time.perf_counter() > deadline:
            return reply.text
        time.sleep(POLL_S)


def start_python(
    arguments: Sequence[str],
    variables: Mapping[str, str],
    *,
    stdout: IO[str] | int | None,
    stderr: IO[str] | int | None,
) -> subprocess.Popen[str]:
    """Start `python ARGUMENTS` with these environment variables beside the inherited ones; None inherits a stream."""
    # The environment is handed on, not read: a measured program sees the settings that this one was started with.
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    return subprocess.Popen([sys.executable, *arguments], env=environment, stdout=stdout, stderr=stderr, text=True)


def end(process: subprocess.Popen[str]) -> None:
    """Stop a process, if it still runs, and wait for it."""
    if process.returncode is None:
        process.terminate()
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class _MemorySampler:
    """Watches a process and its descendants from a thread while it is open.

    Attributes:
        peak: the largest sum seen, in bytes.
    """

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._process = psutil.Process(pid)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "_MemorySampler":
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(SAMPLE_S):
            self.peak = max(self.peak, self._total())

    def _total(self) -> int:
        total = 0
        try:
            for process in (self._process, *self._process.children(recursive=True)):
                try:
                    # Proportional: a page that two processes share is counted once.
                    total += process.memory_full_info().pss
                except psutil.Error:
                    continue
        except psutil.Error:
            return 0
        return total
