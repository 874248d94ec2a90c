"""Which months and weekdays a table's cell spans: "June to August" holds July, "Mon–Fri" Wednesday. English.

Flow: the first cell of a row -> **here** -> `reader/named_rows.py`, which takes the row for named. Pure.
"""

import re
from collections.abc import Iterator, Sequence

MONTHS = "January February March April May June July August September October November December".split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_NAMED = re.compile(rf"\b({'|'.join((*MONTHS, *WEEKDAYS))})s?\b")
_NAME = r"([A-Z][a-z]{2,9})"
_SPAN = re.compile(rf"\b{_NAME}\.?(?: \d{{1,2}})? ?(?:[-–—]|\b(?:to|till|until|through)\b) ?(?:\d{{1,2}} )?{_NAME}\b")


def days_in(cell: str) -> set[str]:
    """Return the months and weekdays that a text names or spans."""
    return spanned(cell).union(_NAMED.findall(cell))


def spanned(cell: str) -> set[str]:
    """Return the months and weekdays from the first to the last that a text names with "to" between them."""
    spans = [match.groups() for match in _SPAN.finditer(cell)]
    return {day for first, last in spans for names in (MONTHS, WEEKDAYS) for day in _from_to(names, first, last)}


def _from_to(names: Sequence[str], first: str, last: str) -> Iterator[str]:
    begin, end = _place(names, first), _place(names, last)
    if begin is None or end is None:
        return
    for step in range((end - begin) % len(names) + 1):  # November to February goes over the end of the year
        yield names[(begin + step) % len(names)]


def _place(names: Sequence[str], written: str) -> int | None:
    found = [place for place, name in enumerate(names) if name.startswith(written) or written == f"{name}s"]
    return found[0] if len(found) == 1 else None
