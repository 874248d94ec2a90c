"""Sections of a corpus, the questions drafted from them, and the checks that a question has to pass.

Flow: the corpus -> **here**, sections -> `by_model.py`, `by_structure.py` -> candidates -> **here** -> drafts, which
`command.py` writes. A section is what stands under one heading, in pieces that a region can hold. Of a question that
is kept the facts stand in its region, search reaches it, and it is new; what is dropped is counted by reason.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain, zip_longest
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from eval.cases import Case, Nugget, Region
from eval.nuggets import fold, name_region, recalls
from index.documents.store import StoredDocument
from index.documents.structure import Block

NEAR_MISS = "near_miss"
STRUCTURE = "structure"
SAME_QUESTION = 0.95  # questions whose vectors have at least this cosine ask the same
DEPTH = 50  # no setting of the service finds what is not among this many leaves
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


class Draft(Case):
    """A question that was drafted; `eval run` asks it as any other.

    Attributes:
        drafted_by: the model, or `structure`.
        source: what it was drafted from, for people.
        language: of the question, ISO 639; empty: the documents'.
        reviewed: whether a person kept it.
    """

    drafted_by: str = ""
    source: str = ""
    language: str = ""
    reviewed: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question before it is checked.

    Attributes:
        kind: becomes the category.
        answer: None for a near miss.
        nuggets: none for a near miss.
        sections: that answer it, together.
        language: of the question; empty: the documents'.
    """

    kind: str
    question: str
    answer: str | None
    nuggets: tuple[Nugget, ...]
    sections: tuple[Section, ...]
    language: str = ""


@dataclass
class Checks:
    """Turns candidates into drafts, and counts those that it drops.

    Attributes:
        find: question -> the leaves that a search finds, best first.
        embed: question -> vector of unit length.
        by: who drafts.
        drafts: those that passed, in order.
        dropped: the others, by reason.
    """

    find: Callable[[str], Sequence[Leaf]]
    embed: Callable[[str], Sequence[float]]
    by: str
    drafts: list[Draft] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    _vectors: list[npt.NDArray[np.float32]] = field(default_factory=list)
    _facts: set[tuple[str, ...]] = field(default_factory=set)

    def take(self, candidate: Candidate) -> bool:
        """Keep a candidate as a draft if it passes; return whether it did."""
        nuggets = _standing(candidate)
        if reason := self._fault(candidate, nuggets):
            self.dropped[reason] += 1
            return False
        self.drafts.append(_draft(candidate, nuggets, self.by))
        return True

    def _fault(self, candidate: Candidate, nuggets: Sequence[Nugget]) -> str:
        facts: tuple[str, ...] = ()  # a near miss has none, and nothing is to be found for it
        if candidate.kind != NEAR_MISS:
            if not any(nugget.vital for nugget in nuggets):
                return "facts that do not stand in the region"
            regions = [section.region.model_dump_json() for section in candidate.sections]
            facts = (*regions, *sorted(fold(phrase) for nugget in nuggets for phrase in nugget.any))
        vector = np.asarray(self.embed(candidate.question), dtype=np.float32)
        if facts in self._facts or any(vector @ other >= SAME_QUESTION for other in self._vectors):
            return "repetitions"
        if facts:
            leaves = self.find(candidate.question)[:DEPTH]
            if not all(any(section.overlaps(leaf) for leaf in leaves) for section in candidate.sections):
                return f"regions that no search of {DEPTH} leaves reaches"
            self._facts.add(facts)
        self._vectors.append(vector)
        return ""


def _standing(candidate: Candidate) -> tuple[Nugget, ...]:
    """Return the nuggets with those phrasings that the scorer finds in a section; those without any are left out."""

    def stands(phrase: str) -> bool:
        alone = Nugget(text=phrase, vital=True, any=(phrase,))
        return bool(fold(phrase).strip()) and any(recalls([alone], one.text)[1] for one in candidate.sections)

    found = [one.model_copy(update={"any": tuple(filter(stands, dict.fromkeys(one.any)))}) for one in candidate.nuggets]
    return tuple(nugget for nugget in found if nugget.any)


def _draft(candidate: Candidate, nuggets: tuple[Nugget, ...], by: str) -> Draft:
    sections = candidate.sections
    name = sha256(f"{candidate.question}\n{sections[0].place}".encode("utf-8", "replace")).hexdigest()[:10]
    known: dict[str, Any] = {"language": candidate.language} if candidate.language else {}
    if candidate.kind != NEAR_MISS:
        known |= {
            "relevant_docs": tuple(dict.fromkeys(section.document.doc_id for section in sections)),
            "reference_contexts": tuple(section.text for section in sections),
            "nuggets": nuggets,
            "regions": tuple(section.region for section in sections),
        }
    return Draft(
        id=f"{candidate.kind}-{name}",
        question=candidate.question,
        answer=None if candidate.kind == NEAR_MISS else candidate.answer,
        **known,
        category=candidate.kind,
        drafted_by=by,
        source="; ".join(section.place for section in sections),
    )
