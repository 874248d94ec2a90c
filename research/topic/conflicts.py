"""Find statements of a topic's findings that may contradict each other: they say the same with opposite words.

Flow: findings -> **here** -> `possible_conflicts` of `/agent/research`, and the report. A hint for a reader, who is
shown both sentences. Reported only if both say nearly the same words about the same thing, with equal numbers; which
one is right is not decided. Pure.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from query_engine.schema.events import Citation
from query_engine.text.content_words import content_stems, numbers
from research.topic.findings import Finding
from research.topic.statements import words_of

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


@dataclass(frozen=True, slots=True)
class Said:
    """One of two statements that may contradict each other."""

    subquestion: str
    sentence: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two statements, and the words by which they are opposed."""

    opposition: tuple[str, str]
    statements: tuple[Said, Said]


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


def find_conflicts(findings: Sequence[Finding]) -> list[Conflict]:
    """Return pairs of sentences that oppose each other; each pair once."""
    said: dict[str, Said] = {}
    for finding in findings:
        for statement in finding.statements:
            for sentence in statement.sentences():
                said.setdefault(words_of(sentence), Said(finding.subquestion, sentence.strip(), statement.citations))
    claims = [(one, list(_claims(one.sentence))) for one in said.values()]
    found = []
    for (one, left), (other, right) in combinations(claims, 2):
        mine = next((mine for mine, theirs in product(left, right) if _are_opposed(mine, theirs)), None)
        if mine is not None:
            pair = (one, other) if mine.side == 0 else (other, one)
            found.append(Conflict(OPPOSITIONS[mine.pair][:2], pair))
    return found


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
