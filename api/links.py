"""Make the addresses that answers cite.

Flow: citations of a finished answer, places close to a declined one -> **here** -> `/run`, `/evaluate`. Pure.

A document that has a URL is cited by it; any other gets an absolute link to this service's document page.
Only http and https addresses leave the service: a `javascript:` link in a document's metadata must never reach a page.
"""

from collections.abc import Sequence
from urllib.parse import quote, urlencode, urlsplit

from query_engine.schema.events import Citation, Nearest
from query_engine.schema.passage import Passage


class Links:
    """Links into the corpora that were asked.

    Args:
        base_url: where this service is reached from outside, http or https.
        corpus: that links lead into, unless a document says which of several it is from.
    """

    def __init__(self, base_url: str, corpus: str) -> None:
        self._base = base_url.rstrip("/")
        self._corpus = corpus

    def document(self, doc_id: str, start: int, end: int, *, corpus: str = "") -> str:
        """Return the absolute link to a document's page with the text `[start, end)` marked."""
        query = urlencode({"corpus": corpus or self._corpus, "start": start, "end": end})
        return f"{self._base}/{document_path(doc_id)}?{query}#cited"

    def of(self, place: Citation | Nearest | Passage) -> str:
        """Return the document's own address, or the link to its page here."""
        return web_url(place.url) or self.document(place.doc_id, place.start, place.end, corpus=place.corpus)

    def numbered(self, citations: Sequence[Citation]) -> dict[int, str]:
        """Return the address of each `[n]`, in the order of n; quotes that share a number share the first one's."""
        first = {citation.number: citation for citation in reversed(citations)}
        return {number: self.of(first[number]) for number in sorted(first)}


def document_path(doc_id: str) -> str:
    """Return the path of a document's page below the service's address."""
    # Proxies and browsers fold `//`, `.` and `..`; then the slashes have to be encoded as well.
    foldable = any(part in {"", ".", ".."} for part in doc_id.split("/"))
    return f"documents/{quote(doc_id, safe='' if foldable else '/')}"


def web_url(url: str | None) -> str | None:
    """Return `url` if it is an absolute http or https address in one piece, else None."""
    if url is None or any(character.isspace() or not character.isprintable() for character in url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in {"http", "https"} and parts.netloc else None
