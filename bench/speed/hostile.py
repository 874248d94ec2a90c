"""Measure what hostile files do to a service: its answers, its memory, and how soon it ends what it is at.

Flow: files made here -> its own service for each, over HTTP -> `hostile_table.py`, JSON.

Each file is ingested three times under another name: to its end, cancelled, and ended by SIGTERM.
"""

import random
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

from bench.speed.process import MB, serving_process

SAMPLE_S = 0.05
# A run is interrupted after so long, if it still goes on.
INTERRUPT_S = 1.0
JOB_LIMIT_S = 600.0
END_LIMIT_S = 300.0
SEED = 7
RUNS = ("whole", "cancelled", "stopped")


@dataclass(frozen=True, slots=True)
class Hostile:
    """What one file did.

    Attributes:
        name: of the file.
        size_mb: of the file.
        outcome: documents that came in, and what was left out or refused.
        ingest_s: from the request to the end of the job.
        health_s: slowest answer of `/health` meanwhile.
        growth_mb: memory of the service's process at its highest, over what it took before.
        children_mb: the same, children included.
        cancel_s: from the cancellation to the end of the job; None if it had ended before.
        stop_s: from SIGTERM to the end of the process.
    """

    name: str
    size_mb: float
    outcome: str
    ingest_s: float
    health_s: float
    growth_mb: float
    children_mb: float
    cancel_s: float | None
    stop_s: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON-ready values."""
        return asdict(self)


def hostile_texts(size_mb: int) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of hostile files, of about `size_mb` million bytes.

    Those that are embedded, because they hold words, are an eighth of that: embedding is not what is measured.
    """
    size, chance = size_mb * MB, random.Random(SEED)  # noqa: S311  # not for secrets
    less = size // 8
    image = b64encode(chance.randbytes(3 * size // 4)).decode()
    words = " ".join(chance.choice(("wind", "water", "turbine", "70.44", "of", "the")) for _ in range(2000))
    yield "image.md", f"# A dam\n\nBuilt in 1984.\n\n![a dam](data:image/png;base64,{image})\n\nThe end.\n".encode()
    yield "dots.txt", b"Dots:\n" + b"." * size
    yield "dots-and-spaces.txt", b"Dots:\n" + b". " * (size // 2)
    yield "token.txt", b"One word:\n" + b"a" * size
    yield "tokens.txt", b"Long words:\n" + (b"a" * 400 + b" ") * (less // 401)
    yield "commas.txt", b"No spaces:\n" + "汉字，".encode() * (less // 9)
    yield "one-line.txt", f"One line: {words} ".encode() * (less // (len(words) + 11))
    yield "marks.txt", b"Marks: " + b"a?!b " * (less // 5)


def measure(
    folder: Path, index: Path, size_mb: int, variables: Mapping[str, str], tell: Callable[[str], None]
) -> list[Hostile]:
    """Ingest each hostile file through its own service.

    Args:
        folder: empty, for the files.
        index: empty, for the indexes.
        size_mb: of each file.
        variables: settings of the service beside these.
        tell: called with a line before each file.

    Raises:
        ProgramFailedError: the service did not start, or ended.
    """
    found = []
    main = str(Path(__file__).parents[2] / "main.py")
    (folder / "warm.md").write_text("# Warm\n\nA short document that loads what is loaded once.\n")
    for name, data in hostile_texts(size_mb):
        tell(f"{name}: {len(data) / MB:.1f} MB")
        for run in RUNS:
            (folder / f"{run}-{name}").write_bytes(data + run.encode())
        settings = {"RAG_INDEX__DIR": str(index / name), "RAG_INGEST__ROOT": str(folder), "RAG_SERVE__PORT": "0"}
        with serving_process([main], {**variables, **settings}, ready=False) as (url, pid):
            found.append(_measure_one(url, pid, folder, name, len(data) / MB))
        tell(str(found[-1].to_dict()))
    return found


def _measure_one(url: str, pid: int, folder: Path, name: str, size_mb: float) -> Hostile:
    with httpx.Client(base_url=url, timeout=END_LIMIT_S) as client:
        _wait(client, _begin(client, folder / "warm.md"), JOB_LIMIT_S)
        with _Watched(url, pid) as watched:
            started = time.perf_counter()
            result = _wait(client, _begin(client, folder / f"whole-{name}"), JOB_LIMIT_S)
            ingest_s = time.perf_counter() - started
            cancel_s = _cancelled_s(client, folder / f"cancelled-{name}")
        _begin(client, folder / f"stopped-{name}")
        time.sleep(INTERRUPT_S)
    process = psutil.Process(pid)
    started = time.perf_counter()
    process.terminate()
    process.wait(END_LIMIT_S)
    stop_s = time.perf_counter() - started
    growth_mb, children_mb = watched.growth_mb
    return Hostile(
        name, size_mb, _outcome(result), ingest_s, watched.slowest_s, growth_mb, children_mb, cancel_s, stop_s
    )


def _cancelled_s(client: httpx.Client, path: Path) -> float | None:
    job = _begin(client, path)
    time.sleep(INTERRUPT_S)
    if client.get(f"/ingest/{job}").json()["finished_at"]:
        return None
    started = time.perf_counter()
    client.delete(f"/ingest/{job}").raise_for_status()
    _wait(client, job, END_LIMIT_S)
    return time.perf_counter() - started


def _begin(client: httpx.Client, path: Path) -> str:
    reply = client.post("/ingest", json={"path": str(path)})
    reply.raise_for_status()
    return str(reply.json()["job"])


def _wait(client: httpx.Client, job: str, limit_s: float) -> dict[str, Any]:
    deadline = time.perf_counter() + limit_s
    while True:
        state: dict[str, Any] = client.get(f"/ingest/{job}").json()
        if state["finished_at"] or time.perf_counter() > deadline:
            return state
        time.sleep(SAMPLE_S)


def _outcome(state: dict[str, Any]) -> str:
    result = state["result"] or {}
    reasons = [entry["reason"] for name in ("left_out", "failed") for entry in result.get(name, ())]
    return "; ".join([f"{result.get('leaves', 0):,} leaves", *reasons]) if result else str(state["state"])


class _Watched:
    """Asks `/health` and looks at the memory of a service from a thread each while it is open."""

    def __init__(self, url: str, pid: int) -> None:
        self._url = url
        self._process = psutil.Process(pid)
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=watch, daemon=True) for watch in (self._ask, self._weigh)]
        self._before = self._highest = (0, 0)
        self.slowest_s = 0.0

    @property
    def growth_mb(self) -> tuple[float, float]:
        """Growth of the process, and of it with its children, in 10^6 bytes."""
        own, both = (high - low for high, low in zip(self._highest, self._before, strict=True))
        return own / MB, both / MB

    def __enter__(self) -> "_Watched":
        self._before = self._highest = self._memory()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _ask(self) -> None:
        with httpx.Client(base_url=self._url, timeout=END_LIMIT_S) as client:
            while not self._ended.wait(SAMPLE_S):
                started = time.perf_counter()
                client.get("/health")
                self.slowest_s = max(self.slowest_s, time.perf_counter() - started)

    def _weigh(self) -> None:
        while not self._ended.wait(2 * SAMPLE_S):
            own, both = self._memory()
            self._highest = max(self._highest[0], own), max(self._highest[1], both)

    def _memory(self) -> tuple[int, int]:
        own = self._process.memory_info().rss
        both = own
        for child in self._process.children(recursive=True):
            try:
                both += child.memory_info().rss
            except psutil.Error:
                continue
        return own, both
