"""Measure ingestion: the stock recipe and ours in turn, on the same files, each in a separate process.

Flow: `workload.py` (folders of text files) -> **here** -> `ingest_table.py`, JSON.

Every run starts a program as a person would and ends with its exit, on an empty index folder. What is done once per
machine (converting the model, reading libraries from disk) is done before, by an untimed run on one document.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from bench.speed.process import MB, Run, run_python, seconds_until_ready
from bench.speed.workload import Workload

CORPUS = "bench"
BLOCK_BYTES = 512


@dataclass(frozen=True, slots=True)
class Ingested:
    """One ingestion.

    Attributes:
        wall_s: from start to exit of the process.
        cpu_s: of the process and its children.
        peak_mb: memory of the process and its children together.
        largest_mb: high-water mark of the largest of them.
        leaves: leaves embedded and stored.
        index_mb: what the index takes on the disk, in allocated blocks.
    """

    wall_s: float
    cpu_s: float
    peak_mb: float
    largest_mb: float
    leaves: int
    index_mb: float

    @property
    def leaves_per_s(self) -> float:
        """Leaves in the time of the whole process."""
        return self.leaves / self.wall_s

    @property
    def kb_per_leaf(self) -> float:
        """Disk per leaf, in 1,000 bytes."""
        return self.index_mb * 1000 / max(self.leaves, 1)


@dataclass(slots=True)
class Ours:
    """Our runs over one workload; each list has an entry per repeat.

    Attributes:
        first: into an empty index.
        again: the same command once more, with nothing changed.
        query_s: one question on the command line, from start to exit.
        ready_s: from the start of the service until `/ready` answers 200.
    """

    workload: Workload
    first: list[Ingested] = field(default_factory=list)
    again: list[Ingested] = field(default_factory=list)
    query_s: list[float] = field(default_factory=list)
    ready_s: list[float] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the runs as JSON-ready values."""
        return asdict(self) | {"workload": self.workload.to_dict()}


@dataclass(slots=True)
class Measured:
    """One data set.

    Attributes:
        ours: our runs.
        stock: the stock recipe's on the same files, one per repeat.
        scaled: our runs on `scale` times as many documents; None if there were none, and `scale` is 0.
    """

    name: str
    ours: Ours
    stock: list[Ingested] = field(default_factory=list)
    scaled: Ours | None = None
    scale: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the runs as JSON-ready values."""
        return {
            "stock": [asdict(run) for run in self.stock],
            "ours": self.ours.to_dict(),
            "scale": self.scale,
            "scaled": self.scaled.to_dict() if self.scaled else None,
        }


class Programs(Protocol):
    """What is measured; `Commands` starts the real programs."""

    def stock(self, folder: Path, index: Path) -> Ingested:
        """Ingest `folder` by the stock recipe into `index`."""

    def ours(self, folder: Path, index: Path) -> Ingested:
        """Ingest `folder` by ours into `index`."""

    def query_s(self, index: Path) -> float:
        """Ask one question on the command line."""

    def ready_s(self, index: Path) -> float:
        """Start the service and wait for `/ready`."""


class Commands:
    """The programs as people start them, each in a separate process.

    Args:
        question: what is asked on the command line.
        model_dir: the model of the stock recipe.
    """

    def __init__(self, question: str, model_dir: Path) -> None:
        self._question = question
        self._model_dir = model_dir

    def stock(self, folder: Path, index: Path) -> Ingested:
        """Run `bench/baseline/llamaindex.py`; raises ProgramFailedError."""
        run = run_python(["-m", "bench.baseline.llamaindex", str(folder), str(index), str(self._model_dir)], {})
        return _ingested(run, index)

    def ours(self, folder: Path, index: Path) -> Ingested:
        """Run `python -m ingestion`; raises ProgramFailedError."""
        return _ingested(run_python(["-m", "ingestion", str(folder), "--corpus", CORPUS], _variables(index)), index)

    def query_s(self, index: Path) -> float:
        """Run `python -m query_engine`; raises ProgramFailedError."""
        return run_python(["-m", "query_engine", "--corpus", CORPUS, "--", self._question], _variables(index)).wall_s

    def ready_s(self, index: Path) -> float:
        """Run `python main.py`; raises ProgramFailedError."""
        main = Path(__file__).parents[2] / "main.py"
        return seconds_until_ready([str(main)], _variables(index))


def measure(
    measured: Measured, programs: Programs, scratch: Path, repeats: int, tell: Callable[[str], None]
) -> Measured:
    """Fill `measured` with `repeats` runs of everything.

    Args:
        measured: names the workloads; its lists are empty.
        programs: what is measured.
        scratch: an empty folder for indexes.
        repeats: at least 1.
        tell: called with a line before each step.

    Raises:
        ProgramFailedError: a program failed, so its figures mean nothing.
    """

    def stock(number: int) -> None:
        tell(f"{measured.name}: stock, run {number + 1} of {repeats}")
        index = _empty(scratch / "stock")
        measured.stock.append(programs.stock(measured.ours.workload.folder, index))
        shutil.rmtree(index)

    def ours(number: int) -> None:
        tell(f"{measured.name}: ours, run {number + 1} of {repeats}")
        _measure_ours(measured.ours, programs, scratch / "ours")

    for number in range(repeats):
        # A machine that grows warm or busy must not favour the one that always goes first.
        for step in (stock, ours) if number % 2 == 0 else (ours, stock):
            step(number)
    for number in range(repeats if measured.scaled else 0):
        assert measured.scaled is not None, "nothing is repeated without it"
        tell(f"{measured.name}: ours, {measured.scaled.workload.documents} documents, run {number + 1} of {repeats}")
        _measure_ours(measured.scaled, programs, scratch / "ours")
    return measured


def warm_up(programs: Programs, folder: Path, scratch: Path) -> None:
    """Run both once, untimed: the model is converted, and the libraries are in the system's cache."""
    for step, name in ((programs.stock, "stock"), (programs.ours, "ours")):
        step(folder, _empty(scratch / name))


def _measure_ours(ours: Ours, programs: Programs, index: Path) -> None:
    ours.first.append(programs.ours(ours.workload.folder, _empty(index)))
    ours.again.append(programs.ours(ours.workload.folder, index))
    ours.query_s.append(programs.query_s(index))
    ours.ready_s.append(programs.ready_s(index))
    shutil.rmtree(index)


def _ingested(run: Run, index: Path) -> Ingested:
    # The last line: a program may tell its progress above it.
    leaves = json.loads(run.output.strip().splitlines()[-1])["leaves"]
    return Ingested(run.wall_s, run.cpu_s, run.peak_mb, run.largest_mb, leaves, allocated_mb(index))


def allocated_mb(folder: Path) -> float:
    """Return what everything below `folder` takes on the disk, in 10^6 bytes: blocks, as `du` counts them."""
    return sum(path.lstat().st_blocks for path in (folder, *folder.rglob("*"))) * BLOCK_BYTES / MB


def _variables(index: Path) -> dict[str, str]:
    return {
        "RAG_INDEX__DIR": str(index),
        "RAG_INDEX__CORPUS": CORPUS,
        "RAG_SERVE__PORT": "0",
        "RAG_LLM__PROVIDER": "extractive",
    }


def _empty(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
