"""Measure ingestion: the stock recipe and ours in turn, on the same files, each in a separate process.

Flow: `workload.py` (folders of text files) -> **here** -> table, JSON. `python -m bench ingest`.

Every run starts a program as a person would and ends with its exit, on an empty index folder. What is done once per
machine (converting the model, reading libraries from disk) is done before, by an untimed run on one document.
"""

import argparse
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from statistics import median

from bench.arguments import add_count, add_sets, choose_sets
from bench.datasets import DataSet
from bench.figures import MB, keep, made, made_on
from bench.speed.process import MAIN, Run, run_python, seconds_until_ready
from bench.speed.workload import Workload, read_texts, write_workload
from eval.argument_types import whole_number
from eval.progress_bar import tell
from eval.questions.files import read_cases
from eval.tables import ABSENT, aligned, spread
from index.embedding.model import load_embedding_model
from ingestion.reading.files import list_files
from ingestion.reading.reader import Reader
from settings import Settings

CORPUS = "bench"
STOCK_MODEL = "minilm"
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


@dataclass(slots=True)
class Measured:
    """One data set.

    Attributes:
        ours: our runs.
        stock: the stock recipe's on the same files, one per repeat.
        scaled: our runs on several times as many documents; None if there were none.
    """

    name: str
    ours: Ours
    stock: list[Ingested] = field(default_factory=list)
    scaled: Ours | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `python -m bench ingest`."""
    parser.description = (
        "Ingest the first documents of each set by the stock recipe and by ours in turn, each in a separate process "
        "and into an empty index. Files other than .txt and .md are converted to text first, untimed."
    )
    add_sets(parser)
    add_count(parser, "--documents", "how many", 60)
    add_count(parser, "--repeats", "runs of each", 3)
    parser.add_argument(
        "--scale",
        type=whole_number,
        help="also ingest K times as many by ours; where the set has fewer, documents are repeated with the words of "
        "each line shuffled",
        metavar="K",
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Measure each set, print one table."""
    sizes = {"documents": arguments.documents, "repeats": arguments.repeats, "scale": arguments.scale}
    measured = [measure_set(data_set, settings, **sizes) for data_set in choose_sets(arguments)]
    print(f"{table(measured)}\n\nMedian (smallest–largest) of {arguments.repeats} runs in turn. {made_on()}")
    keep("ingest", {one.name: json.loads(json.dumps(asdict(one), default=str)) for one in measured}, settings)
    return 0


def measure_set(data_set: DataSet, settings: Settings, *, documents: int, repeats: int, scale: int | None) -> Measured:
    """Ingest the data set's first documents by the stock recipe and by ours; `scale` times as many by ours as well.

    Raises:
        RagError: the corpus holds no document, or a program failed.
    """
    with tempfile.TemporaryDirectory(prefix="ingest-", dir=made(settings.bench.dir)) as folder:
        scratch = Path(folder).resolve()
        with Reader(settings.ingest) as reader:
            texts = list(islice(read_texts(list_files(data_set.corpus), reader), documents * (scale or 1)))
        workload = write_workload(texts, scratch / "documents", min(documents, len(texts)))
        measured = Measured(data_set.name, Ours(workload))
        if scale:
            measured.scaled = Ours(write_workload(texts, scratch / "more", workload.documents * scale))
        for ours in (measured.ours, measured.scaled):
            if ours:
                tell(f"{data_set.name}: {ours.workload.describe()}")
        programs = Programs(read_cases(data_set.questions)[0].question, load_embedding_model(STOCK_MODEL).folder)
        tell(f"{data_set.name}: warming up on one document, untimed")
        warm_up(programs, write_workload(texts, scratch / "one", 1).folder, scratch)
        return measure(measured, programs, scratch, repeats)


class Programs:
    """The programs as people start them, each in a separate process.

    Args:
        question: what is asked on the command line.
        model_dir: the model of the stock recipe.
    """

    def __init__(self, question: str, model_dir: Path) -> None:
        self._question = question
        self._model_dir = model_dir

    def stock(self, folder: Path, index: Path) -> Ingested:
        """Run `bench/baseline/llamaindex.py`; raises RagError."""
        run = run_python(["-m", "bench.baseline.llamaindex", str(folder), str(index), str(self._model_dir)], {})
        return _ingested(run, index)

    def ours(self, folder: Path, index: Path) -> Ingested:
        """Run `python -m ingestion`; raises RagError."""
        return _ingested(run_python(["-m", "ingestion", str(folder), "--corpus", CORPUS], _variables(index)), index)

    def query_s(self, index: Path) -> float:
        """Run `python -m query_engine`; raises RagError."""
        return run_python(["-m", "query_engine", "--corpus", CORPUS, "--", self._question], _variables(index)).wall_s

    def ready_s(self, index: Path) -> float:
        """Run `python main.py`; raises RagError."""
        return seconds_until_ready([str(MAIN)], _variables(index))


def measure(measured: Measured, programs: Programs, scratch: Path, repeats: int) -> Measured:
    """Fill `measured` with `repeats` runs of everything.

    Args:
        measured: names the workloads; its lists are empty.
        programs: what is measured.
        scratch: an empty folder for indexes.
        repeats: at least 1.

    Raises:
        RagError: a program failed, so its figures mean nothing.
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


def table(sets: Sequence[Measured]) -> str:
    """Return the table; the columns of the larger runs are there if they were measured.

    A cell is the median of the repeats, with the smallest and the largest in brackets. `better` is the stock recipe's
    median over ours, `growth` our median on the larger workload over that on the smaller.
    """
    scale = max(one.scaled.workload.documents // one.ours.workload.documents if one.scaled else 0 for one in sets)
    heads = ["set", "measure", "stock", "ours", "better", *([f"ours, ×{scale}", "growth"] if scale else [])]
    lines = []
    for measured in sets:
        larger = measured.scaled
        for label, digits, compared, of_run in _RUNS:
            stock, ours, grown = (
                [of_run(run) for run in runs]
                for runs in (measured.stock, measured.ours.first, larger.first if larger else [])
            )
            lines.append([measured.name, label, *_cells(stock, ours, grown, digits, compared=compared)])
        for label, digits, of_ours in _OURS:
            cells = _cells([], of_ours(measured.ours), of_ours(larger) if larger else [], digits)
            lines.append([measured.name, label, *cells])
    return aligned(heads, [line[: len(heads)] for line in lines], left=(0, 1))


_RUNS: list[tuple[str, int, bool, Callable[[Ingested], float]]] = [
    ("whole run, s", 1, True, lambda run: run.wall_s),
    ("leaves", 0, False, lambda run: run.leaves),  # those of two systems are not alike
    ("leaves/s", 1, False, lambda run: run.leaves / run.wall_s),
    ("CPU time, s", 1, True, lambda run: run.cpu_s),
    ("peak memory with children, MB", 0, True, lambda run: run.peak_mb),
    ("peak memory of the largest process, MB", 0, True, lambda run: run.largest_mb),
    ("index, MB", 1, True, lambda run: run.index_mb),
    ("index, kB/leaf", 2, True, lambda run: run.index_mb * 1000 / max(run.leaves, 1)),
]
_OURS: list[tuple[str, int, Callable[[Ours], Sequence[float]]]] = [
    ("documents", 0, lambda ours: [ours.workload.documents]),
    ("text, MB", 2, lambda ours: [ours.workload.text_mb]),
    ("run again, nothing changed, s", 1, lambda ours: [run.wall_s for run in ours.again]),
    ("leaves embedded by that", 0, lambda ours: [run.leaves for run in ours.again]),
    ("cold `query_engine`, s", 1, lambda ours: ours.query_s),
    ("`/ready` after start, s", 1, lambda ours: ours.ready_s),
]


def _cells(
    stock: Sequence[float], ours: Sequence[float], larger: Sequence[float], digits: int, *, compared: bool = False
) -> list[str]:
    better = _quotient(stock, ours) if compared else ABSENT
    return [spread(stock, digits), spread(ours, digits), better, spread(larger, digits), _quotient(larger, ours)]


def _quotient(dividend: Sequence[float], divisor: Sequence[float]) -> str:
    if not dividend or not divisor or not median(divisor):
        return ABSENT
    return f"×{median(dividend) / median(divisor):.2f}"
