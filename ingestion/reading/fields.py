"""Titles, addresses and metadata out of loosely typed records (front matter, JSON, HTML attributes).

Flow: a format's reader -> **here** -> the fields of a `Document`. Pure functions.
"""

import math
import re
from collections.abc import Collection, Mapping
from datetime import date, time
from typing import Any
from urllib.parse import urlsplit

from errors import UnreadableError
from index.documents.normalization import shorten_marks
from index.documents.rights import ALLOW
from index.documents.store import Metadata
from ingestion.reading.text import one_line

MAX_TITLE_CHARS = 300
MAX_VALUE_CHARS = 1000
MAX_LIST_ENTRIES = 100
MAX_ENTRY_CHARS = 200
_MAX_INT = 2**63 - 1
_LANGUAGE_CODE = re.compile(r"([a-z]{2,3})(?:[-_]\w++)*+", re.IGNORECASE)


def title(value: object) -> str | None:
    """Return a usable title, or None if `value` is not text or blank."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | date):
        return None
    return one_line(str(value))[:MAX_TITLE_CHARS] or None


def web_address(value: object) -> str | None:
    """Return `value` if it is an absolute http or https address, else None: nothing else may become a link."""
    if not isinstance(value, str) or shorten_marks(value) != value:
        return None
    address = value.strip()
    try:
        parts = urlsplit(address)
        if parts.scheme.lower() in ("http", "https") and parts.hostname and address.isprintable():
            return address.replace(" ", "%20")
    except ValueError:
        return None
    return None


def own_language(found: Metadata) -> str | None:
    """Return the language that a document names itself, `en-US` as `en`; None if it names none."""
    value = found.get("language", found.get("lang"))
    if not isinstance(value, str):
        return None
    match = _LANGUAGE_CODE.fullmatch(value)
    return match[1].lower() if match else value


def metadata(record: Mapping[Any, Any], *, without: Collection[str]) -> Metadata:
    """Return the metadata of a record: its scalars and lists of short strings, except the names in `without`.

    Mappings, other lists, nulls, infinities and strings over 1,000 characters are content or structure, not
    metadata, and are left out. Dates become ISO strings, integers beyond 64 bits strings. Of a list the first 100
    entries stay.

    Raises:
        UnreadableError: `allow` names no groups, so it is not known who may see the document.
    """
    found: Metadata = {}
    for key, value in record.items():
        name = one_line(str(key))
        if not name or key in without:
            continue
        if name.lower() == ALLOW:  # in whatever letters: it must not be overlooked
            if named := groups(value):
                found[ALLOW] = named
        elif isinstance(value, list):
            if words := _words(value):
                found[name] = words
        elif (scalar := _scalar(value)) is not None:
            found[name] = scalar
    return found


def with_groups(found: Metadata) -> Metadata:
    """Return metadata with what `allow` says as a list, see `groups`."""
    return {**found, ALLOW: groups(found[ALLOW])} if ALLOW in found else found


def groups(value: object) -> list[str]:
    """Return the groups that a value of `allow` names, a list or a text with commas; `[]` for null and a blank text.

    Raises:
        UnreadableError: it names none, too many, or something else.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return []
    listed = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    named = list(dict.fromkeys(one_line(each) for each in listed if isinstance(each, str) and each.strip()))
    entries_fit = all(isinstance(each, str) and len(each) <= MAX_ENTRY_CHARS for each in listed)
    if not named or not entries_fit or len(named) > MAX_LIST_ENTRIES:
        raise UnreadableError(
            f"`{ALLOW}` does not name groups.",
            f"Write a list of 1 to {MAX_LIST_ENTRIES} names of up to {MAX_ENTRY_CHARS} characters, or leave it out.",
        )
    return named


def _words(values: list[Any]) -> list[str]:
    """Return a list's entries as strings; none if one of them is a mapping, a list or a long text."""
    entries = [_scalar(value) for value in values[:MAX_LIST_ENTRIES] if value not in (None, "")]
    words = [str(entry) for entry in entries if entry is not None]
    fits = len(words) == len(entries) and all(len(word) <= MAX_ENTRY_CHARS for word in words)
    return list(dict.fromkeys(words)) if fits else []


def _scalar(value: object) -> str | int | float | bool | None:
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, int) and abs(value) > _MAX_INT:
        return str(value)
    if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, str) and len(value) <= MAX_VALUE_CHARS:
        return one_line(value) or None
    return None
