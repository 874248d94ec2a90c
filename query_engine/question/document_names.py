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
from query_engine.text.dictionary import in_dictionary
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

    def writes_small(self, word: _Typed) -> bool:
        """Whether a word also stands in the text without a capital, as the noun of the thing: "the museum"."""
        return word.text.isalpha() and f" {word.lower}" in self._text

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
    called = [_Called(document) for document in documents]
    named = [_names(words, one) for one in called]
    best = max(range(len(documents)), key=lambda place: sum(map(len, named[place])), default=None)
    if best is None or not named[best]:
        return None
    names = named[best]
    rest = _without(question, words, names, called[best])
    if rest is None:
        return None
    parts = {part for name in names for place in name for part in words[place].parts if part not in _JOINS}
    return WithoutNames(
        rest,
        tuple(question[words[name.start].start : words[name.stop - 1].end] for name in names),
        frozenset(one.doc_id for place, one in enumerate(documents) if place == best or _has_all(one, parts)),
    )


def _names(words: Sequence[_Typed], called: _Called) -> tuple[range, ...]:
    """Return where in a question names of a document stand: the longest runs of words that it is called by."""
    # "what does halden yard charge" and "What Does Halden Yard Charge" do not tell names by their capitals.
    told = len({word.has_capital for word in words[1:] if word.text.isalpha()}) > 1
    found: list[range] = []
    place = 0
    while place < len(words):
        name = _name_from(words, called, place, told=told)
        if name and not _is_part(words, name, told=told):
            found.append(name)
        place = name.stop if name else place + 1
    return tuple(found)


def _is_part(words: Sequence[_Typed], name: range, *, told: bool) -> bool:
    """Whether a word beside a name makes it another one: "the MowBert 800" is not the document's "MowBert 450"."""
    if name.stop < len(words) and any(map(str.isdigit, words[name.stop].text)):
        return True
    beside = (words[place] for place in (name.start - 1, name.stop) if 0 < place < len(words))
    return told and any(word.has_capital and word.lower not in _NO_NAMES for word in beside)


def _name_from(words: Sequence[_Typed], called: _Called, place: int, *, told: bool) -> range:
    """Return the places of the longest name that begins with a word; none if none does."""
    longest = range(place, place)
    for stop in range(place + 1, min(len(words), place + MAX_NAME_WORDS) + 1):
        name, last = words[place:stop], words[stop - 1]
        may_belong = last.joins or last.text.isdigit() or last.has_capital or not told
        if not (may_belong and called.says(name)):
            break
        if last.lower not in _FUNCTION_WORDS and _is_name(name, called, told=told and (place > 0 or len(name) > 1)):
            longest = range(place, stop)
    return longest


def _is_name(words: Sequence[_Typed], called: _Called, *, told: bool) -> bool:
    """Whether words that a document is called by are a name: one of them is, or several are told by their capitals."""
    first = words[0]
    if told and first.has_capital:
        return any(map(called.has_name, words)) or (len(words) > 1 and called.says_seldom(words))
    return not told and called.has_name(first) and not all(in_dictionary(part, "en") for part in first.parts)


def _without(question: str, words: Sequence[_Typed], names: Iterable[range], called: _Called) -> str | None:
    """Return the question without names, and without the words that lead to them; None if no subject is left."""
    typed: dict[int, str] = {place: word.text for place, word in enumerate(words)}
    subjects = {place for place, word in enumerate(words) if _names_a_subject(word)}
    for name in names:
        leading = next((place for place in range(name.start, 0, -1) if words[place - 1].lower not in _DETERMINERS), 0)
        phrase = _phrase(question, words, name, leading)
        last = words[name.stop - 1]
        if phrase is None and called.writes_small(last):
            phrase = range(name.start, name.stop - 1)
            typed[name.stop - 1] = last.lower if leading < name.start else f"the {last.lower}"
        elif phrase is None:
            phrase = range(leading if _ends(question, words, name.stop - 1) else name.start, name.stop)
        typed.update(dict.fromkeys(phrase, ""))
        subjects.difference_update(phrase, name)
    if not subjects:
        return None
    kept, end = "", 0
    for place, word in enumerate(words):
        kept += question[end : word.start] + typed[place]
        end = word.end
    rest = " ".join((kept + question[end:]).split())
    return re.sub(r"[\s,]+(?=[,?!.;:])", "", rest).strip(" ,")


def _names_a_subject(word: _Typed) -> bool:
    return bool(word.parts) and not is_light(word.text) and word.lower not in _FUNCTION_WORDS


def _phrase(question: str, words: Sequence[_Typed], name: range, leading: int) -> range | None:
    """Return where the phrase stands that a name ends and a preposition begins; None if another noun follows it.

    Args:
        question: as typed.
        words: of the question.
        name: places of the name.
        leading: place of the first word before it that says which: "the", "our".
    """
    if not leading or words[leading - 1].lower not in _PREPOSITIONS or _OWNS.search(words[name.stop - 1].text):
        return None
    first = leading - 1
    if first and words[first - 1].lower == "according":
        first -= 1
    last = name.stop - 1
    while not _ends(question, words, last):
        last += 1
    if words[last].lower in _KINDS and last - name.stop < MAX_KIND_WORDS:
        return range(first, last + 1)
    alone = leading == name.start  # "did people at Penhallow give up", not "at the Penhallow clinic"
    return range(first, name.stop) if alone or last == name.stop - 1 else None


def _ends(question: str, words: Sequence[_Typed], place: int) -> bool:
    """Whether what a word belongs to ends with it."""
    if place + 1 == len(words):
        return True
    following = words[place + 1]
    return following.lower in _GO_ON or _STOPS.search(question[words[place].end : following.start]) is not None


def _has_all(document: Document, parts: Iterable[str]) -> bool:
    text = f"{document.title} {document.doc_id} {document.text}".casefold()
    return all(part in text for part in parts)


def _joined(words: Iterable[_Typed]) -> str:
    return " ".join(part for word in words for part in word.parts)


def _parts(text: str) -> list[str]:
    return _PART.findall(text.casefold())
