"""Places of whole documents that may be quoted: sentences, headings and rows, each inside its passage.

Flow: passages that were found -> **here** -> their documents -> `summary.py`, `rows.py`, `outcomes.py` choose places of
them -> **here** -> quotes. Value types only; the selection is made elsewhere.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from index.documents.span_tree import split_node_id
from index.documents.store import StoredDocument
from query_engine.retrieval.merging.group import Group
from query_engine.schema.passage import Passage

DocumentsOf = Callable[[Iterable[str]], Mapping[str, StoredDocument]]
"""Versions -> documents, as `DocumentStore.get_versions`."""


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
    return tuple({(one.passage.chunk_id, one.passage.end): one.passage for one in extracts}.values())


def documents_of(passages: Sequence[Passage], documents: DocumentsOf) -> list[StoredDocument]:
    """Return the documents that passages are from, in their order, each once; without those that are gone."""
    versions = dict.fromkeys(split_node_id(passage.node_id)[0] for passage in passages)
    known = documents(versions)
    return [known[version] for version in versions if version in known]
