"""A leaf that a search found, with everything that speaks for it.

Flow: made by `retrieval/fusion.py`, reordered by rerankers, read by `retrieval/merging/retriever.py` and by
explanations.
"""

from dataclasses import dataclass, field

# The share of the question's identifiers that a leaf names letter by letter, among `LeafHit.scores`.
IDENTIFIED = "identified"


@dataclass(slots=True)
class LeafHit:
    """A leaf and what speaks for it.

    Attributes:
        node_id: names the leaf.
        score: what hits are ordered by, higher is better; comparable within one search only.
        scores: by scorer; see `fusion.SCORERS` for what each means. `dense` (cosine, -1..1) is there whichever search
            found the leaf, unless only the lexical one was asked; `lexical` (BM25, 0 or more) is absent where that
            search did not find it.
        start: offset of its first character in the document; set when the leaf's document is read.
        end: offset after the last one.
        ranks: place in the ranking of each search that found it, and of each model and reranker that judged it, from 1.
    """

    node_id: str
    score: float
    scores: dict[str, float] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    start: int = 0
    end: int = 0

    @property
    def found(self) -> bool:
        """Whether a search found it; it is here because its neighbour was found otherwise."""
        return "dense" in self.ranks or "lexical" in self.ranks
