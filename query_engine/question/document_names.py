"""Take the names of documents out of a question: "Who repairs the roof at Unit 6, Halden Yard?" asks who repairs it.

Flow: the documents that a question finds first -> **here** -> `retrieval/multi_part.py` searches within those it names,
with the question without their names. Such a name is in no sentence that answers; it draws search and reader to the
title, the parties of a contract, the place of a meeting. English. Pure.

A name is what a document is called in its title, its file's name or its first lines, always writes with a capital, and
seldom repeats. A name that the text repeats ("Normans") stands in the sentences that answer.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from index.documents.store import TABLES, Document
from index.lexical.language import function_words
from query_engine.text.dictionary import in_dictionary
from query_engine.text.light_words import is_light, without_asking_words

# A longer question says more than one thing; a longer document repeats its names.
MAX_CHARS, MAX_DOCUMENT_CHARS = 300, 200_000
# Where the first lines of a document stand, how long one is that is no prose, and how often a name may be in the text.
TOP_CHARS, LINE_CHARS, SELDOM = 400, 120, 3
# A word that stands so many times as often with a capital as without is always written with one.
CAPITALS = 2
MAX_NAME_WORDS = 7
# "in the Tessaly dental text message study" is left out whole, up to so many words behind the name.
MAX_KIND_WORDS = 5
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*|&")
_PART = re.compile(r"[^\W_]+")
_OWNS = re.compile(r"['’]s\Z")
_STOPS = re.compile(r"[,;:?!.]")
_SENTENCE_ENDS = re.compile(r"[.?!]")
_IS_ASKED = re.compile(r"\W*(?:is|are|was|were)\b", re.IGNORECASE)
_JOINS = frozenset("of the and & for".split())
_DETERMINERS = frozenset("the a an my our your this that".split())
_PREPOSITIONS = frozenset("at in of for from by on with to inside about near".split())
_FUNCTION_WORDS = (
    function_words("en")
    | _DETERMINERS
    | _PREPOSITIONS
    | frozenset(
        "get gets got go now before after during until since because but while without last next today been than "
        "&".split()
    )
)
# What follows a name and begins another phrase.
_GO_ON = _FUNCTION_WORDS - {"much", "many", "long"}
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
        names: what was left out, as typed, each once.
        documents: ids of those that are called by all these names.
    """

    question: str
    names: tuple[str, ...]
    documents: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Typed:
    """A word of a question.

    Attributes:
        start, end: where it stands.
        parts: its letters and digits in lower case, without an ending "'s".
        begins: it is the first one of a sentence, and may owe its capital to that.
    """

    text: str
    start: int
    end: int
    parts: tuple[str, ...]
    begins: bool

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
    """What a document is called, and how often its text says so."""

    def __init__(self, document: Document) -> None:
        self._text = document.text
        top = [line for line in document.text[:TOP_CHARS].splitlines() if line.strip()]
        lines = [_spaced(line) if len(line) <= LINE_CHARS else "" for line in top]
        self._titles = "\n".join((_spaced(document.title), _spaced(PurePosixPath(document.doc_id).stem), *lines[:1]))
        self._top = "\n".join(lines)

    def says(self, words: Sequence[_Typed]) -> bool:
        """Whether it is called by these words, one after the other."""
        phrase = _joined(words)
        return phrase in self._titles or phrase in self._top

    def is_titled(self, words: Sequence[_Typed]) -> bool:
        """Whether its title, its file's name or its first line has these words, not only another of its first lines."""
        return _joined(words) in self._titles

    def has_name(self, word: _Typed) -> bool:
        """Whether it is called by a word that it seldom has, and always with a capital."""
        return self.says([word]) and all(map(self._is_proper, word.parts))

    def says_seldom(self, words: Sequence[_Typed]) -> bool:
        """Whether its text seldom has these words, one after the other."""
        return self._spaced_text.count(_joined(words)) <= SELDOM

    def writes_small(self, word: _Typed) -> bool:
        """Whether its text also has a word without a capital, as the noun of the thing: "the museum"."""
        return self._counts[word.lower, False] > 0

    def _is_proper(self, part: str) -> bool:
        if part in _NO_NAMES or not part.isalpha():
            return False  # "E14", "P340": a code is what is asked for
        capitals, small = self._counts[part, True], self._counts[part, False]
        return capitals + small <= SELDOM and capitals >= CAPITALS * small

    @cached_property
    def _counts(self) -> Counter[tuple[str, bool]]:
        return Counter((part.casefold(), part[0].isupper()) for part in _PART.findall(self._text))

    @cached_property
    def _spaced_text(self) -> str:
        return _spaced(self._text)


def without_document_names(question: str, documents: Sequence[Document]) -> WithoutNames | None:
    """Return the question without the names of the document that it names most fully, the first of equals.

    Args:
        question: English.
        documents: those that it found, best first. Tables, and texts beyond `MAX_DOCUMENT_CHARS`, have no names.

    Returns:
        None if it names none of them, names two that have different names, or asks for nothing beside the name.
    """
    if len(question) > MAX_CHARS:
        return None
    words = list(_words(question))
    called = {
        one.doc_id: _Called(one)
        for one in documents
        if one.content_type not in TABLES and len(one.text) <= MAX_DOCUMENT_CHARS
    }
    named = {doc_id: tuple(_names(words, one)) for doc_id, one in called.items()}
    best = max(named, key=lambda doc_id: sum(map(len, named[doc_id])), default=None)
    if best is None or not (names := named[best]):
        return None
    places = {place for name in names for place in name}
    if any(places.isdisjoint(name) for others in named.values() for name in others):
        return None
    rest = _without(question, words, names, called[best])
    if rest is None:
        return None
    typed = [question[words[name.start].start : words[name.stop - 1].end] for name in names]
    phrases = [words[name.start : name.stop] for name in names]
    meant = frozenset(doc_id for doc_id, one in called.items() if all(map(one.says, phrases)))
    return WithoutNames(rest, tuple(dict.fromkeys(typed)), meant)


def _words(question: str) -> Iterator[_Typed]:
    end, begins = 0, True
    for match in _WORD.finditer(question):
        begins = begins or _SENTENCE_ENDS.search(question, end, match.start()) is not None
        parts = tuple(_PART.findall(_OWNS.sub("", match[0]).casefold()))
        yield _Typed(match[0], match.start(), match.end(), parts, begins)
        end, begins = match.end(), False


def _names(words: Sequence[_Typed], called: _Called) -> Iterator[range]:
    """Yield where in a question names of a document stand: the longest runs of words that it is called by."""
    # "what does halden yard charge" and "What Does Halden Yard Charge" do not tell names by their capitals.
    capitals = {word.has_capital for word in words if word.text.isalpha() and not word.begins and word.text != "I"}
    told = len(capitals) > 1
    place = 0
    while place < len(words):
        name = _name_from(words, called, place, told=told)
        if name and not _is_part(words, name, told=told) and _is_meant(words, name, called):
            yield name
        place = name.stop if name else place + 1


def _name_from(words: Sequence[_Typed], called: _Called, place: int, *, told: bool) -> range:
    """Return the places of the longest name that begins with a word; none if none does."""
    longest = range(place, place)
    for stop in range(place + 1, min(len(words), place + MAX_NAME_WORDS) + 1):
        name, last = words[place:stop], words[stop - 1]
        may_belong = last.joins or last.text.isdigit() or last.has_capital or not told
        if not (may_belong and called.says(name)):
            break
        by_capitals = told and not (name[0].begins and len(name) == 1)
        if last.lower not in _FUNCTION_WORDS and _is_name(name, called, told=by_capitals):
            longest = range(place, stop)
    return longest


def _is_name(words: Sequence[_Typed], called: _Called, *, told: bool) -> bool:
    """Whether words that a document is called by are a name: one of them is, or several are told by their capitals."""
    first = words[0]
    if first.lower in _NO_NAMES:
        return False
    if told:
        return first.has_capital and (
            any(map(called.has_name, words)) or (len(words) > 1 and called.says_seldom(words))
        )
    return called.has_name(first) and not all(in_dictionary(part, "en") for part in first.parts)


def _is_part(words: Sequence[_Typed], name: range, *, told: bool) -> bool:
    """Whether a word beside a name makes it another one: "the MowBert 800" is not the document's "MowBert 450"."""
    if name.stop < len(words) and any(map(str.isdigit, words[name.stop].text)):
        return True
    beside = (words[place] for place in (name.start - 1, name.stop) if 0 <= place < len(words))
    return told and any(word.has_capital and not word.begins and word.lower not in _NO_NAMES for word in beside)


def _is_meant(words: Sequence[_Typed], name: range, called: _Called) -> bool:
    """Whether a name says which document is meant; one beside the title only where "the" or a preposition leads to it.

    "What did Tom Reeve say?" asks for a person who was present.
    """
    if called.is_titled(words[name.start : name.stop]):
        return True
    leading = _leading(words, name)
    return leading < name.start or (leading > 0 and words[leading - 1].lower in _PREPOSITIONS)


def _without(question: str, words: Sequence[_Typed], names: Iterable[range], called: _Called) -> str | None:
    """Return the question without names, and without the words that lead to them; None if no subject is left."""
    typed: dict[int, str] = {place: word.text for place, word in enumerate(words)}
    for name in names:
        last = words[name.stop - 1]
        phrase = _phrase(question, words, name)
        if phrase is None and called.writes_small(last):
            phrase = range(name.start, name.stop - 1)
            typed[name.stop - 1] = last.lower if _leading(words, name) < name.start else f"the {last.lower}"
        elif phrase is None:
            phrase = range(_leading(words, name) if _ends(question, words, name.stop - 1) else name.start, name.stop)
        typed.update(dict.fromkeys(phrase, ""))
    # A comma before what is cut would be left hanging before the stop behind it.
    rest, end, cut = "", 0, False
    for place, word in enumerate((*words, None)):
        between = question[end : word.start if word else None]
        rest = rest.rstrip(" ,") + between if cut and (word is None or _STOPS.match(between)) else rest + between
        if word:
            rest, end, cut = rest + typed[place], word.end, not typed[place]
    rest = " ".join(rest.split()).strip(" ,")
    subjects = sum(map(_names_a_subject, _PART.findall(without_asking_words(rest))))
    nouns = sum(typed[place] != "" for name in names for place in name)  # that stand for names
    # "Is the property in Brixby?" asks for what stands at the top.
    return rest if subjects - nouns >= (2 if _IS_ASKED.match(question) else 1) else None


def _names_a_subject(word: str) -> bool:
    return not is_light(word) and word.casefold() not in _FUNCTION_WORDS


def _leading(words: Sequence[_Typed], name: range) -> int:
    """Return the place of the first word that says which one a name means: "the", "our"; its own place if none does."""
    leading = name.start
    while leading and words[leading - 1].lower in _DETERMINERS:
        leading -= 1
    return leading


def _phrase(question: str, words: Sequence[_Typed], name: range) -> range | None:
    """Return the places from the preposition to the end of the name; None if none leads to it, or another noun follows.

    A kind of document that ends the phrase belongs to it: "in the Tessaly text message study".
    """
    leading = _leading(words, name)
    if not leading or words[leading - 1].lower not in _PREPOSITIONS or _OWNS.search(words[name.stop - 1].text):
        return None
    first = leading - 1
    if first and words[first - 1].lower == "according":
        first -= 1
    last = name.stop - 1
    while not _ends(question, words, last):
        last += 1
    alone = leading == name.start  # "did people at Penhallow give up", not "at the Penhallow clinic"
    if not alone and words[last].lower in _KINDS and last - name.stop < MAX_KIND_WORDS:
        return range(first, last + 1)
    return range(first, name.stop) if alone or last == name.stop - 1 else None


def _ends(question: str, words: Sequence[_Typed], place: int) -> bool:
    """Whether a noun phrase ends with the word at a place."""
    if place + 1 == len(words):
        return True
    following = words[place + 1]
    return following.lower in _GO_ON or _STOPS.search(question[words[place].end : following.start]) is not None


def _joined(words: Iterable[_Typed]) -> str:
    return f" {' '.join(part for word in words for part in word.parts)} "


def _spaced(text: str) -> str:
    return f" {' '.join(_PART.findall(text.casefold()))} "
