"""Read the reply of ClueWeb22's and FineWeb's search services: `{"results": [base64 of JSON, ...]}`.

Flow: `clueweb.py`, `fineweb.py` (JSON reply) -> **here** -> `SourceResult`. The services return empty strings and
broken base64 among good records; those are skipped and counted. Pure.
"""

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from typing import Any

from errors import SourceError
from sources.base import SourcePage, SourceResult


def read_results(
    reply: Any, source: str, page_of: Callable[[Mapping[str, Any]], SourcePage | None], k: int
) -> SourceResult:
    """Return the pages of a reply, at most `k`.

    Args:
        reply: the decoded JSON.
        source: its name, for the error.
        page_of: a record -> its page, None for one without text.
        k: pages that were asked for; a service that returns more is cut.

    Raises:
        SourceError: the reply is none of this kind.
    """
    results = reply.get("results") if isinstance(reply, dict) else None
    if not isinstance(results, list):
        raise SourceError(
            f"The source {source!r} replied with something that is not a list of results.",
            f"Check that RAG_SOURCES__{source.upper()}_URL is the address of its search service.",
            "source_bad_reply",
        )
    pages: list[SourcePage] = []
    skipped = 0
    for encoded in results[:k]:
        record = _record(encoded)
        page = None if record is None else page_of(record)
        if page is None:
            skipped += 1
        else:
            pages.append(page)
    return SourceResult(tuple(pages), skipped)


def _record(encoded: Any) -> Mapping[str, Any] | None:
    """Return a decoded record, or None if it is broken."""
    if not isinstance(encoded, str):
        return None
    try:
        record = json.loads(base64.b64decode("".join(encoded.split()), validate=True))
    except (binascii.Error, ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
