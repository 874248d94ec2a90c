"""A drafted question, and the checks that it has to pass: its facts stand in its region, search reaches it, it is new.

Flow: `by_model.py`, `by_structure.py` -> `Candidate` -> **here** -> `Draft`s -> `command.py` writes them. What is
dropped is counted by reason.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from eval.cases import Case, Nugget
from eval.drafting.sections import Section
from eval.nuggets import fold, recalls

NEAR_MISS = "near_miss"
STRUCTURE = "structure"
# Questions whose vectors have at least this cosine ask the same.
SAME_QUESTION = 0.95
# No setting of the service finds what is not among this many leaves.
DEPTH = 50


class Leaf(NamedTuple):
    """What a search found."""

    doc_id: str
    start: int
    end: int
    text: str


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
        nuggets = standing(candidate.nuggets, candidate.sections)
        if reason := self._fault(candidate, nuggets):
            self.dropped[reason] += 1
            return False
        self.drafts.append(_draft(candidate, nuggets, self.by))
        return True

    def _fault(self, candidate: Candidate, nuggets: Sequence[Nugget]) -> str:
        if candidate.kind != NEAR_MISS:
            if not any(nugget.vital for nugget in nuggets):
                return "facts that do not stand in the region"
            regions = [section.region.model_dump_json() for section in candidate.sections]
            facts = (*regions, *sorted(fold(phrase) for nugget in nuggets for phrase in nugget.any))
            if facts in self._facts:
                return "repetitions"
        vector = np.asarray(self.embed(candidate.question), dtype=np.float32)
        if self._vectors and float(np.max(np.stack(self._vectors) @ vector)) >= SAME_QUESTION:
            return "repetitions"
        if candidate.kind != NEAR_MISS:
            leaves = self.find(candidate.question)[:DEPTH]
            if not all(any(section.overlaps(*leaf[:3]) for leaf in leaves) for section in candidate.sections):
                return f"regions that no search of {DEPTH} leaves reaches"
            self._facts.add(facts)
        self._vectors.append(vector)
        return ""


def standing(nuggets: Sequence[Nugget], sections: Sequence[Section]) -> tuple[Nugget, ...]:
    """Return the nuggets with those phrasings that the scorer finds in a section; those without any are left out."""
    found = []
    for nugget in nuggets:
        phrases = tuple(
            phrase
            for phrase in dict.fromkeys(nugget.any)
            if fold(phrase).strip()
            and any(recalls([nugget.model_copy(update={"any": (phrase,)})], one.text)[1] for one in sections)
        )
        if phrases:
            found.append(nugget.model_copy(update={"any": phrases}))
    return tuple(found)


def _draft(candidate: Candidate, nuggets: tuple[Nugget, ...], by: str) -> Draft:
    sections = candidate.sections
    name = hashlib.sha256(f"{candidate.question}\n{sections[0].place}".encode("utf-8", "replace")).hexdigest()[:10]
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
