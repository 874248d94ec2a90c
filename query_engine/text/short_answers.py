"""Find the words of a quote that a short question asks for: a date, a number, a name.

Flow: a sentence to be quoted -> **here** -> `synthesis/extractive.py` shows them in bold, inside the sentence. Pure
rules over the text; the sentence remains the evidence.
"""

import re
from collections.abc import Iterator

from query_engine.text.asked_kind import ASKS_WHEN
from query_engine.text.spelt_numbers import SPELT_NUMBERS
from query_engine.text.words import WORD

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan\.?|Feb\.?|Mar\.?|Apr\.?|Jun\.?|Jul\.?|Aug\.?|Sept?\.?|Oct\.?|Nov\.?|Dec\.?)"
)
_YEAR = r"(?:1\d{3}|20\d\d)"
_DATE = re.compile(
    rf"\b(?:\d{{1,2}} {_MONTH}(?: {_YEAR})?|{_MONTH} \d{{1,2}}(?:, {_YEAR})?|{_MONTH} {_YEAR}"
    rf"|{_YEAR}s?|\d{{1,4}} (?:AD|BC|BCE|CE))\b(?! (?:per|percent|million|billion|%))"
)
_CENTURY = re.compile(r"\b\d{1,2}(?:st|nd|rd|th) century(?: BC)?", re.IGNORECASE)
_NUMBER_WORD = rf"(?:{'|'.join(word for word, number in SPELT_NUMBERS.items() if number)})"
_ONE_NUMBER = (
    r"(?:(?:[$€£¥]\s?)?\b\d+(?:[.,]\d+)*(?:\s?%|\s(?:per cent|percent|million|billion|trillion)\b)*"
    rf"|\b{_NUMBER_WORD}(?:[- ]{_NUMBER_WORD})?(?: (?:hundred|thousand|million|billion))*\b)"
)
# "It lasts 25 to 30 years", and not "it grew from 20 to 35".
_NUMBER = re.compile(rf"(?<!\bfrom ){_ONE_NUMBER}(?: to | or |\s?[–-]\s?){_ONE_NUMBER}|{_ONE_NUMBER}", re.IGNORECASE)
_CAPITAL = r"[A-Z\u00c0-\u00de\u0391-\u03a9\u0410-\u042f][\w'’-]*(?:(?<=\b[A-Z])\.)?"
_NAME = re.compile(rf"{_CAPITAL}(?:\s(?:(?:of|the|de|la|von|van|du|al|bin)\s){{0,2}}{_CAPITAL})*")
# The kinds of question, and what answers each. The first that fits counts.
_ASKED = (
    (re.compile(r"\b(?:what|which) century\b", re.IGNORECASE), _CENTURY),
    (re.compile(rf"{ASKS_WHEN}|\b(?:what|which) (?:year|date|day|month)s?\b", re.IGNORECASE), _DATE),
    (
        re.compile(
            r"\bhow (?:many|much|long|far|fast|high|tall|deep|big|large|heavy|old|wide|hot|cold)\b"
            r"|\bwhat (?:percentage|share|proportion|number|population)\b",
            re.IGNORECASE,
        ),
        _NUMBER,
    ),
    (re.compile(r"^\W*(?:who|whom|whose|where)\b|\b(?:by|to|from|of|and) (?:who|whom)\b", re.IGNORECASE), _NAME),
)


def asks_for_little(question: str) -> bool:
    """Whether a date, a number or a name would answer the question."""
    return any(kind.search(question) for kind, _ in _ASKED)


def short_answer(question: str, sentence: str) -> tuple[int, int] | None:
    """Return the span of `sentence` that the question most likely asks for; None if it asks for nothing so short.

    What the question says itself is no answer. Of several the one nearest to the question's own words is taken.
    """
    asked = next((pattern for kind, pattern in _ASKED if kind.search(question)), None)
    if asked is None:
        return None
    known = {word.casefold() for word in WORD.findall(question)}
    # A name with a word of the question is what was asked about.
    repeats = any if asked is _NAME else all
    spans = [
        span
        for span in _spans(asked, sentence)
        if not repeats(word.casefold() in known for word in WORD.findall(sentence[slice(*span)]))
    ]
    places = [match.start() for match in WORD.finditer(sentence) if len(match[0]) > 3 and match[0].casefold() in known]
    if not spans:
        return None
    return min(spans, key=lambda span: _distance(span, places))


def _spans(pattern: re.Pattern[str], sentence: str) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(sentence):
        # The first word of a sentence is capital without being a name.
        alone = pattern is _NAME and match.start() == 0 and " " not in match[0]
        if not alone:
            yield match.span()


def _distance(span: tuple[int, int], places: list[int]) -> int:
    return min((max(span[0] - place, place - span[1], 0) for place in places), default=0)
