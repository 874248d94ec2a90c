"""Cut documents into the sections that questions are drafted from, by the structure stored beside their tree.

Flow: the corpus -> **here** -> `by_model.py`, `by_structure.py`. A section is what stands under one heading, in pieces
that a region can hold. Pure.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, zip_longest

from eval.cases import Region
from eval.nuggets import fold, name_region
from index.documents.store import StoredDocument
from index.documents.structure import Block

MAX_CHARS = 1500
MIN_WORDS = 12
# Their text is the file's: of other formats it depends on the reader, so their regions bring it with them.
AS_WRITTEN = frozenset({"markdown", "plain text"})


@dataclass(frozen=True, slots=True)
class Section:
    """`[start, end)` of a document.

    Attributes:
        headings: titles above it, the outermost first; the last is its own.
        blocks: without headings.
        begins: whether the heading stands right before it; a long section goes on in further pieces.
        region: the same place as questions name it.
    """

    document: StoredDocument
    start: int
    end: int
    headings: tuple[str, ...]
    blocks: tuple[Block, ...]
    begins: bool
    region: Region

    @property
    def text(self) -> str:
        """The section as it stands in the document."""
        return self.document.text[self.start : self.end].strip()

    @property
    def place(self) -> str:
        """Document and headings, for people."""
        return " › ".join((self.document.doc_id, *self.headings))

    def texts(self, kind: str) -> list[str]:
        """The texts of the blocks of a kind, without blanks at their ends."""
        return [self.document.text[slice(*block.inner)].strip() for block in self.blocks if block.kind == kind]

    def overlaps(self, doc_id: str, start: int, end: int) -> bool:
        """Whether a span of a document touches the section."""
        return doc_id == self.document.doc_id and start < self.end and self.start < end


def spread(documents: Iterable[StoredDocument]) -> list[Section]:
    """Return the sections of all documents, taken from each in turn, always in the same order."""

    def order(*names: object) -> bytes:
        return sha256(repr(names).encode("utf-8", "replace")).digest()

    groups = [
        sorted(sections_of(document), key=lambda one: order(one.document.doc_id, one.start))
        for document in sorted(documents, key=lambda one: order(one.doc_id))
    ]
    return [section for section in chain.from_iterable(zip_longest(*groups)) if section is not None]


def sections_of(document: StoredDocument) -> Iterator[Section]:
    """Yield the sections of a document that have enough words and can be named as a region, in order."""
    structure, folded = document.structure, fold(document.text)
    run: list[int] = []
    begins = True
    for place, block in enumerate(structure.blocks):
        if run and (block.kind == "heading" or block.end - structure.blocks[run[0]].start > MAX_CHARS):
            yield from _section(document, run, folded, begins=begins)
            begins = block.kind == "heading"
            run = []
        if block.kind != "front_matter":
            run.append(place)
    yield from _section(document, run, folded, begins=begins)


def _section(document: StoredDocument, run: list[int], folded: str, *, begins: bool) -> Iterator[Section]:
    blocks = [document.structure.blocks[place] for place in run]
    body = tuple(block for block in blocks if block.kind != "heading")
    if sum(len(document.text[slice(*block.inner)].split()) for block in body) < MIN_WORDS:
        return
    start, end = blocks[0].start, blocks[-1].inner[1]
    brings_text = document.content_type not in AS_WRITTEN
    if region := name_region(document.text[start:end], folded, document.doc_id, brings_text=brings_text):
        # A heading is not above itself.
        headings = document.structure.heading_path(run[-1], document.text)
        yield Section(document, start, end, headings, body, begins, region)
