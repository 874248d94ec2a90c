"""Titles, addresses and metadata out of loosely typed records (front matter, JSON, HTML attributes).

Flow: a format's reader -> **here** -> the fields of a `Document`. Pure functions.
"""

import math
from collections.abc import Collection, Mapping
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from index.documents import Metadata
from ingestion.reading.text import one_line

MAX_TITLE_CHARS = 300
MAX_VALUE_CHARS = 1000
_MAX_INT = 2**63 - 1


def title(value: object) -> str | None:
    """Return a usable title, or None if `value` is no text or blank."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | date):
        return None
    return one_line(str(value))[:MAX_TITLE_CHARS] or None


def web_address(value: object) -> str | None:
    """Return `value` if it is an absolute http or https address, else None: nothing else may become a link."""
    if not isinstance(value, str):
        return None
    address = value.strip()
    try:
        parts = urlsplit(address)
        if parts.scheme.lower() in ("http", "https") and parts.hostname and address.isprintable():
            return address.replace(" ", "%20")
    except ValueError:
        return None
    return None


def scalars(record: Mapping[Any, Any], *, without: Collection[str]) -> Metadata:
    """Return the metadata of a record: its scalar fields, except the names in `without`.

    Lists, mappings, nulls, infinities and strings over 1,000 characters are content or structure, not metadata,
    and are left out. Dates become ISO strings, integers beyond 64 bits strings.
    """
    found: Metadata = {}
    for key, value in record.items():
        name = one_line(str(key))
        if not name or key in without:
            continue
        if isinstance(value, date):
            found[name] = value.isoformat()
        elif isinstance(value, int) and abs(value) > _MAX_INT:
            found[name] = str(value)
        elif isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
            found[name] = value
        elif isinstance(value, str) and len(value) <= MAX_VALUE_CHARS and (text := one_line(value)):
            found[name] = text
    return found
