"""A Chroma collection that another program made.

Flow: `corpus.py` -> **here**: embed the query -> `index/vectors/chroma.py`, the only file that knows Chroma -> pages.
The collection's vectors must come from the model of RAG_EMBED__MODEL (Chroma's own default is the packaged MiniLM).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from errors import CorpusError, StoreUnavailableError
from query_engine.runtime.deadline import Deadline
from remote import Kind, RemoteError
from sources.base import SourcePage, SourceQuery, SourceResult
from sources.records import page_of_record
from sources.tries import TIMEOUT_S, try_often

COLLECTION_PATH = "/api/v2/tenants/default_tenant/databases/default_database/collections"

# Vector, number of hits and seconds -> id, text and metadata of each hit, nearest first.
Nearest = Callable[[Sequence[float], int, float], list[tuple[str, str | None, dict[str, Any]]]]


class ForeignChroma:
    """The collection.

    Args:
        address: of the collection, see `address_of`.
        embed: a query -> its vector.
        nearest: searches the collection; raises CorpusError.
    """

    name = "chroma"

    def __init__(
        self,
        address: str,
        embed: Callable[[str], Sequence[float]],
        nearest: Nearest,
    ) -> None:
        self._address = address
        self._embed = embed
        self._nearest = nearest

    def search(self, query: SourceQuery, deadline: Deadline) -> SourceResult:
        """Return what `Source.search` says."""
        vector = self._embed(query.text)

        def once() -> list[tuple[str, str | None, dict[str, Any]]]:
            try:
                return self._nearest(vector, query.k, min(TIMEOUT_S, deadline.left_s()))
            except CorpusError as error:
                kind: Kind = "unreachable" if isinstance(error, StoreUnavailableError) else "not_found"
                raise RemoteError(error.fact, error.remedy, kind) from error

        rows = try_often(once, deadline)
        return SourceResult.of([self._page(*row) for row in rows])

    def _page(self, name: str, text: str | None, metadata: dict[str, Any]) -> SourcePage | None:
        """Return a row's page; one without an address has the collection's, with its id as the fragment."""
        page = page_of_record({**metadata, "id": name}, text or "")
        if page is None or page.url:
            return page
        url = f"{self._address}#{quote(page.id, safe='')}"
        return replace(page, url=url)


def address_of(url: str, collection: str) -> str:
    """Return where the server at `url` describes this collection."""
    return f"{url.rstrip('/')}{COLLECTION_PATH}/{quote(collection, safe='')}"
