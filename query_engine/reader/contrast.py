"""Detect where a text contradicts a question: another year or name, the opposite, no "not".

Flow: a question and a unit that was read -> **here** -> `ranking.py` lowers the unit's worth, and the message of a
declined question names the contradicted words. Such a text has nearly every word of the question and does not answer
it: people who write questions to fool readers change just these (Rajpurkar et al., 2018, arXiv 1806.03822, table 1).
English only; opposites are WordNet's, see `training/opposites`. Pure.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from index.lexical.analyzers import index_analyzer
from query_engine.text.decades import holds_year_of
from query_engine.text.light_words import is_light

OPPOSITES = Path(__file__).with_name("opposites.txt")
NOT = "not"
# Two names this similar are one, spelled in two ways.
SAME_NAME = 0.8
_ROOT = 4
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
# Figures that name something: a year, a place in an order, a code, a part. An amount may lie between two in the text.
_NAMING_FIGURE = re.compile(
    r"\b((?:1\d|20)\d\d)(?:['’]?s)?\b(?![.,]\d)|\b(\d+)(?:st|nd|rd|th)\b|\b[A-Za-z]{1,4}-?(\d+)\b"
    r"|\b(?:act|article|chapter|class|episode|figure|floor|form|gallery|grade|level|line|no\.|number|page|part|room"
    r"|rule|season|section|stage|step|table|type|version|volume|week) (\d+)\b",
    re.IGNORECASE,
)
# Not of abbreviations, which a text may spell out, nor of days and months, which may lie between two others.
_NAME = re.compile(
    r"(?<=[^.?!:]\s)[\"'“(]?(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|(?:January|February|March|April|May|June"
    r"|July|August|September|October|November|December|Mrs?|Ms|Dr|Prof)\b)([A-Z](?=\w*[a-z])[\w-]+)"
)
_JOINS = re.compile(r"\b(?:and|or|both|between|versus|vs|than|from|each)\b", re.IGNORECASE)
# "Is it hard?" is answered by a text that says it is easy.
_YES_NO = re.compile(
    r"\W*(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)(?:n['’]t)?\b",
    re.IGNORECASE,
)
# So is "Dogs are allowed?".
_ASKS_FOR = re.compile(r"\b(?:what|which|who|whom|whose|when|where|why|how)\b", re.IGNORECASE)
# "Where may my Labrador run?" is answered by what is said of dogs.
_OF_ONESELF = re.compile(r"\b(?:I|my|we|our)\b", re.IGNORECASE)
# "at least two" is no superlative; "more" compares only with "than".
_BOUND = re.compile(r"\bat (?:least|most|first|last)\b", re.IGNORECASE)
_COMPARED, _COMPARES = frozenset({"more", "less", "fewer"}), re.compile(r"\bthan\b", re.IGNORECASE)
# "What happens if it does not start?" and "What helps when it does not start?" ask for something that is so.
_ASKS_NOT = re.compile(
    r"\b(?:what|which|who|whose|when|where)\b(?! (?:if|happens|to do)\b)"
    r"(?:(?! (?:if|so|when|because|since|while|until|unless|in case|sure)\b)[^,;:]){0,80}?"
    r"\b(?:(?:is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|should|will|would)(?:n['’]t| not)"
    r"|cannot|not|never)\b(?! only\b)(?P<denied>[^,;:.?!]*)",
    re.IGNORECASE,
)
# Between "not" and the word that it denies.
_HOW_MUCH = frozenset(
    "a an the in on at of to for by as with be been often usually always necessarily yet quite equally strictly".split()
)
_CLAUSE_ENDS = re.compile(r"[,;:.()!?\n|]|\b(?:that|which|who|but|whereas|while|where)\b", re.IGNORECASE)
_PREFIXED_NON = re.compile(r"\bnon-\w+", re.IGNORECASE)
# Opening hours say when a shop closes.
_HOURS = "open opens opening close closes closing shut shuts"
_DENYING = re.compile(
    r"\b(?:not?|never|none|neither|nor|without|cannot|nobody|nothing|nowhere|only|except\w*|exclud\w*|exempt\w*|lack\w*"
    r"|fail\w*|missing|absent|instead|rather|other than|unless|refus\w*|den(?:y|ies|ied)|reject\w*|forbid\w*|forbidden"
    r"|prohibit\w*|illegal|stop\w*|closed|free (?:of|from))\b|n['’]t\b|\bnon-",
    re.IGNORECASE,
)
# Of other prefixes ("in", "dis") WordNet knows which deny.
_PREFIXES = ("un", "non")
_LEAST_PREFIXED = 4
_DENYING_PREFIXES = ("un", "non", "in", "im", "il", "ir", "dis")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a text may contradict of a question.

    Attributes:
        opposites: stems that say the opposite of one of its words -> that word, as it was typed.
        stems: of those words.
        beside: the stems before and after each of them: "small birds" says nothing of "large distances".
        figures: numbers in digits that name something -> with the name, as they were typed.
        names: words in capitals that do not begin a sentence.
        several: it joins things, so that a text may speak of one of them.
        negated: it asks what is not so.
        denied: the stem of the word that "not" denies, empty where none follows.
    """

    opposites: Mapping[str, str]
    stems: Mapping[str, str]
    beside: Mapping[str, frozenset[str]]
    figures: Mapping[str, str]
    names: tuple[str, ...]
    several: bool
    negated: bool
    denied: str = ""

    def contradicted(self, unit: str, text: str, around: str, document: str) -> tuple[str, ...]:
        """Return the question's words that a text contradicts; `NOT` if the question is negated and the text is not.

        Args:
            unit: what may be quoted.
            text: the unit with the headings above it and what it goes on from.
            around: its leaf, with headings, and the document's name, title and beginning.
            document: the whole text that the leaf is from.
        """
        return tuple(dict.fromkeys(self._contradicted(unit, text, around, document)))

    def _contradicted(self, unit: str, text: str, around: str, document: str) -> Iterator[str]:
        stems = _stems(_BOUND.sub(" ", text))
        opposed = [
            word
            for stem, near in _beside(stems)
            if (word := self.opposites.get(stem)) and not near.isdisjoint(self.beside[word])
        ]
        denies = _denies(text)
        if self.negated and _affirms(self.denied, unit):
            yield NOT
        if not denies:
            # "smaller" holds "small".
            yield from (word for word in opposed if not any(one.startswith(self.stems[word]) for one in stems))
        held = _figures(around) if self.figures else frozenset()
        yield from self._missing(
            {typed for figure, typed in self.figures.items() if figure in held or holds_year_of(typed, around)},
            self.figures.values(),
        )
        named = {name for name in self.names if name in document or name in around or _same_name(name, around)}
        yield from self._missing(named, self.names)

    def _missing(self, held: Collection[str], wanted: Collection[str]) -> Iterator[str]:
        if not (self.several and held):
            yield from (one for one in wanted if one not in held)


def asked(question: str) -> Asked:
    """Return what a text could contradict of an English question; nothing of a yes/no question."""
    if _YES_NO.match(question) or (question.rstrip().endswith("?") and not _ASKS_FOR.search(question)):
        return Asked({}, {}, {}, {}, (), several=False, negated=False)
    plain = _BOUND.sub(" ", question)
    beside = dict(_beside(_stems(plain)))
    # "2hot" is one word of the index, and none of ours.
    typed = {stem: word for word in _WORD.findall(plain) for stem in _stems(word) if stem in beside}
    opposites: dict[str, str] = {}
    for stem, word in typed.items():
        if _DENYING.search(word) or (word.lower() in _COMPARED and not _COMPARES.search(question)):
            continue
        if stem in _hours():
            continue
        others = _opposites().get(stem, frozenset())
        # "Where does it start and end?" asks for both.
        if others.isdisjoint(typed):
            opposites |= dict.fromkeys(others, word)
            opposites |= dict.fromkeys(_prefixed(stem), word)
    negated = _ASKS_NOT.search(question)
    return Asked(
        {other: word for other, word in opposites.items() if other not in typed},
        {word: stem for stem, word in typed.items()},
        {word: beside[stem] for stem, word in typed.items()},
        {found[found.lastindex or 0]: found[0] for found in _NAMING_FIGURE.finditer(question)},
        () if _OF_ONESELF.search(question) else tuple(name for name in _NAME.findall(question) if not is_light(name)),
        _JOINS.search(question) is not None,
        negated is not None,
        _denied(negated["denied"]) if negated else "",
    )


def says(word: str, text: str) -> bool:
    """Whether a text holds a word that another contradicts; for `NOT`, whether it denies anything."""
    return _denies(text) if word == NOT else set(_stems(word)).issubset(_stems(text))


def _denied(after: str) -> str:
    """Return the stem of the word that "not" denies, given what follows it: "not usually covered by" denies "cover"."""
    for word in _WORD.findall(after):
        if not is_light(word) and word.lower() not in _HOW_MUCH and not word.endswith("ly") and (stems := _stems(word)):
            return stems[0]
    return ""


def _affirms(denied: str, text: str) -> bool:
    """Whether a text has a word, and denies it in no clause; "non-profit firms are covered" does not deny "cover"."""
    said = [one for one in _CLAUSE_ENDS.split(_PREFIXED_NON.sub(" ", text)) if denied in _stems(one)]
    prefixed = {prefix + denied for prefix in _DENYING_PREFIXES}
    return bool(said) and not any(map(_DENYING.search, said)) and prefixed.isdisjoint(_stems(text))


def _denies(text: str) -> bool:
    """Whether a text denies anything, be it by a prefix: "unpaid", but not "included"."""
    return _DENYING.search(text) is not None or any(map(_is_prefixed, _stems(text)))


def _is_prefixed(stem: str) -> bool:
    opposites = _opposites().get(stem, frozenset())
    return any(stem.startswith(prefix) and stem.removeprefix(prefix) in opposites for prefix in _DENYING_PREFIXES)


def _beside(stems: Sequence[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each stem with those before and after it."""
    for place, stem in enumerate(stems):
        yield stem, frozenset((*stems[max(0, place - 1) : place], *stems[place + 1 : place + 2]))


def _prefixed(stem: str) -> Iterator[str]:
    """Yield "unpaid" for "paid", and "paid" for "unpaid"."""
    for prefix in _PREFIXES:
        if len(stem) >= _LEAST_PREFIXED:
            yield prefix + stem
        if len(rest := stem.removeprefix(prefix)) >= _LEAST_PREFIXED:
            yield rest


def _figures(text: str) -> frozenset[str]:
    """Return the numbers in digits, without the commas that group them."""
    return frozenset(number.replace(",", "") for number in _FIGURE.findall(text))


def _same_name(name: str, text: str) -> bool:
    """Whether a text has a name in another form or spelling ("Britain" for "British"), or it is a word in capitals."""
    words, root = _WORD.findall(text), name[:_ROOT].casefold()
    held = any(word.casefold().startswith(root) for word in words)
    return held or bool(get_close_matches(name, words, 1, SAME_NAME))


def opposite_pairs() -> Iterator[tuple[str, str]]:
    """Yield the pairs of the table, each both ways."""
    for line in OPPOSITES.read_text(encoding="utf-8").splitlines():
        one, other = line.split()
        yield from ((one, other), (other, one))


@cache
def _opposites() -> Mapping[str, frozenset[str]]:
    """Return each stem's opposites."""
    found = defaultdict[str, set[str]](set)
    for one, other in opposite_pairs():
        for stem in _stems(one):
            found[stem].update(_stems(other))
    return {stem: frozenset(others) for stem, others in found.items()}


def _stems(text: str) -> list[str]:
    return list(_analyzer().analyze(text))


@cache
def _hours() -> frozenset[str]:
    return frozenset(_stems(_HOURS))


@cache
def _analyzer() -> Any:
    return index_analyzer()
