"""Corpora made of another one without embedding anything: several times as large, or divided into parts.

Flow: an ingested corpus -> **here** -> the corpora that `speed/growth.py` and `quality/retrieval.py` compare with it.

Each copy of a document has the words of every line shuffled, and its leaves the original's vectors, moved a little:
searches meet as many leaves as near to a question as they would in a corpus of that size on the same subjects.
"""

import random
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice

import numpy as np
import numpy.typing as npt

from bench.build import CORPUS, with_index
from eval.progress_bar import tell
from index.build import open_corpus
from index.corpus import Corpus, joined_name
from index.documents.span_tree import node_id
from index.documents.store import StoredDocument
from query_engine.build import Engines
from query_engine.engine import Engine
from settings import Settings

Vectors = npt.NDArray[np.float32]

# Length of what is added to a unit vector: the cosine of a copy and its original is about 0.9.
NOISE = 0.5
BATCH = 32


def larger_corpus(corpus: Corpus, settings: Settings, set_name: str, times: int, part: int = 0) -> str:
    """Make the larger corpus, or another part of one, unless it is there; return its name."""
    settings, name = with_index(settings, set_name), f"{CORPUS}-x{times}" + (f"-{part}" if part else "")
    for _ in range(2):
        with closing(open_corpus(name, settings, corpus.manifest, create=True)) as larger:
            if larger.documents.count() == times * corpus.documents.count():
                return name
            if not larger.documents.count():
                _repeat(corpus, larger, range(part * times, (part + 1) * times))
                return name
        shutil.rmtree(settings.index.dir / name)  # one that was left half-made, or is of other documents
    raise AssertionError("an empty corpus was filled")


def join_divided(engines: Engines, settings: Settings, set_name: str, count: int) -> Engine:
    """Split the default corpus into `count` new corpora; return an engine that reads all of them.

    Raises:
        RagError: from the stores.
    """
    whole, settings = engines.get().corpus, with_index(settings, set_name)
    names = [f"{CORPUS}-{place + 1}of{count}" for place in range(count)]
    for place, name in enumerate(names):
        tell(f"{name}: part {place + 1} of {count}")
        shutil.rmtree(settings.index.dir / name, ignore_errors=True)
        with closing(open_corpus(name, settings, whole.manifest, create=True)) as part:
            for batch, vectors in _batches(whole, islice(whole.documents.each(), place, None, count)):
                part.replace(batch, vectors)
    return engines.get(joined_name(names))


def _repeat(corpus: Corpus, larger: Corpus, copies: range) -> None:
    """Write copies of every document of `corpus` into `larger`, which is empty; copy 0 is the original."""
    noise = np.random.default_rng(copies.start)
    for copy in copies:
        tell(f"{larger.name}: copy {copy + 1} of {copies.stop}")
        for batch, vectors in _batches(corpus, corpus.documents.each()):
            larger.replace(list(_copies(batch, copy)), moved(vectors, noise) if copy else vectors)


def _batches(corpus: Corpus, documents: Iterator[StoredDocument]) -> Iterator[tuple[list[StoredDocument], Vectors]]:
    """Yield some of the documents at a time, with the vectors of their leaves in order, shape (leaves, dimension)."""
    while batch := list(islice(documents, BATCH)):
        names = [node_id(document.version, position) for document in batch for position in document.tree.leaves]
        vectors = corpus.vectors.fetch(names)
        yield batch, np.stack([vectors[name] for name in names])


def moved(vectors: Vectors, noise: np.random.Generator) -> Vectors:
    """Return unit vectors near these, shape (vectors, dimension)."""
    near = vectors + noise.normal(scale=NOISE / vectors.shape[1] ** 0.5, size=vectors.shape)
    unit: Vectors = (near / np.linalg.norm(near, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _copies(documents: list[StoredDocument], copy: int) -> Iterator[StoredDocument]:
    for document in documents:
        text = shuffled(document.text.encode(), copy).decode() if copy else document.text
        renamed = replace(document, doc_id=f"copy{copy}/{document.doc_id}", text=text)
        yield replace(renamed, version=renamed.hash("repeated"))


def shuffled(data: bytes, seed: int) -> bytes:
    """Return the text with the words of each line in another order, the same for the same seed."""
    shuffle = random.Random(seed).shuffle  # noqa: S311  # an order, not a secret

    def mix(line: bytes) -> bytes:
        words = re.split(rb"( +)", line)
        order = words[::2]
        shuffle(order)
        words[::2] = order
        return b"".join(words)

    return b"\n".join(mix(line) for line in data.split(b"\n"))
