"""Sections of a corpus that questions are drafted from: what stands under one heading, as a region can hold it.

Flow: the corpus -> **here** -> `writing.py`. Pure.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, zip_longest
from typing import NamedTuple

from eval.cases import Region
from eval.nuggets import fold, name_region
from index.documents.store import StoredDocument

MAX_CHARS, MIN_WORDS = 1500, 12  # of a section
# Their text is the file's: of other formats it depends on the reader, so their regions bring it with them.
AS_WRITTEN = frozenset({"markdown", "plain text"})


class Leaf(NamedTuple):
    """What a search found."""

    doc_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """`[start, end)` of a document.

    Attributes:
        headings: titles above it, the outermost first; the last is its own.
        region: the same place as questions name it.
    """

    document: StoredDocument
    start: int
    end: int
    headings: tuple[str, ...]
    region: Region

    @property
    def text(self) -> str:
        """The section as it stands in the document."""
        return self.document.text[self.start : self.end].strip()

    @property
    def place(self) -> str:
        """Document and headings, for people."""
        return " › ".join((self.document.doc_id, *self.headings))

    def overlaps(self, leaf: Leaf) -> bool:
        """Whether what a search found touches the section."""
        return leaf.doc_id == self.document.doc_id and leaf.start < self.end and self.start < leaf.end


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
    for place, block in enumerate(structure.blocks):
        if run and (block.kind == "heading" or block.end - structure.blocks[run[0]].start > MAX_CHARS):
            yield from _section(document, run, folded)
            run = []
        if block.kind != "front_matter":
            run.append(place)
    yield from _section(document, run, folded)


def _section(document: StoredDocument, run: list[int], folded: str) -> Iterator[Section]:
    blocks = [document.structure.blocks[place] for place in run]
    words = (len(document.text[slice(*block.inner)].split()) for block in blocks if block.kind != "heading")
    if sum(words) < MIN_WORDS:
        return
    start, end = blocks[0].start, blocks[-1].inner[1]
    brings_text = document.content_type not in AS_WRITTEN
    if region := name_region(document.text[start:end], folded, document.doc_id, brings_text=brings_text):
        # A heading is not above itself.
        headings = document.structure.heading_path(run[-1], document.text)
        yield Section(document, start, end, headings, region)
