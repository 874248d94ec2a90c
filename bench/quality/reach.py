"""Measure reach: of the leaves of a corpus, how many a search for their own vector finds.

Flow: a crowded corpus, made here from a seed, or a data set's -> **here** -> Markdown table, JSON.

A leaf is reached when it is among the first 10 hits for its vector; leaves with equal vectors count as one. It is
measured twice: with the graph alone, and as questions are answered, with small files searched exactly.
"""

import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from index.corpus import Corpus
from index.documents.span_tree import node_id, split_node_id

FIRST = 10
# Cosine from which two vectors are one.
EQUAL = 1 - 1e-6
SAMPLE = 2000
SUBJECTS = (
    ("badgers", "Badgers dig long burrows called setts. They sleep by day and eat earthworms at night."),
    ("espresso", "An espresso is brewed at nine bar. Water passes the ground coffee in thirty seconds."),
    ("etna", "Mount Etna erupts nearly every year. Its lava has buried several villages."),
    ("violin", "A violin has four strings, tuned in fifths. Its bow is strung with horsehair."),
    ("lyon", "The warehouse in Lyon closes at six. Returned goods are inspected by Madame Durand."),
    ("bread", "Bread dough rises for two hours at room temperature before it is folded."),
    ("westphalia", "The treaty of 1648 ended the war in Westphalia."),
    ("leaves", "Photosynthesis turns light into sugar in the leaves of plants."),
    ("mortgage", "A mortgage is repaid over thirty years, with interest."),
    ("offside", "The offside rule forbids a forward to wait behind the last defender."),
    ("penguins", "Penguins huddle to keep warm in the Antarctic winter."),
    ("units", "Units are inspected in building seven. Their status is reported in March."),
)

Find = Callable[[npt.NDArray[np.float32], int], list[tuple[str, float]]]


@dataclass(frozen=True, slots=True)
class Reach:
    """Searches for leaves by their own vectors.

    Attributes:
        way: how they were searched.
        leaves: how many were searched for.
        reached: how many of them were found.
        small: how many of them belong to the small files.
        small_reached: how many of those were found.
        p50_ms: of one search for 10 leaves.
    """

    way: str
    leaves: int
    reached: int
    small: int
    small_reached: int
    p50_ms: float

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready values."""
        return asdict(self)


def write_crowded(folder: Path, rows: int, seed: int) -> None:
    """Write a table of near-alike rows, each a document, and a few small documents of other subjects."""
    folder.mkdir(parents=True)
    dice = random.Random(seed)  # noqa: S311  # rows, not secrets
    lines = [f"{row},Status of unit {row}: {dice.choice(('ok', 'ok', 'late'))}." for row in range(rows)]
    (folder / "rows.csv").write_text("\n".join(["id,text", *lines]) + "\n")
    for name, text in SUBJECTS:
        (folder / f"{name}.md").write_text(f"# {name.title()}\n\n{text}\n")


def measure(corpus: Corpus, seed: int = 0) -> list[Reach]:
    """Search for up to 2,000 leaves of the corpus and for all of its small files, with the graph alone and as it is."""
    places = corpus.leaf_places()
    names = [node_id(version, place) for version, positions in places.items() for place in positions]
    largest = _largest_source(corpus)
    others = [name for name in names if split_node_id(name)[0] not in largest]
    small = set(others if len(others) <= SAMPLE else [])
    chosen = np.random.default_rng(seed).choice(len(names), min(SAMPLE, len(names)), replace=False)
    sample = sorted({*(names[place] for place in chosen), *small})
    vectors = corpus.vectors.fetch(sample)
    return [
        _measured("graph alone", corpus.vectors.search_graph, vectors, small),
        _measured("as questions are answered", corpus.vectors.search, vectors, small),
    ]


def table(corpora: Mapping[str, tuple[float, Sequence[Reach]]]) -> str:
    """Return one row a corpus and way of searching; each corpus comes with the seconds that its ingestion took."""
    lines = [
        "| corpus | ingestion, s | search | leaves | reach | small files' leaves | reached | one search, p50, ms |",
        "|---|---:|---|---:|---:|---:|---:|---:|",
    ]
    for name, (ingestion_s, found) in corpora.items():
        for one in found:
            reach = f"{one.reached / one.leaves:.4f}" if one.leaves else "–"
            lines.append(
                f"| {name} | {ingestion_s:.1f} | {one.way} | {one.leaves:,} | {reach} | {one.small} | "
                f"{one.small_reached} | {one.p50_ms:.2f} |"
            )
    return "\n".join(lines)


def _largest_source(corpus: Corpus) -> set[str]:
    """Return the versions of the documents of the file with most leaves."""
    places = corpus.leaf_places()
    sources: dict[str, list[str]] = {}
    for document in corpus.documents.each():
        sources.setdefault(document.source, []).append(document.version)
    most = max(sources.values(), key=lambda versions: sum(len(places[version]) for version in versions), default=[])
    return set(most)


def _measured(way: str, find: Find, vectors: dict[str, npt.NDArray[np.float32]], small: set[str]) -> Reach:
    reached, took_ms = set(), []
    for name, vector in vectors.items():
        started_s = time.perf_counter()
        hits = find(vector, FIRST)
        took_ms.append(1000 * (time.perf_counter() - started_s))
        if hits and (hits[0][1] > EQUAL or name in dict(hits)):
            reached.add(name)
    p50_ms = statistics.median(took_ms) if took_ms else 0.0
    return Reach(way, len(vectors), len(reached), len(small), len(small & reached), p50_ms)
