"""MOSAIC, the search application of OpenWebSearch.eu, over one or all of its indexes.

Flow: `corpus.py`, a step of a pipeline -> **here** -> `GET /search`, then `GET /full-text` for each hit that came
without its text -> pages. The reply is `{"results": [{index: [hit, ...]}, ...]}`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, zip_longest
from typing import Any

from errors import SourceError
from query_engine.runtime.deadline import Deadline
from query_engine.runtime.threads import side_by_side
from query_engine.schema.answer_warning import AnswerWarning
from sources.base import SourcePage, SourceQuery, SourceResult
from sources.http_client import JsonClient
from sources.records import facts_of, text_field

# Full texts that are asked for at once.
TEXTS_AT_ONCE = 8
ALL = "all"
TEXT_FIELDS = ("mainContent", "fullText", "text")


class Mosaic:
    """The service.

    Args:
        client: of the service.
        index: the only one that is searched; None and `all` search all of them, and take their hits in turn.
    """

    name = "mosaic"

    def __init__(self, client: JsonClient, index: str | None) -> None:
        self._client = client
        self._index = None if index == ALL else index

    def search(self, query: SourceQuery, deadline: Deadline) -> SourceResult:
        """Return what `Source.search` says. A hit whose text cannot be had is given by its snippet, and counted."""
        asked = {"q": query.text, "limit": str(query.k), **({"index": self._index} if self._index else {})}
        hits = list(islice(_hits(self._client.get_list("results", "/search", asked, deadline)), query.k))
        texts, failures = self._texts([hit for _, hit in hits], deadline)
        pages = [_page(index, hit, text) for (index, hit), text in zip(hits, texts, strict=True)]
        warnings: tuple[AnswerWarning, ...] = ()
        if failures:
            told = f"Of {len(failures)} hits of mosaic only the snippet came: {failures[0].fact}"
            warnings = (AnswerWarning("snippets_only", told),)
        return SourceResult.of(pages, warnings)

    def _texts(self, hits: Sequence[Mapping[str, Any]], deadline: Deadline) -> tuple[list[str], list[SourceError]]:
        """Return the text of each hit, and why those have none that are given by their snippet."""
        texts = [text_field(hit, *TEXT_FIELDS) for hit in hits]
        missing = [place for place, text in enumerate(texts) if not text and _id(hits[place])]
        failures: list[SourceError] = []
        while missing:
            some, missing = missing[:TEXTS_AT_ONCE], missing[TEXTS_AT_ONCE:]
            found = side_by_side(partial(self._full_text, _id(hits[place]), deadline) for place in some)
            failed = [one for one in found if isinstance(one, SourceError)]
            failures += failed
            for place, one in zip(some, found, strict=True):
                texts[place] = one if isinstance(one, str) else ""
            if len(failed) == len(some):
                # Tries of the rest would cost time and end alike.
                failures += [failed[0]] * len(missing)
                break
        return [text or text_field(hit, "textSnippet") for text, hit in zip(texts, hits, strict=True)], failures

    def _full_text(self, name: str, deadline: Deadline) -> str | SourceError:
        try:
            reply = self._client.get("/full-text", {"id": name}, deadline)
        except SourceError as error:
            return error
        return text_field(reply, *TEXT_FIELDS) if isinstance(reply, dict) else ""


def _hits(results: Iterable[Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield index and hit, best first; of several indexes in turn, for their ranks cannot be compared."""
    lists = [
        [(str(index), hit if isinstance(hit, dict) else {}) for hit in hits]
        for one in results
        if isinstance(one, dict)
        for index, hits in one.items()
        if isinstance(hits, list)
    ]
    for row in zip_longest(*lists):
        yield from (hit for hit in row if hit is not None)


def _page(index: str, hit: Mapping[str, Any], text: str) -> SourcePage | None:
    name = _id(hit)
    if not text or not name:
        return None
    url = text_field(hit, "url").strip()
    web = url if url.lower().startswith(("http://", "https://")) else None
    facts = {**facts_of(hit, *TEXT_FIELDS), **_places(hit.get("locations")), "_source_index_": index}
    return SourcePage(name, web, text_field(hit, "title"), text, facts=facts)


def _id(hit: Mapping[str, Any]) -> str:
    name = hit.get("id")
    return str(name) if isinstance(name, str | int) else ""


def _places(locations: Any) -> dict[str, Sequence[float]]:
    """Return `latitude` and `longitude` of each place that the service's module for places names, side by side."""
    entries = [
        entry
        for location in (locations if isinstance(locations, list) else [])
        if isinstance(location, dict) and isinstance(location.get("locationEntries"), list)
        for entry in location["locationEntries"]
        if isinstance(entry, dict) and all(_is_number(entry.get(name)) for name in ("latitude", "longitude"))
    ]
    return {name: [float(entry[name]) for entry in entries] for name in ("latitude", "longitude")} if entries else {}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
