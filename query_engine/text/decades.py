"""Decades and centuries that people name by their first year: "the 1950s" holds 1953.

Flow: a word of a question -> **here** -> `reader/contrast.py` and `answerability/features.py` look for its years. Pure.
"""

import re

_DECADE = re.compile(r"((?:1\d|20)\d)0['’]?s", re.IGNORECASE)
_YEAR = re.compile(r"\b\d{4}\b")


def holds_year_of(word: str, text: str) -> bool:
    """Whether a text holds a year of the decade that a word names, of "1900s" and the like of the century."""
    decade = _DECADE.fullmatch(word)
    return decade is not None and any(year.startswith(decade[1].removesuffix("0")) for year in _YEAR.findall(text))
