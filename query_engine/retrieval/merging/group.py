"""A stretch of a document while passages are being chosen: a leaf, or several that became one.

Flow: `retriever.py` and its rules make and join these -> passages. A value, no rule.
"""

from dataclasses import dataclass, field

from index.documents.store import StoredDocument
from query_engine.schema.hit import LeafHit


@dataclass(slots=True)
class Group:
    """A stretch of one document: a leaf, joined neighbours, or a whole parent.

    Attributes:
        node: position of the tree node it is, or begins with.
        hits: the leaves in it that were chosen, best first.
        ranks: the places of those leaves in the ranking, from 0, rising: `hits[i]` stood at `ranks[i]`.
        score: the best hit's: merging must never demote the leaf that earned the place.
        merged: why it is more than one leaf, for people; empty for a leaf.
        alone: why it was not joined with its neighbour, for people; empty where nothing stood beside it.
    """

    document: StoredDocument
    node: int
    start: int
    end: int
    hits: list[LeafHit] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    score: float = 0.0
    merged: str = ""
    alone: str = ""

    @property
    def chars(self) -> int:
        """Length of the text."""
        return self.end - self.start
