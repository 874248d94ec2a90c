"""Places of whole documents that may be quoted: sentences, headings and rows, each inside its passage.

Flow: passages that were found -> **here** -> their documents -> `summary.py`, `rows.py`, `outcomes.py` choose places of
them -> **here** -> quotes. Value types only; the selection is made elsewhere.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from index.documents.store import StoredDocument
from query_engine.retrieval.merging.group import Group
from query_engine.schema.passage import Passage


@dataclass(frozen=True, slots=True)
class Extract:
    """A place of a document: `[start, end)` of its text, inside `passage`.

    Attributes:
        heading: what it stands under, for the answer to name; empty if it need not.
    """

    passage: Passage
    start: int
    end: int
    heading: str = ""

    @property
    def verbatim(self) -> str:
        """The text as it stands in the document."""
        return self.passage.text[self.start - self.passage.start : self.end - self.passage.start]

    @property
    def text(self) -> str:
        """Its words on one line."""
        return " ".join(self.verbatim.split())


def extract(document: StoredDocument, start: int, end: int, heading: str = "") -> Extract:
    """Return a place inside its leaf, which is widened if the place ends beyond it."""
    leaf = document.tree.leaves[document.tree.ordinal_at(start)]
    span = document.tree[leaf]
    return Extract(Group(document, leaf, span.start, max(span.end, end)).passage(), start, end, heading)


def passages_of(extracts: Iterable[Extract]) -> tuple[Passage, ...]:
    """Return the passages that extracts stand in, each once."""
    return tuple(
        {(one.passage.corpus, one.passage.chunk_id, one.passage.end): one.passage for one in extracts}.values()
    )
