"""The passage tree of one document, as character spans over its text.

Flow: ingestion cuts a document -> **this tree** -> stored with the document -> retrieval slices text from it.

A node is (level, start, end, parent): its text is a slice, so text is stored once and a citation is a span.
Offsets are absolute, unlike LlamaIndex's leaf offsets, which are relative to the parent. This module knows
nothing of how a tree is cut (`index/documents/splitter.py`) or stored (`index/documents/store.py`).
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

LEVEL_NAMES = ("root", "middle", "leaf")
LEAF = len(LEVEL_NAMES) - 1
NO_PARENT = -1


class Span(NamedTuple):
    """One node: text `[start, end)` of the document; `parent` is a position in the tree, -1 for roots."""

    level: int
    start: int
    end: int
    parent: int


class SpanTree:
    """All nodes of one document: roots, then middles, then leaves, each level in document order.

    A node's position in this sequence is its identity within the document.

    Args:
        spans: parents stand before their children; leaves are all on the last level.
    """

    def __init__(self, spans: Sequence[Span]) -> None:
        self.spans = tuple(spans)

    def __len__(self) -> int:
        return len(self.spans)

    def __getitem__(self, position: int) -> Span:
        return self.spans[position]

    @cached_property
    def first_leaf(self) -> int:
        """Position of the first leaf; equals `len(self)` for an empty document."""
        return next((i for i, span in enumerate(self.spans) if span.level == LEAF), len(self.spans))

    @cached_property
    def leaves(self) -> range:
        """Positions of the leaves, in document order."""
        return range(self.first_leaf, len(self.spans))

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """Positions of each node's children, in document order; leaves are absent."""
        table: dict[int, list[int]] = {}
        for position, span in enumerate(self.spans):
            if span.parent != NO_PARENT:
                table.setdefault(span.parent, []).append(position)
        return table

    def ordinal_at(self, offset: int) -> int:
        """Ordinal (0 = first leaf) of the last leaf that starts at or before `offset`; 0 before the first."""
        starts = [self.spans[leaf].start for leaf in self.leaves]
        return max(0, bisect_right(starts, offset) - 1)

    def to_bytes(self) -> bytes:
        """Pack as little-endian int32 rows of (level, start, end, parent)."""
        rows = [(span.level, span.start, span.end, span.parent) for span in self.spans]
        return np.array(rows, dtype="<i4").reshape(-1, 4).tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> "SpanTree":
        """Unpack what `to_bytes` made."""
        rows = np.frombuffer(data, dtype="<i4").reshape(-1, 4).tolist()
        return cls([Span._make(row) for row in rows])


def first_leaf(tree: bytes) -> int:
    """Return the position of the first leaf of a packed tree, which equals the number of its roots and middles."""
    return int(np.searchsorted(np.frombuffer(tree, dtype="<i4")[::4], LEAF))


def parent_vectors(tree: SpanTree, leaves: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the unit vectors of a tree's roots and middles: the mean of each one's leaves, at unit length.

    Args:
        tree: of one document.
        leaves: unit vectors of its leaves, shape (leaves, dimension).

    Returns:
        Shape (parents, dimension); row i belongs to position i of the tree.
    """
    sums = np.zeros((len(tree), leaves.shape[1]), np.float32)
    sums[tree.first_leaf :] = leaves
    parents = np.array([span.parent for span in tree.spans])
    levels = np.array([span.level for span in tree.spans])
    for level in range(LEAF, 0, -1):
        children = np.flatnonzero(levels == level)
        np.add.at(sums, parents[children], sums[children])
    above = sums[: tree.first_leaf]
    lengths = np.linalg.norm(above, axis=1, keepdims=True)
    unit: npt.NDArray[np.float32] = (above / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit


def node_id(version: str, position: int) -> str:
    """Name a node: the document version's hash, a dot, the node's position in the tree."""
    return f"{version}.{position}"


def split_node_id(name: str) -> tuple[str, int]:
    """Return (version, position) of a node id.

    Raises:
        ValueError: `name` is not a node id.
    """
    version, _, position = name.rpartition(".")
    return version, int(position)


def chunk_id(doc_id: str, ordinal: int) -> str:
    """Name a passage for people: the document and the five-digit ordinal of the passage's first leaf."""
    return f"{doc_id}#{ordinal:05d}"
