"""Take a question apart by the forms of English: clauses that ask, and things that are compared.

Flow: question -> **here** -> `decompose.py`. Pure. Where a form is doubtful the question stays whole: one search too
many costs little, but "research and development" taken apart finds neither. So two words with "and" between them are
one thing, unless the sentence itself says that they are two: by "difference between", "compare", "differ", "vs".
"""

import re
from typing import NamedTuple

from query_engine.question.validation import MAX_WORDED_CHARS

MAX_PARTS = 4
MAX_THING_WORDS = 12

_ASKING = r"(?:what|which|who|whom|whose|when|where|why|how)"
_AUXILIARY = (
    r"(?:is|are|was|were|am|be|do|does|did|has|have|had|can|could|will|would|should|may|might|must|shall|came|comes)"
)
_PREPOSITION = r"(?:in|on|at|for|to|from|by|with|of|under|during|within|since|until|about|into)"
_PRONOUN = r"(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|one|both|each)"

_SENTENCE = re.compile(r"(?<=\?)\s+|(?<=[a-z0-9]{3}[.!])\s+(?=[A-Z\"“])")
_CLAUSE = re.compile(
    rf"[,;]?\s+(?:and|but)\s+(?:also\s+)?(?=(?:{_PREPOSITION}\s+)?{_ASKING}\b"
    rf"|{_AUXILIARY}\s+(?:{_PRONOUN}|the)\b)",
    re.I,
)
_UNFINISHED = re.compile(
    rf"\b(?:{_ASKING}|{_PREPOSITION}|whether|if|between|than|or|and|not)\s*,?$|\bbetween\b[^,]*$", re.I
)
_LINK = re.compile(r"^(?:and|but|also|so|then)[,\s]+", re.I)
_HAS_VERB = re.compile(rf"\b(?:{_AUXILIARY}|{_PRONOUN}|to|we|you|i)\b", re.I)
_REFERS_BACK = re.compile(rf"\b{_PRONOUN}\b", re.I)
_COMPARED = (
    re.compile(
        r"\b(?:differen\w+|similarit\w+|distinctions?|choice|choose)\s+between\s+(?P<a>.+?)\s+(?:and|or)\s+(?P<b>.+)$",
        re.I,
    ),
    re.compile(r"\bcompar(?:e|ing)\s+(?P<a>.+?)\s+(?:and|with|to|against)\s+(?P<b>.+)$", re.I),
    re.compile(
        rf"^(?:how|in what ways?|what)\s+{_AUXILIARY}\s+(?P<a>.+?)\s+"
        r"(?:(?:differ(?:ent)?\s+from|compare[sd]?\s+(?:to|with))\s+(?P<b>.+)"
        r"|and\s+(?P<c>.+?)\s+(?:differ|compare|have in common)\b.*)$",
        re.I,
    ),
    re.compile(r"(?P<a>\S.*?)\s+(?:vs\.?|versus)\s+(?P<b>\S.*)$", re.I),
)


class Part(NamedTuple):
    """One of the things that a question asks for.

    Attributes:
        text: for people.
        query: what is searched for: with the clause before it, which may name what it is about.
        alone: it can be answered by itself: it asks something.
    """

    text: str
    query: str
    alone: bool = True


def split_question(question: str) -> tuple[Part, ...]:
    """Return the parts of a question, two at least and `MAX_PARTS` at most; `()` where it asks for one thing."""
    parts: list[Part] = []
    before = ""
    stated = False
    for clause, asks in _clauses(question):
        refers = _REFERS_BACK.search(clause) is not None
        things = _compared(clause)
        # A statement says what the question after it is about.
        goes_on = bool(before) and (refers or stated)
        parts += [Part(one, f"{before} {one}" if goes_on else one, asks and not things) for one in things or (clause,)]
        before, stated = clause, not asks
    distinct = tuple(dict.fromkeys(parts))
    return distinct[:MAX_PARTS] if len(distinct) > 1 else ()


def _clauses(question: str) -> list[tuple[str, bool]]:
    """Cut between sentences, and before clauses that ask something else; say of each whether it asks.

    Of a text that is not a question for grammar there are none.
    """
    if len(question) > MAX_WORDED_CHARS or "\n" in question.strip():
        return []
    sentences = _SENTENCE.split(" ".join(question.split()))
    return [
        # Questions to a search engine often lack their mark; a statement among others ends in a full stop.
        (piece, not sentence.endswith(".") or len(sentences) < 2)
        for sentence in sentences
        for piece in _coordinated(_LINK.sub("", sentence.rstrip(" ?.!")))
        if piece
    ]


def _coordinated(sentence: str) -> list[str]:
    """Cut where a conjunction joins two clauses, each of which asks something by itself."""
    pieces, start = [], 0
    for joint in _CLAUSE.finditer(sentence):
        left, right = sentence[start : joint.start()], sentence[joint.end() :]
        if len(left.split()) < 3 or _UNFINISHED.search(left) or not _asks_by_itself(right):
            continue
        pieces.append(left)
        start = joint.end()
    return [*pieces, sentence[start:]]


def _asks_by_itself(clause: str) -> bool:
    """Tell "who built it" from "by how much", which asks more of the same."""
    words = re.sub(rf"^{_PREPOSITION}\s+", "", clause, flags=re.I).split()
    return len(words) > 3 or (len(words) == 3 and _HAS_VERB.search(" ".join(words[1:])) is not None)


def _compared(clause: str) -> tuple[str, ...]:
    """Return the two things that a clause compares, if it says that they are two, and each is a name."""
    for pattern in _COMPARED:
        if found := pattern.search(clause):
            groups = found.groupdict()
            things = tuple(thing.strip(' ,:;"“”') for thing in (groups["a"], groups["b"] or groups.get("c") or ""))
            return things if all(map(_is_name, things)) else ()
    return ()


def _is_name(thing: str) -> bool:
    """Whether this can be the name of one thing: neither a sentence nor a pronoun."""
    return 0 < len(thing.split()) <= MAX_THING_WORDS and not re.search(rf"^{_PRONOUN}$|\s(?:and|or)\s", thing, re.I)
