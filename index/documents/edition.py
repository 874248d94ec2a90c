"""Tell the editions of one thing apart: which series a document belongs to, and which of two is the newer one.

Flow: a document's title, name and metadata -> **here** -> `query_engine/question/newest.py` orders editions; models and
people are told their dates. Documents are of one series if their titles or names differ in dates, years and
versions alone. Pure.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any

# Metadata that says when a document was written, the first that is there.
DATES = ("date", "published", "modified", "updated")
MAX_DATE_CHARS = 40
# Of what a search finds, asked for at each stage.
KEPT_EDITIONS = 4096

Moment = tuple[int, ...]
"""A date or a version, the greatest unit first; of two with the same beginning the longer one is later."""

_YEAR = r"(?:19|20)\d\d"
# In a name: a day in either order, a month, a year, a version.
_MARK = re.compile(
    rf"(?<![^\W_])(?:(?P<iso>{_YEAR}(?P<mark>[-_. ]?)\d\d(?P=mark)\d\d)"
    rf"|(?P<day_first>\d\d?(?P<other>[-_.])\d\d?(?P=other){_YEAR})"
    rf"|(?P<month>{_YEAR}[-_.]\d\d)|(?:FY ?)?(?P<year>{_YEAR})|(?P<version>[vV]\.?\d+(?:\.\d+)*|\d+(?:\.\d+)+))"
    r"(?![^\W_])"
)
_SUFFIX = re.compile(r"\.[^\W\d]\w{0,9}\Z")


@dataclass(frozen=True, slots=True)
class Edition:
    """What is known of one document.

    Attributes:
        marks: series that it belongs to -> the dates and versions in the name it has there.
        names: all that it may be called by, one a line.
        moment: when it was written, in UTC; empty if nobody says.
        date: the same for people, as `2024-05-31`, `2024-05` or `2024`; in the document's own words if they are no
            date that is known here.
    """

    marks: Mapping[str, Moment]
    names: str
    moment: Moment = ()
    date: str = ""

    def is_newer(self, other: "Edition") -> bool:
        """Whether both are of one series, and this one is later in it."""
        shared = self.marks.keys() & other.marks.keys()
        for series in shared:
            mine, others = self.marks[series], other.marks[series]
            if mine and others and mine != others:
                return mine > others
        return bool(shared and self.moment and other.moment) and self.moment > other.moment

    def is_beside(self, other: "Edition") -> bool:
        """Whether both are of one series, and it is known which one is later."""
        return self.is_newer(other) or other.is_newer(self)


def edition(title: str, doc_id: str, metadata: Mapping[str, Any]) -> Edition:
    """Return which edition a document is, by its title, the path in its id, and its metadata."""
    return _edition(title, doc_id, next((str(metadata[name]) for name in DATES if metadata.get(name)), ""))


@lru_cache(KEPT_EDITIONS)
def _edition(title: str, doc_id: str, written: str) -> Edition:
    marks: dict[str, Moment] = {}
    named = ""
    for name in (title, _SUFFIX.sub("", doc_id)):
        series, moment, day = _parted(name)
        if series:
            marks[series] = max(marks.get(series, ()), moment, key=len)
        named = max(named, day, key=len)
    day, moment = _read(written)
    # A name says which year a report is about; the file may be a later copy.
    if named and not day.startswith(named):
        day, moment = _read(named)
    return Edition(marks, "\n".join((title, doc_id, day, day[:4])), moment, day)


def _parted(name: str) -> tuple[str, Moment, str]:
    """Return a name without its dates and versions, these, and the most exact date."""
    numbers: list[int] = []
    day, rest, end = "", "", 0
    for mark in _MARK.finditer(name):
        if mark["version"]:
            found = [int(one) for one in re.findall(r"\d+", mark["version"])]
        elif not (found := _numbers(mark)):
            continue
        else:
            day = max(day, _iso(found), key=len)
        numbers += found
        rest, end = f"{rest}{name[end : mark.start()]} ", mark.end()
    return " ".join(re.findall(r"[^\W_]+", (rest + name[end:]).casefold())), tuple(numbers), day


def _numbers(mark: re.Match[str]) -> list[int]:
    """Return year, month and day of a date, as far as they are given; nothing if there is no such day."""
    kind = str(mark.lastgroup)
    pieces = re.findall(r"\d+", mark[kind])
    digits = "".join(reversed([piece.zfill(2) for piece in pieces]) if kind == "day_first" else pieces)
    found = [int(piece) for piece in (digits[:4], digits[4:6], digits[6:]) if piece]
    with suppress(ValueError):
        date(*[*found, 1, 1][:3])
        return found
    return found[:1] if kind == "month" else []  # of 2023-24, the year that it began in


def _iso(numbers: list[int]) -> str:
    return "-".join(f"{number:02}" for number in numbers)


def _read(written: str) -> tuple[str, Moment]:
    """Return a date for people, and the moment; the words as they are and no moment if they are no date."""
    whole = _MARK.fullmatch(written)
    if whole and not whole["version"] and (numbers := _numbers(whole)):
        return _iso(numbers), tuple(numbers)
    with suppress(ValueError, OverflowError):
        at = datetime.fromisoformat(written)
        return at.date().isoformat(), tuple((at.astimezone(UTC) if at.tzinfo else at).timetuple()[:6])
    return " ".join(written.split())[:MAX_DATE_CHARS], ()
