"""Take the names of documents out of a question: "Who repairs the roof at Unit 6, Halden Yard?" asks who repairs it.

Flow: the documents that a question finds first -> **here** -> `retrieval/multi_part.py` searches within those it names,
with the question without their names. Such a name is in no sentence that answers; it draws search and reader to
the title, the parties of a contract, the place of a meeting. English. Pure.

A name is what a document always writes with a capital, has in its title, its file's name or its first lines, and seldom
has below. Where the text repeats it ("Normans"), it stands in the sentences that answer.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from index.documents.store import Document
from query_engine.text.dictionary import dictionary, in_dictionary
from query_engine.text.light_words import is_light

# A document is called by its first lines too. What stands there and often below is its subject, or a person who takes
# part: a sentence that answers names it.
TOP_CHARS, SELDOM = 400, 3
# So many times as often with a capital as without is always.
CAPITALS = 2
MAX_NAME_WORDS = 7
# "in the Tessaly dental text message study" is left out whole, up to so many words behind the name.
MAX_KIND_WORDS = 5
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*|&")
_PART = re.compile(r"[^\W_]+")
_OWNS = re.compile(r"['’]s\Z")
_STOPS = re.compile(r"[,;:?!.]")
_JOINS = frozenset("of the and & for".split())
_DETERMINERS = frozenset("the a an my our your this that".split())
_PREPOSITIONS = frozenset("at in of for from by on with to inside about near".split())
# What follows a name does not belong to it.
_GO_ON = _PREPOSITIONS | frozenset(
    "is are was were do does did can could will would should has have had get gets got go when if and or before after "
    "during as until since because but so that which who while without last next this now today".split()
)
_FUNCTION_WORDS = (
    _GO_ON | _DETERMINERS | frozenset("what who where why how i you we they it he she be been not there than".split())
)
_NO_NAMES = _FUNCTION_WORDS | frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday spring summer autumn winter christmas easter english german french spanish".split()
)
_KINDS = frozenset(
    "agreement article contract experiment guide handbook lease manual minutes paper policy project report research "
    "rules study survey trial".split()
)


@dataclass(frozen=True, slots=True)
class WithoutNames:
    """A question without the names of the documents it is about.

    Attributes:
        question: what it asks of them.
        names: what was left out, as typed.
        documents: ids of those that have all these names.
    """

    question: str
    names: tuple[str, ...]
    documents: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Typed:
    """A word of a question; `parts` are its letters and digits in lower case, without an ending "'s"."""

    text: str
    start: int
    end: int
    parts: tuple[str, ...]

    @classmethod
    def of(cls, match: re.Match[str]) -> "_Typed":
        text = match[0]
        return cls(text, match.start(), match.end(), tuple(_PART.findall(_OWNS.sub("", text).casefold())))

    @property
    def lower(self) -> str:
        return self.text.casefold()

    @property
    def joins(self) -> bool:
        return self.lower in _JOINS

    @property
    def has_capital(self) -> bool:
        return self.text[0].isupper()


class _Called:
    """What a document is called: its title, its file's name, its first lines."""

    def __init__(self, document: Document) -> None:
        self._text = document.text
        self._lower = document.text.casefold()
        top = document.text[:TOP_CHARS]
        first = next((line for line in top.splitlines() if line.strip()), "")
        called = [_parts(text) for text in (document.title, PurePosixPath(document.doc_id).stem, first, top)]
        self._said = "\n".join(f" {' '.join(parts)} " for parts in called)

    def says(self, words: Sequence[_Typed]) -> bool:
        """Whether it is called by these words, one after the other."""
        return f" {_joined(words)} " in self._said

    def has_name(self, word: _Typed) -> bool:
        """Whether a word is seldom in the text, always with a capital, and belongs to what the document is called."""
        return bool(word.parts) and self.says([word]) and all(map(self._is_name, word.parts))

    def says_seldom(self, words: Sequence[_Typed]) -> bool:
        """Whether these words, one after the other, are seldom in the text."""
        return self._lower.count(_joined(words)) <= SELDOM

    def _is_name(self, part: str) -> bool:
        if part in _NO_NAMES or not part.isalpha():
            return False  # "E14", "P340": a code is what is asked for
        capitals, small = self._text.count(part.capitalize()) + self._text.count(part.upper()), self._text.count(part)
        return capitals + small <= SELDOM and capitals >= CAPITALS * small


def without_document_names(question: str, documents: Sequence[Document]) -> WithoutNames | None:
    """Return the question without the names of the document that it names most fully, the first of equals.

    Args:
        question: English.
        documents: those that it found, best first.

    Returns:
        None if it names none of them, or asks for nothing beside the name.
    """
    words = [_Typed.of(match) for match in _WORD.finditer(question)]
    named = [(_names(words, _Called(document)), document) for document in documents]
    names, document = max(named, key=lambda one: sum(map(len, one[0])), default=((), None))
    if document is None or not names:
        return None
    rest = _without(question, words, names)
    if rest is None:
        return None
    parts = {part for name in names for place in name for part in words[place].parts if part not in _JOINS}
    return WithoutNames(
        rest,
        tuple(question[words[name.start].start : words[name.stop - 1].end] for name in names),
        frozenset(one.doc_id for one in documents if one is document or _has_all(one, parts)),
    )


def _names(words: Sequence[_Typed], called: _Called) -> tuple[range, ...]:
    """Return where in a question names of a document stand: the longest runs of words that it is called by."""
    # "what does halden yard charge" and "What Does Halden Yard Charge" do not tell names by their capitals.
    capitals = sum(word.has_capital for word in words[1:])
    told = 0 < capitals <= len(words) / 2
    found: list[range] = []
    place = 0
    while place < len(words):
        name = _name_from(words, called, place, told=told)
        if name and not _is_numbered(words, name.stop):
            found.append(name)
        place = name.stop if name else place + 1
    return tuple(found)


def _is_numbered(words: Sequence[_Typed], place: int) -> bool:
    """Whether a number or a code stands behind a name: "the MowBert 800" is another one than "the MowBert 450"."""
    return place < len(words) and any(map(str.isdigit, words[place].text))


def _name_from(words: Sequence[_Typed], called: _Called, place: int, *, told: bool) -> range:
    """Return the places of the longest name that begins with a word; none if none does."""
    longest = range(place, place)
    for stop in range(place + 1, min(len(words), place + MAX_NAME_WORDS) + 1):
        name, last = words[place:stop], words[stop - 1]
        if not (last.joins or last.text.isdigit() or (last.has_capital if told else called.has_name(last))):
            break
        if not called.says(name):
            break
        if not (name[0].joins or last.joins) and _is_name(name, called, told=told and (place > 0 or len(name) > 1)):
            longest = range(place, stop)
    return longest


def _is_name(words: Sequence[_Typed], called: _Called, *, told: bool) -> bool:
    """Whether words that a document is called by are a name: one of them is, or several are told by their capitals."""
    if told:
        return any(map(called.has_name, words)) or (
            len(words) > 1 and words[0].has_capital and called.says_seldom(words)
        )
    return any(called.has_name(word) and not all(in_dictionary(part, "en") for part in word.parts) for word in words)


def _without(question: str, words: Sequence[_Typed], names: Sequence[range]) -> str | None:
    """Return the question without names, and the words that lead to them where nothing else follows; None if empty."""
    dropped: set[int] = set()
    instead: dict[int, str] = {}
    for name in names:
        dropped |= _dropped(question, words, name)
        head = None if name.start - 1 in dropped else _head(question, words, name)
        if head is not None:
            dropped.discard(head)
            article = "" if name.start and words[name.start - 1].lower in _DETERMINERS else "the "
            instead[head] = article + words[head].lower
    if not any(
        word.parts and _names_a_subject(word)
        for place, word in enumerate(words)
        if place not in dropped | instead.keys()
    ):
        return None
    kept, end = "", 0
    for place, word in enumerate(words):
        kept += question[end : word.start] + ("" if place in dropped else instead.get(place, word.text))
        end = word.end
    rest = " ".join((kept + question[end:]).split())
    return re.sub(r"[\s,]+(?=[,?!.;:])", "", rest).strip(" ,")


def _names_a_subject(word: _Typed) -> bool:
    return not is_light(word.text) and word.lower not in _FUNCTION_WORDS


def _dropped(question: str, words: Sequence[_Typed], name: range) -> set[int]:
    """Return the places of a name and of what goes with it."""
    before = name.start - 1
    while before >= 0 and words[before].lower in _DETERMINERS:
        before -= 1
    led = before >= 0 and words[before].lower in _PREPOSITIONS
    if led and before and words[before - 1].lower == "according":
        before -= 1
    last = name.stop - 1
    while last + 1 < len(words) and not _ends(question, words, last):
        last += 1
    if led and words[last].lower in _KINDS and last - name.stop < MAX_KIND_WORDS:
        return {*range(before, last + 1)}
    if led and not _OWNS.search(words[name.stop - 1].text) and _ends(question, words, name.stop - 1):
        return {*range(before, name.stop)}
    return {*name}


def _ends(question: str, words: Sequence[_Typed], place: int) -> bool:
    """Whether what a word belongs to ends with it."""
    if place + 1 == len(words):
        return True
    following = words[place + 1]
    return following.lower in _GO_ON or _STOPS.search(question[words[place].end : following.start]) is not None


def _head(question: str, words: Sequence[_Typed], name: range) -> int | None:
    """Return the place of the common noun that a name ends in and that can stand for it: "the Carrow Sands Lido"."""
    last = words[name.stop - 1]
    if _OWNS.search(last.text) or any(words[place].text == "&" for place in name):
        return None
    if last.has_capital and not _ends(question, words, name.stop - 1):
        return None  # "the Carrow Sands pool" has another noun
    nouns = [place for place in name if words[place].text.isalpha() and words[place].lower in dictionary("en")]
    return nouns[-1] if nouns else None


def _has_all(document: Document, parts: Iterable[str]) -> bool:
    text = f"{document.title} {document.doc_id} {document.text}".casefold()
    return all(part in text for part in parts)


def _joined(words: Iterable[_Typed]) -> str:
    return " ".join(part for word in words for part in word.parts)


def _parts(text: str) -> list[str]:
    return _PART.findall(text.casefold())
