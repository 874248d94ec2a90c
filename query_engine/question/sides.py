"""Find the things that a question names side by side, as one that compares them does.

Flow: question -> **here** -> `decompose.py` -> `retrieval/multi_part.py` searches for each thing, and keeps the parts
where each finds a passage that names it: "terms and conditions" stand in one. Pure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from index.lexical.language import function_words, joining_words, question_language
from query_engine.question.identifiers import Identifier, identifiers
from query_engine.text.dictionary import in_dictionary
from query_engine.text.words import WORD

# Each is searched for by itself; more than these are a list, not a comparison.
MOST_THINGS = 8

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Side:
    """One of several things.

    Attributes:
        name: as the question calls it.
        question: with this thing alone.
    """

    name: str
    question: str


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int

    def adjoins(self, other: "_Word") -> bool:
        """Whether no more than a blank stands between two words."""
        return max(self.start, other.start) - min(self.end, other.end) == 1


def sides(question: str) -> tuple[Side, ...]:
    """Return the things that a question names beside each other, in order; none where there are not two."""
    identified = _identified(question)
    spans = identified or _joined(question)
    names = [question[start:end] for start, end in spans]
    if len({name.casefold() for name in names}) < 2:
        return ()
    if identified and not _adjoin(question, spans):
        return tuple(Side(name, _without(question, spans, at)) for at, name in enumerate(names))
    before, after = question[: spans[0][0]], question[spans[-1][1] :]
    return tuple(Side(name, f"{before}{name}{after}") for name in names)


def _adjoin(question: str, spans: Sequence[Span]) -> bool:
    """Whether only function words stand between things."""
    language = question_language(question)
    between = " ".join(question[one[1] : other[0]] for one, other in pairwise(spans))
    return (function_words(language) | joining_words(language)).issuperset(WORD.findall(between.casefold()))


def _without(question: str, spans: Sequence[Span], kept: int) -> str:
    """Return a question with one of its things alone."""
    for at, (start, end) in reversed(list(enumerate(spans))):
        if at != kept:
            question = f"{question[:start]}{question[end:]}"
    return question


def _identified(question: str) -> list[Span]:
    """Return where the codes and years of a question stand, if a joining word or a comma is between all of them."""
    found = [one for one in identifiers(question) if one.is_code or one.is_year]
    in_another = {one.text.isalpha() for one in found if one.is_section} == {True, False}  # section 2, article XI
    if in_another or len(found) > MOST_THINGS:
        return []
    spans = sorted((start, start + len(one.text)) for one in found for start in [_place(question, one)])
    joining = joining_words(question_language(question))
    between = [question[one[1] : other[0]] for one, other in pairwise(spans)]
    are_joined = all("," in text or not joining.isdisjoint(WORD.findall(text.casefold())) for text in between)
    return spans if len(spans) > 1 and are_joined else []


def _place(question: str, one: Identifier) -> int:
    """Return where an identifier stands: not inside a longer one."""
    found = one.pattern.search(question)
    return found.start() if found else question.index(one.text)


def _joined(question: str) -> list[Span]:
    """Return where the two things stand that the first joining word joins, if their form says that they are two.

    They are names, stand behind an article each, or share a word: "the basic plan or the pro plan".
    """
    language = question_language(question)
    light, joining = function_words(language) | joining_words(language), joining_words(language)
    words = [_Word(one[0], one.start(), one.end()) for one in WORD.finditer(question)]
    for at, word in enumerate(words):
        left, right = words[:at][::-1], words[at + 1 :]
        if word.text.casefold() not in joining or not left or question[left[0].end : word.start].strip():
            continue
        before = list(takewhile(lambda one: one.text.casefold() in light, right))
        right = right[len(before) :]
        # One function word may begin the second thing; more begin a clause, "and where is the key".
        if not right or before[1:] or left[0].text.casefold() in light:
            continue
        other, one = list(_name(left)), list(_name(right))
        alike = all(any(_is_name(word, language) for word in name) for name in (other, one))
        if left[0].text.casefold() == _at(right, len(one)):
            other, alike = list(_name(left[1:])), True
        elif right[0].text.casefold() == _at(left, len(other)):  # "le forfait Chêne ou le forfait Hêtre"
            one, alike = list(_name(right[1:])), True
        if one and other and (alike or (before and _at(left, len(other)) in light)):
            return [(other[-1].start, other[0].end), (one[0].start, one[-1].end)]
    return []


def _is_name(word: _Word, language: str) -> bool:
    """Whether a word names one thing, by its form: German nouns have capitals, too."""
    is_unknown = language == "en" and word.text.isalpha() and not in_dictionary(word.text.casefold())
    return is_unknown or (word.text[0].isupper() and language != "de")


def _at(words: Sequence[_Word], place: int) -> str:
    return words[place].text.casefold() if place < len(words) else ""


def _name(words: Sequence[_Word]) -> Iterator[_Word]:
    """Yield the words of the name that comes first: all that begin with capitals or are numbers, else one."""
    for at, word in enumerate(words):
        if at and not (_may_be_of_name(word) and _may_be_of_name(words[0]) and word.adjoins(words[at - 1])):
            return
        yield word


def _may_be_of_name(word: _Word) -> bool:
    return word.text[0].isupper() or word.text.isdecimal()
