"""A stand-in of ClueWeb22's and FineWeb's search services, and of MeiliSearch, over documents of ours.

Flow: documents -> **here**: an index of words in memory, HTTP on a loopback port -> `sources/`, as if it were the real
services. As a process, over the documents of a folder, for trials:

    python -m tests.servers.search_service FOLDER [--port 8010] [--key KEY]

Tests and measurements run it in a thread. Tests have it fail by `play`: each `Fault` spoils one request to come.
"""

import argparse
import base64
import json
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from index.documents.store import Document
from index.lexical.document_names import document_names
from index.lexical.tantivy_index import LexicalIndex
from ingestion.reading.files import SourceFile, list_files
from ingestion.reading.reader import Reader
from settings import load_settings
from tests.servers.threaded import QuietHandler, ThreadedServer

# RFC 2606 keeps such names free: no page can be fetched from there.
SITE = "https://corpus.example/"
MAX_K = 100
KNOWN = {
    "/search": {
        *("query", "k", "cw22_a", "complexity", "shard_ids", "with_distance", "with_outlink", "rerank"),
        *("original_query", "iteration"),
    },
    "/fineweb/search": {
        *("query", "k", "complexity", "num_of_shards", "with_distance", "original_query", "iteration"),
    },
}
# What real replies hold among good records, and worse.
BROKEN_RECORDS = (
    "",
    "%%% no base64 %%%",
    base64.b64encode(b"{no json").decode(),
    base64.b64encode(b"[]").decode(),
    base64.b64encode(b'{"URL": "https://corpus.example/blank", "Clean-Text": "  ", "text": null}').decode(),
    base64.b64encode(b"[" * 100_000).decode(),
)


@dataclass(frozen=True, slots=True)
class Fault:
    """How one request is spoilt.

    Attributes:
        status: other than 200: that status with `body` and nothing else.
        body: of such a reply, or in place of a good one if it is not None.
        headers: extra ones.
        broken_records: stand before the good records.
        repeats: every record comes so many times.
        stall: do not answer until the server is closed.
        cut: announce the whole reply and drop the connection after half of it.
    """

    status: int = 200
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    broken_records: Sequence[str] = ()
    repeats: int = 1
    stall: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """What reached the wire.

    Attributes:
        path: without its query.
        params: of the query string, or the fields of a JSON body.
        key: `x-api-key`, or the bearer token; empty if there was none.
    """

    path: str
    params: Mapping[str, Any]
    key: str


class SearchService(ThreadedServer):
    """The server; a context manager that listens on a free loopback port unless one is named.

    Args:
        documents: can be found; each page is a whole document.
        key: that `/search` asks for; FineWeb and MeiliSearch take any.
        port: to listen on; 0 takes a free one.

    Attributes:
        requests: all that came, in order.
        on_request: called when one has come.
    """

    def __init__(self, documents: Iterable[Document], key: str | None = None, port: int = 0) -> None:
        self.requests: list[Request] = []
        self.on_request: Callable[[], object] = lambda: None
        self.closing = threading.Event()
        self._key = key
        self._documents = list(documents)
        self._words = LexicalIndex(None)
        self._words.add(
            (str(place), "", document.text, document_names(document.title, document.doc_id))
            for place, document in enumerate(self._documents)
        )
        self._faults: deque[Fault] = deque()
        self._guard = threading.Lock()
        super().__init__(_Handler, port)

    def play(self, *faults: Fault) -> None:
        """Set what happens to the next requests; those after them are answered well."""
        self._faults = deque(faults)

    def stop(self) -> None:
        """Let go of what stalls, and listen no more."""
        self.closing.set()
        super().stop()

    def next_fault(self, request: Request) -> Fault:
        """Note a request, and return what is to happen to it."""
        with self._guard:
            self.requests.append(request)
            self.on_request()
            return self._faults.popleft() if self._faults else Fault()

    def reply_to(self, request: Request) -> tuple[int, dict[str, Any], list[Any]]:
        """Return the status, the reply without its records, and the records."""
        if request.path.startswith("/indexes/"):
            return 200, {}, [self._hit(document) for document in self._found(str(request.params.get("q", "")), 20)]
        if request.path not in KNOWN:
            return 404, {"detail": "Not Found"}, []
        if request.path == "/search" and self._key is not None and request.key != self._key:
            return 401, {"detail": "Invalid or missing API Key."}, []
        query, k = request.params.get("query"), request.params.get("k", "10")
        if query is None or not str(k).isdecimal() or not request.params.keys() <= KNOWN[request.path]:
            return 422, {"detail": [{"loc": ["query"], "msg": "Field required, unknown or no number"}]}, []
        if not str(query).strip() or not 1 <= int(k) <= MAX_K:
            return 400, {"detail": f"The query is empty, or k is not 1 to {MAX_K}."}, []
        record = self._clueweb if request.path == "/search" else self._fineweb
        records = [
            base64.b64encode(json.dumps(record(document)).encode()).decode()
            for document in self._found(str(query), int(k))
        ]
        return 200, {"distances": [], "outlinks": []}, records

    def _found(self, query: str, k: int) -> list[Document]:
        terms = {term: 1.0 for term in self._words.query_terms(query)}
        return [self._documents[int(place)] for place, _ in self._words.search(terms, terms, k)]

    def _clueweb(self, document: Document) -> dict[str, str]:
        return {
            "URL": url_of(document.doc_id),
            "ClueWeb22-ID": f"clueweb22-en0000-00-{document.doc_id}",
            "Clean-Text": document.text,
            "Language": "en",
        }

    def _fineweb(self, document: Document) -> dict[str, Any]:
        return {
            "text": document.text,
            "id": f"<urn:{document.doc_id}>",
            "dump": "CC-MAIN-2024-10",
            "url": url_of(document.doc_id),
            "date": "2024-02-21T00:00:00Z",
            "file_path": "local",
            "language": "en",
            "language_score": 0.99,
            "token_count": len(document.text.split()),
        }

    def _hit(self, document: Document) -> dict[str, Any]:
        return {"id": document.doc_id, "title": document.title, "content": document.text}


def url_of(doc_id: str) -> str:
    """Return the address that a document has on this stand-in's web."""
    return SITE + quote(doc_id)


def doc_id_of(url: str) -> str:
    """Return the name of the document with this address."""
    return unquote(url.removeprefix(SITE))


class _Handler(QuietHandler):
    service: SearchService
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        params = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        self._answer(Request(parts.path, params, self.headers.get("x-api-key", "")))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))))
        self._answer(Request(self.path, body, self.headers.get("authorization", "").removeprefix("Bearer ")))

    def _answer(self, request: Request) -> None:
        fault = self.service.next_fault(request)
        if fault.stall:
            self.service.closing.wait()
            self.close_connection = True
            return
        status, reply, records = self.service.reply_to(request)
        records = [*fault.broken_records, *(record for record in records for _ in range(fault.repeats))]
        if status == 200:
            reply["hits" if request.path.startswith("/indexes/") else "results"] = records
        body = json.dumps(reply).encode() if fault.body is None else fault.body
        self.send_response(fault.status if fault.status != 200 else status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in fault.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if fault.cut else body)
        self.close_connection = fault.cut


def main() -> None:
    """Serve the documents of a folder until the process ends."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers.search_service", description=__doc__)
    parser.add_argument("folder", type=Path, help="documents, in any format that ingestion reads")
    parser.add_argument("--port", type=int, default=8010, help="to listen on (default: 8010; 0 picks a free one)")
    parser.add_argument("--key", help="that `/search` asks for (default: it asks for none)")
    arguments = parser.parse_args()
    with Reader(load_settings().ingest) as reader:
        files = [file for file in list_files(arguments.folder) if isinstance(file, SourceFile)]
        documents = [item for file in files for item in reader.read(file) if isinstance(item, Document)]
    service = SearchService(documents, arguments.key, arguments.port)
    sys.stdout.write(f"{len(documents)} documents on {service.url}\n")
    sys.stdout.flush()
    service.serve()


if __name__ == "__main__":
    main()
