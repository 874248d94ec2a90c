"""A passage: a span of a document that was found for a question, with the scores that brought it here.

Flow: made by `retrieval/merging/group.py`, read by everything after it. A pure value.
"""

from dataclasses import dataclass, field
from typing import Any

from index.documents.edition import Edition, edition
from query_engine.schema.hit import LeafHit

DocumentKey = tuple[str, str]
"""Names a document among those of all corpora that were asked: corpus, empty where there is one, and `doc_id`."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A slice of a document.

    Attributes:
        node_id: the tree node; for joined neighbours the first of them.
        chunk_id: doc_id, `#`, five-digit ordinal of the passage's first leaf.
        level: `leaf`, `middle` or `root`; `span` for joined neighbouring nodes.
        start: offset of the first character in the document.
        end: offset after the last one; `text` is the document's text `[start:end]`.
        pages: zero-based indices of the pages it touches; empty for unpaged documents.
        score: what the list is ordered by, higher is better; comparable within one list only.
        scores: by scorer: `dense` (cosine, -1..1), `lexical` (BM25, 0 or more), `fused`, those of `fusion.SCORERS`
            and of rerankers; absent if the scorer did not see it. Of a merged passage the best of its leaves'.
        hits: the leaves it was chosen for, best first, each with what speaks for it.
        merged: why it is larger than one leaf, for people; empty for a leaf.
        alone: why it was not joined with the passage beside it, for people; empty where there is none.
        source_path: the document's file, relative to the ingested folder.
        content_type: name of the format that it was read from.
        chunk_index: ordinal of the passage's first leaf in the document, from 0.
        metadata: the document's own.
        corpus: that the document is from, where several were asked; else empty.
        asked_date: what the question says of when the document was written; empty if it says nothing, or another date.
    """

    node_id: str
    chunk_id: str
    doc_id: str
    title: str
    url: str | None
    level: str
    start: int
    end: int
    pages: tuple[int, ...]
    score: float
    scores: dict[str, float]
    text: str
    hits: tuple[LeafHit, ...] = field(default=())
    merged: str = ""
    alone: str = ""
    source_path: str = ""
    content_type: str = ""
    chunk_index: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)
    corpus: str = ""
    asked_date: str = ""

    @property
    def name(self) -> str:
        """Its document's title, and below it the date if the question names that."""
        return f"{self.title}\n{self.asked_date}" if self.asked_date else self.title

    @property
    def document(self) -> DocumentKey:
        """Names its document."""
        return self.corpus, self.doc_id

    @property
    def edition(self) -> Edition:
        """Which edition its document is, and when that was written."""
        return edition(self.title, self.doc_id, self.metadata)

    def overlaps(self, other: "Passage") -> bool:
        """Whether both hold some text of the same document in common."""
        return self.document == other.document and self.start < other.end and other.start < self.end
