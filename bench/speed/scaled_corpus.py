"""A corpus several times as large as another one, made without embedding anything.

Flow: an ingested corpus -> **here** -> the corpus that `latency.py` compares with it.

Each copy of a document has the words of every line shuffled, and its leaves the original's vectors, moved a little:
searches meet as many leaves as near to a question as they would in a corpus of that size on the same subjects.
"""

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice

import numpy as np
import numpy.typing as npt

from bench.build import CORPUS, with_index
from bench.speed.workload import shuffled
from eval.progress_bar import tell
from index.build import open_corpus
from index.corpus import Corpus
from index.documents.span_tree import node_id
from index.documents.store import StoredDocument
from settings import Settings

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
                repeat_corpus(corpus, larger, range(part * times, (part + 1) * times))
                return name
        shutil.rmtree(settings.index.dir / name)  # one that was left half-made, or is of other documents
    raise AssertionError("an empty corpus was filled")


def repeat_corpus(corpus: Corpus, larger: Corpus, copies: range) -> None:
    """Write copies of every document of `corpus` into `larger`, which is empty; copy 0 is the original."""
    noise = np.random.default_rng(copies.start)
    for copy in copies:
        tell(f"{larger.name}: copy {copy + 1} of {copies.stop}")
        documents = corpus.documents.each()
        while batch := list(islice(documents, BATCH)):
            names = [node_id(document.version, position) for document in batch for position in document.tree.leaves]
            vectors = corpus.vectors.fetch(names)
            original = np.stack([vectors[name] for name in names])
            larger.replace(list(_copies(batch, copy)), moved(original, noise) if copy else original)


def moved(vectors: npt.NDArray[np.float32], noise: np.random.Generator) -> npt.NDArray[np.float32]:
    """Return unit vectors near these, shape (vectors, dimension)."""
    near = vectors + noise.normal(scale=NOISE / vectors.shape[1] ** 0.5, size=vectors.shape)
    unit: npt.NDArray[np.float32] = (near / np.linalg.norm(near, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _copies(documents: list[StoredDocument], copy: int) -> Iterator[StoredDocument]:
    for document in documents:
        text = shuffled(document.text.encode(), copy).decode() if copy else document.text
        renamed = replace(document, doc_id=f"copy{copy}/{document.doc_id}", text=text)
        yield replace(renamed, version=renamed.hash("repeated"))
