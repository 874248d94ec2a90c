"""ClueWeb22, by the search service that the competition's organisers run.

Flow: `corpus.py` -> **here** -> `GET /search` with `x-api-key` -> `encoded_records.py` -> pages.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from query_engine.runtime.deadline import Deadline
from settings import SourcesSettings
from sources.base import SourcePage, SourceQuery, SourceResult
from sources.encoded_records import read_results
from sources.http_client import JsonClient, without_unset
from sources.records import facts_of, text_field


class ClueWeb:
    """The service, with its options as the settings say.

    Args:
        client: of the service; its headers hold the key.
        settings: the options.
    """

    name = "clueweb"

    def __init__(self, client: JsonClient, settings: SourcesSettings) -> None:
        self._client = client
        self._options = dict(parse_qsl(settings.clueweb_options or ""))

    def search(self, query: SourceQuery, deadline: Deadline) -> SourceResult:
        """Return what `Source.search` says. Neither distances nor links are asked for: nothing here reads them."""
        asked = without_unset(
            query=query.text,
            k=query.k,
            with_distance=False,
            with_outlink=False,
            original_query=query.original,
            iteration=query.iteration,
        )
        reply = self._client.get("/search", {**asked, **self._options}, deadline)
        return read_results(reply, self.name, _page, query.k)


def _page(record: Mapping[str, Any]) -> SourcePage | None:
    text = text_field(record, "Clean-Text")
    if not text:
        return None
    url = text_field(record, "URL").strip()
    return SourcePage(
        text_field(record, "ClueWeb22-ID") or url, url or None, "", text, facts=facts_of(record, "Clean-Text")
    )
