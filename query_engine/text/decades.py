"""Decades and centuries that people name by their first year: "the 1950s" holds 1953.

Flow: a word of a question -> **here** -> `reader/contrast.py` and `answerability/features.py` look for its years. Pure.
"""

import re

_DECADE = re.compile(r"((?:1\d|20)\d)0['’]?s", re.IGNORECASE)


def years_of(word: str) -> re.Pattern[str] | None:
    """Return a pattern of the years that a decade holds, of "1900s" and the like those of the century; else None."""
    decade = _DECADE.fullmatch(word)
    if decade is None:
        return None
    first = decade[1].removesuffix("0")
    return re.compile(rf"\b{first}\d{{{4 - len(first)}}}\b")
