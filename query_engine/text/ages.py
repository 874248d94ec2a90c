"""Which ages a table's cell spans: "Child 6 to 15" holds a ten-year-old, "Under 6" a child of five. English.

Flow: a question and the first cell of a row -> **here** -> `reader/named_rows.py`, which takes the row for named. Pure.
"""

import re

from query_engine.text.spelt_numbers import SPELT_NUMBERS

# Above twenty, ages are written in figures.
_SPELT_AGES = {word: number for word, number in SPELT_NUMBERS.items() if 0 < number <= 20}
_AGE = rf"(\d{{1,3}}|{'|'.join(_SPELT_AGES)})"
_ASKED = re.compile(
    rf"\b{_AGE}[- ]?(?:years?|yrs?)[- ]?olds?\b|\baged? (?:of )?{_AGE}\b"
    rf"|\b(?:son|daughter|child|kid|boy|girl|she|he)(?: is|['’]s|, who is|,) {_AGE}\b"
    r"(?! (?:\w+ )?(?:tall|high|m|cm|feet))",
    re.IGNORECASE,
)
# "2 adults, up to 3 children" and "groups of 10 to 20 people" count heads.
_COUNTED = r"(?! ?(?:adults?|child|kids|people|persons|guests|visitors|members|pupils|students|hours?|days?|m\b|cm\b))"
_SPANS = re.compile(
    rf"\b(?P<first>\d{{1,3}}) ?(?:[-–—]|\bto\b) ?(?P<last>\d{{1,3}})\b{_COUNTED}"
    rf"|\b(?:under|below|younger than)[- ](?:age |the age of )?(?P<under>\d{{1,3}})s?\b{_COUNTED}"
    rf"|\b(?:over|above|older than)[- ](?:age |the age of )?(?P<over>\d{{1,3}})s?\b{_COUNTED}"
    rf"|\bup to (?:age |the age of )?(?P<most>\d{{1,3}})\b{_COUNTED}"
    r"|\b(?P<least>\d{1,3}) ?(?:\+|(?:and|or) (?:over|above|older|up\b))",
    re.IGNORECASE,
)
_OF_PEOPLE = re.compile(
    r"\b(?:age[ds]?|years?|child(?:ren)?|kids?|babies|baby|infants?|toddlers?|teen\w*|youths?|juniors?|young|students?"
    r"|adults?|seniors?|pensioners?|concessions?|under|over|younger|older)\b",
    re.IGNORECASE,
)
OLDEST = 130


def asked_age(question: str) -> int | None:
    """Return the age in years of the person that a question is about; None if it names none."""
    found = _ASKED.search(question)
    if found is None:
        return None
    named = next(group for group in found.groups() if group).lower()
    return _SPELT_AGES[named] if named in _SPELT_AGES else int(named)


def ages_in(cell: str) -> range:
    """Return the ages in years that a text spans, of several spans the first; none if it speaks of no person."""
    found = _SPANS.search(cell)
    if found is None or not _OF_PEOPLE.search(cell):
        return range(0)
    bounds = {name: int(number) for name, number in found.groupdict().items() if number}
    first = bounds.get("first", bounds.get("least", bounds.get("over", -1) + 1))
    last = bounds.get("last", bounds.get("most", bounds.get("under", OLDEST + 1) - 1))
    return range(first, last + 1)
