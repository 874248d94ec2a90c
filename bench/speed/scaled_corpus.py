"""A corpus several times as large as another one, made without embedding anything.

Flow: an ingested corpus -> **here** -> the corpus that `latency.py` compares with it.

Each copy of a document has the words of every line shuffled, and its leaves the original's vectors, moved a little:
searches meet as many leaves as near to a question as they would in a corpus of that size on the same subjects.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
import numpy.typing as npt

from bench.speed.workload import shuffled
from index.corpus import Corpus
from index.documents.span_tree import node_id
from index.documents.store import StoredDocument

# Length of what is added to a unit vector: the cosine of a copy and its original is about 0.9.
NOISE = 0.5
BATCH = 32


def repeat_corpus(corpus: Corpus, larger: Corpus, times: int, tell: Callable[[str], None]) -> None:
    """Write every document of `corpus` into `larger`, which is empty, `times` times."""
    noise = np.random.default_rng(0)
    for copy in range(times):
        tell(f"{larger.name}: copy {copy + 1} of {times}")
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
