"""Normalise text from outside in time that grows with its length.

Flow: readers, questions and file names -> **here** -> the one form of Unicode that is stored and compared.

Python sorts each run of combining marks by insertion, holding its lock: 120,000 of them take ten seconds. No script
stacks more than a few, and Unicode's stream-safe format allows 30, so what follows them is dropped. Pure.
"""

import re
import unicodedata
from typing import Literal

MAX_MARKS = 30
# What may be a combining mark: neither letter, digit nor space; two halfwidth Japanese letters become marks in NFKC.
_RUN = re.compile(rf"(?:[^\w\s\0-\u02ff]|[\uff9e\uff9f]){{{MAX_MARKS + 1},}}")


def normalize(text: str, form: Literal["NFC", "NFKC", "NFKD"] = "NFC") -> str:
    """Return `text` in this form of Unicode, after `shorten_marks`."""
    return text if text.isascii() else unicodedata.normalize(form, shorten_marks(text))


def shorten_marks(text: str) -> str:
    """Return `text` with the first 30 of each run of combining marks: for what a library normalises, as `urlsplit`."""
    return _RUN.sub(_shortened, text)


def _shortened(run: re.Match[str]) -> str:
    kept, marks = [], 0
    for character in run[0]:
        marks = marks + 1 if _is_mark(character) else 0
        if marks <= MAX_MARKS:
            kept.append(character)
    return "".join(kept)


def _is_mark(character: str) -> bool:
    """Tell a character that is sorted: some are marks only once they are taken apart."""
    return all(map(unicodedata.combining, unicodedata.normalize("NFKD", character)))
