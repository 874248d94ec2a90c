"""An index of a MeiliSearch server.

Flow: `corpus.py` -> **here** -> `POST /indexes/{uid}/search` -> pages.
"""

from dataclasses import replace
from typing import Any
from urllib.parse import quote

from query_engine.runtime.deadline import Deadline
from sources.base import SourcePage, SourceQuery, SourceResult
from sources.http_client import JsonClient
from sources.records import page_of_record


class MeiliSearch:
    """The index.

    Args:
        client: of the server.
        index: its uid.
    """

    name = "meilisearch"

    def __init__(self, client: JsonClient, index: str) -> None:
        self._client = client
        self._path = f"/indexes/{quote(index, safe='')}"

    def search(self, query: SourceQuery, deadline: Deadline) -> SourceResult:
        """Return what `Source.search` says."""
        # A question is not a list of words that all must stand in a document: the commonest are left out first.
        body = {"q": query.text, "limit": query.k, "matchingStrategy": "frequency"}
        hits = self._client.post_list("hits", f"{self._path}/search", body, deadline)
        return SourceResult.of([self._page(hit) for hit in hits[: query.k]])

    def _page(self, hit: Any) -> SourcePage | None:
        """Return a hit's page; one without an address has that of the document on the server."""
        if not isinstance(hit, dict):
            return None
        page = page_of_record(hit)
        if page is None or page.url:
            return page
        url = f"{self._client.server.url}{self._path}/documents/{quote(page.id, safe='')}"
        return replace(page, url=url)
