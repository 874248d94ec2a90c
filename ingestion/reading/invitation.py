"""Read the events of an invitation: iCalendar (RFC 5545), as mails carry it.

Flow: a part of a mail -> **here** -> pairs of name and value below its text (`mail.py`). Pure. Alarms, and what serves
programs alone, are left out; a rule of repetition stands as it is.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from ingestion.reading.text import one_line

Event = tuple[tuple[str, str], ...]
"""Pairs of name and value, in the order in which they are shown."""

_SHOWN = {
    "SUMMARY": "Event",
    "DTSTART": "Start",
    "DTEND": "End",
    "LOCATION": "Location",
    "ORGANIZER": "Organizer",
    "ATTENDEE": "Attendees",
    "RRULE": "Repeats",
    "STATUS": "Status",
    "DESCRIPTION": "Description",
}
_PEOPLE = ("ORGANIZER", "ATTENDEE")
_FOLD = re.compile(r"\r?\n[ \t]")
_QUOTED = re.compile(r'"[^"\n]*"')
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z)?)?")
_ESCAPED = re.compile(r"\\([\\;,nN])")


def events_of(text: str) -> Iterator[Event]:
    """Yield the events of a calendar; lines that are none of its properties are passed over."""
    found: dict[str, list[str]] = {}
    inside: list[str] = []
    for line in _FOLD.sub("", text).splitlines():
        name, parameters, value = _property(line)
        if name == "BEGIN":
            inside.append(value.upper())
            found = {} if inside[-1] == "VEVENT" else found
        elif name == "END" and inside:
            if inside.pop() == "VEVENT" and found:
                yield tuple((label, ", ".join(found[name])) for name, label in _SHOWN.items() if name in found)
        elif name in _SHOWN and inside[-1:] == ["VEVENT"] and (shown := _shown(name, parameters, value)):
            found.setdefault(name, []).append(shown)


def _property(line: str) -> tuple[str, dict[str, str], str]:
    """Return a line's name, parameters and value."""
    # A quoted parameter may hold the colon and the semicolon that part them.
    masked = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), line)
    colon = masked.find(":")
    if colon < 0:
        return "", {}, ""
    cuts = [-1, *(place for place in range(colon) if masked[place] == ";"), colon]
    name, *parameters = (line[before + 1 : after] for before, after in pairwise(cuts))
    pairs = (one.partition("=") for one in parameters)
    return name.upper(), {key.upper(): value.strip('"') for key, _, value in pairs}, line[colon + 1 :]


def _shown(name: str, parameters: dict[str, str], value: str) -> str:
    if name in _PEOPLE:
        address = value.partition(":")[2] or value
        person = parameters.get("CN", "")
        return f"{person} <{address}>" if person and person != address else address
    if time := _TIME.fullmatch(value.strip()):
        year, month, day, hour, minute, utc = time.groups()
        zone = "UTC" if utc else parameters.get("TZID", "")
        return " ".join(filter(None, (f"{year}-{month}-{day}", hour and f"{hour}:{minute}", zone)))
    return one_line(_ESCAPED.sub(lambda sign: " " if sign[1] in "nN" else sign[1], value))
