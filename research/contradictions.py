"""Find sentences that may contradict each other: they say the same with opposite words.

Flow: passages (`loop.py`), statements of findings (`topic/conflicts.py`) -> **here** -> pairs of sentences, with the
words by which they are opposed. A hint for a reader, who is shown both sentences. Reported only if both say nearly
the same words about the same thing, with equal numbers; which one is right is not decided. Pure.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TypeVar

from index.documents.sentences import split_sentences
from query_engine.schema.passage import DocumentKey, Passage
from query_engine.text.content_words import content_stems, numbers
from research.found_documents import READ_CHARS, place_of
from research.schema import Contradiction

OPPOSITIONS = (
    ("required", "optional", r"required|mandatory|obligatory|necessary|compulsory", r"optional|voluntary|unnecessary"),
    ("supported", "not supported", r"supported|supports", r"unsupported"),
    ("enabled", "disabled", r"enabled|enables", r"disabled|disables"),
    ("allowed", "forbidden", r"allowed|permitted|legal|allows|permits", r"forbidden|prohibited|banned|illegal|forbids"),
    ("increases", "decreases", r"increas(?:es|ed|ing)|rises|rose|rising|grows|grew|growing|raises|raised",
     r"decreas(?:es|ed|ing)|falls|fell|falling|shrinks|shrank|declin(?:es|ed|ing)|lowers|lowered|reduc(?:es|ed)"),
    ("cheaper", "more expensive", r"cheaper|cheap|inexpensive", r"dearer|expensive|costly|costlier"),
    ("possible", "impossible", r"possible|feasible", r"impossible|infeasible"),
    ("safe", "dangerous", r"safe|harmless", r"unsafe|dangerous|hazardous|harmful"),
    ("available", "unavailable", r"available", r"unavailable"),
    ("proven", "refuted", r"proven|proved|confirmed|established", r"unproven|refuted|disproved|disputed|doubtful"),
)  # fmt: skip
_DENIED = re.compile(
    r"\b(?:not|no|never|nor|cannot|hardly|rarely|without|n't|n’t|no longer)\s+(?:\w+\s+){0,2}?$|n['’]t\s+(?:\w+\s+)?$",
    re.I,
)
# Where a further claim may begin.
_JOINTS = (";", "—", " – ", ", and ", ", but ", ", while ", ", whereas ", ", which ")
# Words shared, of the clause that has fewer.
LEAST_SHARE = 0.6
LEAST_SHARED = 2
# Between passages: those that are read, and pairs of documents that are named, at most.
READ_PASSAGES = 8
MOST_FOUND = 3

Sentence = TypeVar("Sentence")


@dataclass(frozen=True, slots=True)
class _Claim:
    """A clause that says one of two opposed words of something.

    Attributes:
        before: stems before the word, `after` those behind it.
    """

    pair: int
    side: int
    before: frozenset[str]
    after: frozenset[str]
    numbers: frozenset[str]


def opposed(
    sentences: Sequence[Sentence], text_of: Callable[[Sentence], str]
) -> Iterator[tuple[tuple[str, str], Sentence, Sentence]]:
    """Yield each pair of sentences that oppose each other, behind the names of what each of the two says."""
    claims = [(one, list(_claims(text_of(one)))) for one in sentences]
    for (one, left), (other, right) in combinations(claims, 2):
        for mine, theirs in product(left, right):
            if _are_opposed(mine, theirs):
                first, second = (one, other) if mine.side == 0 else (other, one)
                yield OPPOSITIONS[mine.pair][:2], first, second
                break


def find_contradictions(question: str, passages: Sequence[Passage]) -> tuple[Contradiction, ...]:
    """Return contradictions between documents, at most `MOST_FOUND`, each pair of documents once.

    Args:
        question: sentences that share no word with it are not read.
        passages: best first; `READ_PASSAGES` are read.
    """
    asked = content_stems(question)
    places = [
        place_of(passage, span.start, passage.text[span.start : span.end])
        for passage in passages[:READ_PASSAGES]
        for span in split_sentences(passage.text[:READ_CHARS])
        if asked & content_stems(passage.text[span.start : span.end])
    ]
    found: dict[frozenset[DocumentKey], Contradiction] = {}
    for names, first, second in opposed(places, lambda place: place.quote):
        pair = frozenset((first.document, second.document))
        if len(pair) == 2:
            found.setdefault(pair, Contradiction(first, second, " or ".join(names)))
    return tuple(found.values())[:MOST_FOUND]


def _claims(sentence: str) -> Iterator[_Claim]:
    for clause in _clauses(sentence):
        for pair, (_, _, left, right) in enumerate(OPPOSITIONS):
            hits = [
                (side, hit)
                for side, words in enumerate((left, right))
                for hit in re.finditer(rf"\b(?:{words})\b", clause, re.I)
            ]
            if len(hits) != 1:
                continue  # both sides in one clause: it compares
            [(side, hit)] = hits
            if _DENIED.search(clause[: hit.start()]):
                side = 1 - side
            before, after = content_stems(clause[: hit.start()]), content_stems(clause[hit.end() :])
            yield _Claim(pair, side, before, after, numbers(clause))


def _are_opposed(one: _Claim, other: _Claim) -> bool:
    if one.pair != other.pair or one.side == other.side or one.numbers != other.numbers:
        return False
    # Of a comparison both sides are the same fact: "A is cheaper than B", "B is dearer than A".
    if not one.before & other.before:
        return False
    mine, theirs = one.before | one.after, other.before | other.after
    shared = mine & theirs
    least = min(len(mine), len(theirs))
    return len(shared) >= min(LEAST_SHARED, least) and len(shared) >= LEAST_SHARE * least


def _clauses(sentence: str) -> list[str]:
    """Cut a sentence where a further claim may begin; one of less than two content words stays with its neighbour."""
    parts, clauses = [sentence], list[str]()
    for joint in _JOINTS:
        parts = [part for one in parts for part in one.split(joint)]
    for part in parts:
        short = [len(content_stems(one)) < LEAST_SHARED for one in (part, *clauses[-1:])]
        if clauses and any(short):
            clauses[-1] += f" {part}"
        elif part.strip():
            clauses.append(part)
    return clauses
