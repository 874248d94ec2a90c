"""Read the identifiers of a question: part numbers, versions, dates, years, numbers of sections.

Flow: a question -> **here** -> `exact.py`, which finds the passages that name them letter by letter. To an
embedding 2.3.10 and 2.3.0 are the same, and to a word index 10.3.2.1 and 10.2.1.3 are. Pure.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, cached_property
from itertools import groupby, zip_longest
from typing import Literal

from babel.dates import get_month_names

from index.lexical.language import light_words, question_language
from query_engine.text.light_words import is_light

# Letters and digits, joined by marks without a space between them, but in numbers of French codes: "L. 12-1".
_TOKEN = re.compile(r"§+|(?:[A-Z]\. (?=\d))?[^\W_]+(?:[-./:_–][^\W_]+)*")
_PIECE = re.compile(r"[^\W\d_]+|\d+|[-./:_–]")
# Of the documents' languages; a date is written with its month's name as often as without.
_MONTH_LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pt")
_WIDTHS: tuple[Literal["wide", "abbreviated"], ...] = ("wide", "abbreviated")
# Between the parts of a date, and behind the number of its day.
_BETWEEN_DATES = frozenset(("of", "the", "de", "del", "du", "le", "den"))
_OF_DATES = _BETWEEN_DATES | {"st", "nd", "rd", "th", "er", "º"}
_SECTION_WORDS = frozenset(
    "section sections clause clauses article articles paragraph chapter chapters annex appendix § §§ art abschnitt "
    "artikel paragraf ziffer kapitel anlage chapitre annexe artículo articulo sección seccion cláusula clausula "
    "capítulo capitulo".split()
)
# A number with fewer digits may count things of the asker's own.
_LEAST_DIGITS, _LEAST_CODE_DIGITS = 3, 5
# Letters behind fewer digits are a unit: 10GB.
_LEAST_LETTERED_DIGITS = 6
_MOST_SECTION_DIGITS, _FIRST_YEAR = 4, 1000
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
# Article XI; not "the article I read".
_ROMAN = r"(?<![^\W_])(?!I\b)[IVXLC]{1,7}"
_BEFORE = r"(?<![^\W_])(?<!\d[.\-/])"
_VERSION = r"(?:v\.?(?=\d))?"
_AFTER = r"(?![^\W_]|[.\-/:]\d)"


@dataclass(frozen=True)
class Identifier:
    """A name with digits in it.

    Attributes:
        text: as it stands in the question.
        is_code: it names one thing: "LX-300", "10.3.2.1", "2019-03-05", "70431"; else it is a number or a year.
        is_section: it is the number of a section, and names what stands under it.
    """

    text: str
    is_code: bool = False
    is_section: bool = False

    @property
    def is_year(self) -> bool:
        """Whether it may be a year of the last or this century."""
        return _YEAR.fullmatch(self.text) is not None

    @cached_property
    def is_day(self) -> bool:
        """Whether it is a date."""
        return _date(self.text) is not None

    def is_like(self, other: "Identifier") -> bool:
        """Whether another one is of the same series: the same letters and marks, or a day or year where this is a day.

        Sections have no series: what looks like the number of one may be any number.
        """
        if self.is_day:
            return other.is_day or other.is_year
        return not self.is_section and _form(self.text) == _form(other.text)

    @cached_property
    def spellings(self) -> tuple[str, ...]:
        """The ways to write it, for a word index: as it stands, its letters and digits apart, a date's other forms."""
        pieces = [piece for piece in _PIECE.findall(self.text) if piece[0].isalnum()]
        return tuple(dict.fromkeys((self.text, " ".join(pieces), "".join(pieces), *_dates(self.text))))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What finds it in a text, and none that only begins, ends or is ordered otherwise."""
        return _at_the_head(_section_number(self.text)) if self.is_section else _whole(self.text)

    def begins_section(self, text: str) -> bool:
        """Whether a text begins with the number of this section or of one of its parts: 4 or 4.1 of section 4."""
        return _at_the_head(_section_number(self.text) + r"(?:[.-]\d+){0,9}").search(text) is not None

    def has_relative(self, text: str) -> bool:
        """Whether a text names something of the same kind: LX-200 for LX-300, another year, day or section."""
        if self.is_year:
            return _YEAR.search(text) is not None
        if self.is_day:
            return any(one.is_day for one in identifiers(text))
        if self.is_section:
            number = r"(?:[A-Z]\.?[ -]?)?\d+(?:[.-]\d+){0,9}"
            return _at_the_head(_ROMAN if self.text.isalpha() else f"(?:{number}|{_ROMAN})").search(text) is not None
        return any(letter.isalpha() for letter in self.text) and _relatives(self.text).search(text) is not None


def identifiers(question: str) -> tuple[Identifier, ...]:
    """Return the distinct identifiers of a question, in order.

    Not taken: quantities and ordinals ("10GB", "3rd"), and numbers of one or two digits unless a word such as
    "section" stands before them. A number with a dot names something ("room 2.14") if it belongs to the word before it,
    and counts nothing behind it.
    """
    tokens = list(_TOKEN.finditer(question))
    light = light_words(question_language(question))
    days = list(_days_in_words(question, tokens))
    found = {question[start:end]: Identifier(question[start:end], is_code=True) for start, end in days}
    before = ""
    for token, following in zip_longest(tokens, tokens[1:]):
        word = token[0]
        of_day = any(start <= token.start() < end for start, end in days)
        one = None if of_day else _identifier(word, before.casefold())
        if one is not None:
            behind = question[token.end() :].lstrip()[:1]
            ends = behind in ".,;:?!()" or (behind.isalpha() and following and _is_light(following[0], light))
            if ends and before.isalpha() and not _is_light(before, light) and has_one_dot(word):
                one = replace(one, is_code=True)
            found.setdefault(one.text, one)
        before = word
    others = (token[0] for token in tokens if token[0] not in found)
    if len(found) == 1 and has_one_dot(word := next(iter(found))) and all(_is_light(other, light) for other in others):
        return (Identifier(word, is_code=True, is_section=True),)  # "What does 4.2 say?"
    return tuple(found.values())


def without_identifiers(question: str) -> str:
    """Return a question without its identifiers and the words that announce numbers of sections."""
    words = [word for word in question.split() if word.strip("?!.,;:()").casefold() not in _SECTION_WORDS]
    text = " ".join(words)
    for one in identifiers(question):
        text = text.replace(one.text, " ")
    return text


def _days_in_words(question: str, tokens: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """Yield where days stand that are written with the name of a month: 5 March 2019, March 5th, 2019."""
    some = [token for token in tokens if token[0].casefold() not in _BETWEEN_DATES]
    for first, second, third in zip(some, some[1:], some[2:], strict=False):
        named = any(token[0].isalpha() for token in (first, second))
        if named and _date(question[first.start() : third.end()]):
            yield first.start(), third.end()


def _identifier(word: str, before: str) -> Identifier | None:
    if not any(letter.isdigit() for letter in word):
        is_section = before in _SECTION_WORDS and word != "I" and set(word) <= set("IVXLC")
        return Identifier(word, is_code=True, is_section=True) if is_section else None
    digits = sum(letter.isdigit() for letter in word)
    if before in _SECTION_WORDS and digits <= _MOST_SECTION_DIGITS and _is_dotted(_number_of(word).replace("-", ".")):
        return Identifier(word, is_code=True, is_section=True)
    word = word.rpartition(" ")[2]  # no article of a code
    if word[:2].upper() == "FY" and _YEAR.fullmatch(word[2:]):
        return Identifier(word[2:])
    if word[0] in "vV" and "." in word and _is_dotted(word[1:]):
        word = word[1:]
    joins = sum(not letter.isalnum() for letter in word)
    if word.rpartition(".")[2].isalpha():  # a file or a host, which may be the asker's own
        return Identifier(word)
    if word[0].isalpha():
        return Identifier(word, is_code=digits > 1 or joins > 0)
    if joins == 0:
        unit = word.lstrip("0123456789")
        if unit.isalpha() and digits < _LEAST_LETTERED_DIGITS:  # a quantity or an ordinal
            return None
        if not unit and digits < _LEAST_DIGITS:  # a count
            return None
        return Identifier(word, is_code=bool(unit) or digits >= _LEAST_CODE_DIGITS)
    # An order's number, 88-1207, or else a decimal or a span of years.
    is_number = word[0].isdigit() and "." not in word and not _YEAR.match(word)
    return Identifier(word, is_code=joins > 1 or (digits >= _LEAST_CODE_DIGITS and is_number))


def has_one_dot(word: str) -> bool:
    """Whether a word is a number with one dot, and not thousands."""
    whole, _, rest = word.partition(".")
    return whole.isdecimal() and rest.isdecimal() and len(rest) < _LEAST_DIGITS


def _is_light(word: str, light: Collection[str]) -> bool:
    return is_light(word) or word.casefold() in light


def _number_of(section: str) -> str:
    """Return the number of a section without the letter of its part: 12-1 of L. 12-1."""
    return section[1:].lstrip(". -") if section[0].isalpha() else section


def _section_number(text: str) -> str:
    if text.isalpha():
        return rf"(?<![^\W_]){text}"
    letter = rf"{text[0]}\.?[ -]?" if text[0].isalpha() else ""
    return letter + re.escape(_number_of(text))


def _at_the_head(written: str) -> re.Pattern[str]:
    # A number in brackets is that of a part of a section.
    number = rf"^[^\w\n(]{{0,9}}(?:[^\W\d_]{{1,14}}\.?[ \t]{{0,3}})?{written}(?![^\W_]|[.-]\d)"
    return re.compile(number, re.MULTILINE)


def _whole(written: str) -> re.Pattern[str]:
    return re.compile(f"{_BEFORE}{_VERSION}(?:{_ways(written)}){_AFTER}", re.IGNORECASE)


def _relatives(written: str) -> re.Pattern[str]:
    return re.compile(f"{_BEFORE}{_loosely(written, any_digits=True)}{_AFTER}", re.IGNORECASE)


def _ways(written: str) -> str:
    return "|".join((_loosely(written), *map(re.escape, _dates(written))))


def _loosely(text: str, *, any_digits: bool = False) -> str:
    """Return a pattern for an identifier: hyphens, slashes and blanks may be left out or exchanged, dots may not."""
    pieces = _PIECE.findall(text)
    written = []
    for at, piece in enumerate(pieces):
        if piece in ".:":
            written.append(re.escape(piece))
        elif not piece[0].isalnum():
            written.append(r"[-–/_ ]?")
        else:
            if at and pieces[at - 1][0].isalnum():  # letters beside digits
                written.append(r"[-–/_ ]?")
            written.append(r"\d+" if any_digits and piece.isdigit() else re.escape(piece))
    return "".join(written)


def _form(text: str) -> str:
    """Return a text with a single 0 for each of its numbers."""
    return "".join("0" if numeric else "".join(run) for numeric, run in groupby(text, str.isdigit))


def _is_dotted(word: str) -> bool:
    return word.replace(".", "").isdecimal()


def _dates(text: str) -> tuple[str, ...]:
    """Return the forms of a day that a text is the date of; none for other texts."""
    day = _date(text)
    return tuple(dict.fromkeys(_written(day))) if day else ()


def _date(text: str) -> date | None:
    """Return the day that an ISO date, one with the day first, or one with the name of its month stands for."""
    pieces = [piece for piece in _PIECE.findall(text.casefold()) if piece[0].isalnum() and piece not in _OF_DATES]
    named = [place for place, piece in enumerate(pieces) if not piece.isdecimal()]
    if len(pieces) != 3 or len(named) > 1 or any(pieces[place] not in _months() for place in named):
        return None
    if named:
        month = _months()[pieces.pop(named[0])]
        day, year = map(int, pieces)
    else:
        year, month, day = map(int, pieces if text[:4].isdecimal() else reversed(pieces))
    try:
        return date(year, month, day) if year >= _FIRST_YEAR else None
    except ValueError:
        return None


@cache
def _months() -> dict[str, int]:
    """Return the names of months and their short forms, lower case, with the month's number."""
    names = [get_month_names(width, locale=language) for language in _MONTH_LANGUAGES for width in _WIDTHS]
    return {name.casefold().rstrip("."): number for some in names for number, name in some.items()}


def _written(day: date) -> Iterator[str]:
    """Yield the forms in which a day is written."""
    yield day.isoformat()
    for mark in "./":
        yield f"{day.day}{mark}{day.month}{mark}{day.year}"
        yield f"{day.day:02}{mark}{day.month:02}{mark}{day.year}"
    for language in _MONTH_LANGUAGES:
        for width in _WIDTHS:
            month = get_month_names(width, locale=language)[day.month].rstrip(".")
            yield from (f"{day.day} {month} {day.year}", f"{day.day}. {month} {day.year}")
            yield from (f"{month} {day.day}, {day.year}", f"{day.day} de {month} de {day.year}")
