"""ClueWeb22 and FineWeb, by the search services that the competition's organisers run.

Flow: `corpus.py` -> **here** -> `GET /search`, `GET /fineweb/search` -> `{"results": [base64 of JSON, ...]}` -> pages.
The services return empty strings and broken base64 among good records; those are skipped and counted.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from query_engine.runtime.deadline import Deadline
from sources.base import SourcePage, SourceQuery, SourceResult
from sources.http_client import JsonClient
from sources.records import facts_of, text_field


@dataclass(frozen=True, slots=True)
class Form:
    """How one of the services is asked, and what its records are called.

    Attributes:
        path: of the search.
        asked: what else is sent. Neither distances nor links are asked for: nothing here reads them.
        id, url, text, date: names of a record's fields; empty: it has none.
    """

    path: str
    asked: Mapping[str, str]
    id: str
    url: str
    text: str
    date: str = ""


CLUEWEB = Form(
    "/search", {"with_distance": "false", "with_outlink": "false"}, id="ClueWeb22-ID", url="URL", text="Clean-Text"
)
FINEWEB = Form("/fineweb/search", {"with_distance": "false"}, id="id", url="url", text="text", date="date")


class OrganisersSearch:
    """One of the services.

    Args:
        client: of the service; its headers hold the key.
        form: which of the two.
        options: a query string that is sent along; may be empty.
    """

    def __init__(self, client: JsonClient, form: Form, options: str) -> None:
        self.name = client.source
        self._client = client
        self._form = form
        self._options = dict(parse_qsl(options))

    def search(self, query: SourceQuery, deadline: Deadline) -> SourceResult:
        """Return what `Source.search` says; of a service that returns more pages than were asked for the first ones."""
        asked = {
            "query": query.text,
            "k": str(query.k),
            "original_query": query.original,
            "iteration": str(query.iteration),
        }
        asked |= {**self._form.asked, **self._options}
        results = self._client.get_list("results", self._form.path, asked, deadline)
        return SourceResult.of([self._page(_record(encoded)) for encoded in results[: query.k]])

    def _page(self, record: Mapping[str, Any]) -> SourcePage | None:
        form = self._form
        text = text_field(record, form.text)
        if not text:
            return None
        url = text_field(record, form.url).strip()
        name = text_field(record, form.id) or url
        return SourcePage(name, url or None, "", text, text_field(record, form.date), facts_of(record, form.text))


def _record(encoded: Any) -> Mapping[str, Any]:
    """Return a decoded record; an empty one if it is broken."""
    if not isinstance(encoded, str):
        return {}
    try:
        record = json.loads(base64.b64decode("".join(encoded.split()), validate=True))
    except (binascii.Error, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}
