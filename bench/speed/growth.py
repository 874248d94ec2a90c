"""Measure what a question costs in a corpus as it grows: time, CPU, memory, disk and opening. `python -m bench growth`.

Flow: `build.py` has an index, `made_corpora.py` makes larger ones -> **here** opens each in a process of its own,
which asks every question -> table, JSON.

A retrieval and a whole answer are timed in turn, each by the clock and by the CPU that all threads took. Then a corpus
that is asked alone is kept as its owner does: listed, filtered, given one document more, deprived of it, backed up.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from bench.arguments import add_sets, choose_sets
from bench.build import CORPUS, open_engine, service_variables, with_index
from bench.datasets import DataSet
from bench.figures import MB, keep, made_on, percentile
from bench.made_corpora import larger_corpus
from bench.speed.process import program_failed, start_python
from eval.argument_types import whole_number
from eval.progress_bar import tell
from eval.questions.files import read_cases
from eval.tables import aligned, figure
from index.build import Embeddings
from index.corpus import Corpus
from index.maintenance.backup import backup
from ingestion.schema import RunOptions
from settings import Settings

UPKEEP = ("newest documents", "documents by title", "counts", "one document more", "its deletion", "backup")
PAGE, ADDED = 100, "added-for-a-moment.md"
# Each question is asked twice, and must be embedded each time.
FORGETFUL = {"RAG_EMBED__KEPT_VECTORS": "0"}


@dataclass(frozen=True, slots=True)
class Grown:
    """What questions cost in corpora that are read as one.

    Attributes:
        corpora: how many there are.
        documents, leaves: of all of them.
        open_s: from the start of the process, models loaded, to the first answer.
        memory_mb, disk_mb: of the process, at its end; of the corpora's folders.
        retrieve_ms, answer_ms: by the clock, one entry a question.
        retrieve_cpu_ms, answer_cpu_ms: of all threads, on average.
        upkeep_ms: what was done to it -> how long that took; empty for several corpora.
    """

    corpora: int
    documents: int
    leaves: int
    open_s: float
    memory_mb: float
    disk_mb: float
    retrieve_ms: list[float]
    answer_ms: list[float]
    retrieve_cpu_ms: float
    answer_cpu_ms: float
    upkeep_ms: dict[str, float]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `python -m bench growth`."""
    parser.description = (
        "Ask the corpus of each set, then corpora several times as large: documents repeated with the words of each "
        "line shuffled, their vectors moved a little. Larger corpora are kept and used again."
    )
    add_sets(parser)
    parser.add_argument("--scale", type=whole_number, nargs="+", default=[10, 30], metavar="K", help="default: 10 30")
    parser.add_argument(
        "--parts", type=whole_number, metavar="N", help="also read the last size as N corpora, of as many copies each"
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Measure each set, print one table."""
    measured = {one.name: measure(one, settings, arguments.scale, arguments.parts) for one in choose_sets(arguments)}
    print(f"{table(measured)}\n\n{made_on()}")
    keep("growth", {name: [asdict(one) for one in rows] for name, rows in measured.items()}, settings)
    return 0


def measure(data_set: DataSet, settings: Settings, scales: Sequence[int], parts: int | None) -> list[Grown]:
    """Ask the corpus of a set, and larger ones, from the smallest to the largest.

    Raises:
        RagError: an index cannot be built, or a program failed.
    """
    with open_engine(data_set, settings) as engine:
        names = [[CORPUS], *([larger_corpus(engine.corpus, settings, data_set.name, scale)] for scale in scales)]
        if parts:
            copies = scales[-1] // parts
            shards = [larger_corpus(engine.corpus, settings, data_set.name, copies, part) for part in range(parts)]
            names.append(shards)
    return [_asked(data_set, settings, corpora) for corpora in names]


def _asked(data_set: DataSet, settings: Settings, corpora: Sequence[str]) -> Grown:
    tell(f"{data_set.name}: asking {'+'.join(corpora)}")
    arguments = ["-m", __spec__.name, "+".join(corpora), str(data_set.questions)]
    variables = service_variables(settings, data_set.name) | FORGETFUL
    process = start_python(arguments, variables, stdout=subprocess.PIPE, stderr=None)
    output, _ = process.communicate()
    if process.returncode:
        raise program_failed(arguments, "failed", "see above")
    folders = [with_index(settings, data_set.name).index.dir / name for name in corpora]
    disk = sum(file.stat().st_size for folder in folders for file in folder.rglob("*") if file.is_file())
    return Grown(corpora=len(corpora), disk_mb=disk / MB, **json.loads(output))


def table(measured: Mapping[str, Sequence[Grown]]) -> str:
    """Return the table, a column for each size."""
    lines = []
    for name, rows in measured.items():
        for label, value, digits in _MEASURES:
            lines.append([name, label, *(figure(value(row), digits) for row in rows)])
        lines += [[name, f"{label}, ms", *(figure(row.upkeep_ms.get(label), 0) for row in rows)] for label in UPKEEP]
    sizes = max(map(len, measured.values()))
    return aligned(["set", "measure", *[f"size {number + 1}" for number in range(sizes)]], lines, left=(0, 1))


_MEASURES: tuple[tuple[str, Callable[[Grown], float], int], ...] = (
    ("corpora", lambda one: one.corpora, 0),
    ("documents", lambda one: one.documents, 0),
    ("leaves", lambda one: one.leaves, 0),
    ("disk, MB", lambda one: one.disk_mb, 0),
    ("memory, MB", lambda one: one.memory_mb, 0),
    ("opening and first answer, s", lambda one: one.open_s, 1),
    ("one retrieval, p50, ms", lambda one: percentile(one.retrieve_ms, 50), 1),
    ("one retrieval, p95, ms", lambda one: percentile(one.retrieve_ms, 95), 1),
    ("one answer, p50, ms", lambda one: percentile(one.answer_ms, 50), 1),
    ("one answer, p95, ms", lambda one: percentile(one.answer_ms, 95), 1),
    ("CPU of a retrieval, ms", lambda one: one.retrieve_cpu_ms, 1),
    ("CPU of an answer, ms", lambda one: one.answer_cpu_ms, 1),
    ("CPU of an answer / of a retrieval", lambda one: one.answer_cpu_ms / one.retrieve_cpu_ms, 1),
)


def ask(corpus: str, questions: Sequence[str]) -> dict[str, Any]:
    """Open a corpus of the settings in this process and ask; return the rest of a `Grown`."""
    import asyncio  # noqa: PLC0415  # only the process that asks needs these

    from query_engine.build import Engines  # noqa: PLC0415
    from query_engine.inquiry import Inquiry  # noqa: PLC0415
    from settings import load_settings  # noqa: PLC0415

    with closing(Engines(load_settings())) as engines:
        _ = engines.embedder
        started = time.perf_counter()
        engine = engines.get(corpus)

        async def answer(question: str) -> None:
            async for _ in engine.stream(Inquiry(question)):
                pass

        asyncio.run(answer(questions[0]))
        open_s = time.perf_counter() - started
        ways: dict[str, Callable[[str], object]] = {
            "retrieve": lambda question: engine.retrieve(Inquiry(question)),
            "answer": lambda question: asyncio.run(answer(question)),
        }
        took: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
        for question in questions:
            for way, run_once in ways.items():
                clock, cpu = time.perf_counter(), time.process_time()
                run_once(question)
                took[way].append((time.perf_counter() - clock, time.process_time() - cpu))
        found = {
            "documents": engine.corpus.documents.count(),
            "leaves": engine.corpus.documents.leaf_count(),
            "open_s": open_s,
            "memory_mb": psutil.Process().memory_info().rss / MB,
            **{f"{way}_ms": [1000 * clock for clock, _ in pairs] for way, pairs in took.items()},
            **{f"{way}_cpu_ms": 1000 * statistics.mean(cpu for _, cpu in pairs) for way, pairs in took.items()},
            "upkeep_ms": {} if "+" in corpus else _upkeep(engine.corpus, engines.embeddings),
        }
    if found["upkeep_ms"]:
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "backup.tar.gz"
            found["upkeep_ms"]["backup"] = _took_ms(lambda: backup(corpus, load_settings(), target))
    return found


def _upkeep(corpus: Corpus, embeddings: Embeddings) -> dict[str, float]:
    """List, filter, bring in and delete; return how long each took."""
    from ingestion.build import ingest_into  # noqa: PLC0415  # see below
    from settings import load_settings  # noqa: PLC0415

    listed = corpus.catalogue
    filters = {"filters": [{"key": "title", "operator": "text_match_insensitive", "value": "heat"}]}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / ADDED).write_text("# Added\n\nIt is here for a moment.", encoding="utf-8")

        bring_in = partial(ingest_into, corpus, Path(folder).resolve(), load_settings(), embeddings)
        steps: tuple[Callable[[], object], ...] = (
            lambda: listed.briefs(limit=PAGE, newest=True),
            lambda: listed.briefs(limit=PAGE, filters=filters),
            listed.statistics,
            lambda: bring_in(options=RunOptions(), on_progress=lambda _: None, stop=threading.Event()),
            lambda: corpus.delete([ADDED]),
        )
        return dict(zip(UPKEEP, map(_took_ms, steps), strict=False))


def _took_ms(step: Callable[[], object]) -> float:
    started = time.perf_counter()
    step()
    return 1000 * (time.perf_counter() - started)


if __name__ == "__main__":
    json.dump(ask(sys.argv[1], [case.question for case in read_cases(Path(sys.argv[2]))]), sys.stdout)
