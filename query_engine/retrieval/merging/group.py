"""A stretch of a document while passages are being chosen: a leaf, or several that became one.

Flow: `selection.py` and `neighbours.py` make and join these -> **here** -> `Passage`. A value, no rule.
"""

from dataclasses import dataclass, field, replace

from index.documents.span_tree import LEVEL_NAMES, chunk_id, node_id, split_node_id
from index.documents.store import StoredDocument
from query_engine.schema.hit import LeafHit
from query_engine.schema.passage import Passage


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

    @property
    def whole(self) -> bool:
        """Whether it is exactly one node of the tree."""
        span = self.document.tree[self.node]
        return (span.start, span.end) == (self.start, self.end)

    def passage(self) -> Passage:
        """Return it as a passage; of each score, that of its best leaf."""
        document, tree = self.document, self.document.tree
        scores = {"fused": self.score}
        for hit in self.hits:
            for name, value in hit.scores.items():
                scores[name] = max(value, scores.get(name, value))
        return Passage(
            node_id=node_id(document.version, self.node),
            chunk_id=chunk_id(document.doc_id, tree.ordinal_at(self.start)),
            doc_id=document.doc_id,
            title=document.title,
            url=document.url,
            level=LEVEL_NAMES[tree[self.node].level] if self.whole else "span",
            start=self.start,
            end=self.end,
            pages=document.pages_of(self.start, self.end),
            score=self.score,
            scores=scores,
            text=document.text[self.start : self.end],
            hits=tuple(self._placed(hit) for hit in self.hits),
            merged=self.merged,
            alone=self.alone,
            **document.origin(self.start),
        )

    def _placed(self, hit: LeafHit) -> LeafHit:
        span = self.document.tree[split_node_id(hit.node_id)[1]]
        return replace(hit, start=span.start, end=span.end)
