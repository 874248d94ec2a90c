"""Search the leaves of a corpus's small files exactly, beside the graph.

Flow: `chroma.py` -> **here** -> hits that it merges with those of the graph. Thousands of near-alike leaves, such as
the rows of one table, take each other's links in the graph; a few leaves of another subject are then stored, but
nothing leads to them, even with more search effort or more links (measured: 10 to 12 of 12 found beside 8,000 rows,
with 16 links a leaf as with 32, with 200 candidates as with 800; by `bench reach`, last in commit 59820e50).
"""

import time
from collections.abc import Collection as Several
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
import numpy.typing as npt

from index.documents.catalogue import Catalogue
from index.documents.span_tree import node_id, split_node_id
from index.documents.store import DocumentStore
from index.hits import Hits
from index.vectors.chroma import EF_SEARCH, Collection

# Leaves that are searched exactly: 6 MB at 384 dimensions, and a small part of the time of a search of the graph.
MAX_LEAVES = 4096
# Of more documents than this it takes too long to find the small files among them.
MAX_DOCUMENTS = 200_000
# While documents change, a new selection is made so seldom that making it takes 5 % of the time.
REST_FACTOR = 20

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Selection:
    """Leaves with their unit vectors, shape (leaves, dimension), of the corpus in one state."""

    state: str = ""
    names: list[str] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)
    rows: Vectors = field(default_factory=lambda: np.empty((0, 0), np.float32))


class SmallFiles:
    """The leaves of the files that have fewest, as many files as fit. Safe to search from many threads.

    Args:
        collection: holds the vectors. One on a server elsewhere is searched by its graph alone: fetching takes time.
        documents: tell when they change.
        catalogue: tells which files are small.
    """

    def __init__(self, collection: Collection, documents: DocumentStore, catalogue: Catalogue) -> None:
        self._collection = collection
        self._documents = documents
        self._catalogue = catalogue
        self._selection = _Selection()
        self._not_before_s = 0.0
        self._selecting = Lock()

    def nearest(self, embedding: Vectors, top_k: int, versions: Several[str] | None = None) -> Hits:
        """Return (node id, cosine similarity) of the nearest of these leaves, nearest first.

        Args:
            embedding: shape (dimension,).
            top_k: most leaves to return.
            versions: only leaves of these document versions, None meaning all.
        """
        selection = self.refresh()
        if not selection.names:
            return []
        unit = embedding / (np.linalg.norm(embedding) or 1.0)
        # By this thread alone: waking those of the matrix library takes longer than the work.
        scores = np.einsum("ij,j->i", selection.rows, unit)
        if versions is not None:
            scores[[version not in versions for version in selection.versions]] = -np.inf
        best = np.argpartition(-scores, min(top_k, len(scores)) - 1)[:top_k]
        best = best[np.argsort(-scores[best], kind="stable")]
        best = best[np.isfinite(scores[best])]
        return [(selection.names[place], score) for place, score in zip(best, scores[best].tolist(), strict=True)]

    def refresh(self) -> _Selection:
        """Select leaves if documents have changed, unless that was done a moment ago or another thread is at it."""
        state = self._documents.state()
        if self._selection.state != state and self._selecting.acquire(blocking=not self._selection.state):
            try:
                if self._selection.state != state and time.monotonic() >= self._not_before_s:
                    started_s = time.monotonic()
                    self._selection = self._select(state)
                    now_s = time.monotonic()
                    self._not_before_s = now_s + REST_FACTOR * (now_s - started_s)
            finally:
                self._selecting.release()
        return self._selection

    def _select(self, state: str) -> _Selection:
        names = [node_id(version, place) for version, places in self._places().items() for place in places]
        known = dict(zip(self._selection.names, self._selection.rows, strict=True))
        found = known | self._collection.fetch([name for name in names if name not in known])
        kept = [name for name in names if name in found]
        if not kept:
            return _Selection(state)
        return _Selection(
            state, kept, [split_node_id(name)[0] for name in kept], np.stack([found[name] for name in kept])
        )

    def _places(self) -> dict[str, range]:
        if not self._collection.near or self._documents.count() > MAX_DOCUMENTS:
            return {}
        # The graph search looks at all of so few.
        if self._documents.leaf_count() <= EF_SEARCH:
            return {}
        return self._catalogue.small_files(MAX_LEAVES)
