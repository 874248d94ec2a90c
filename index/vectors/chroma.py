"""One Chroma collection, embedded or on a server. The only file that knows chromadb.

Flow: ingestion upserts leaves, the dense retriever searches -> **here** -> the corpus's `vectors` folder, or `chroma
run` at RAG_INDEX__CHROMA_URL. Derived from `documents/store.py`, so neither text nor node is kept: an id, a vector and
the version it belongs to. Its failures are ours: a full disk, a damaged folder and a silent server ask for different
remedies. LlamaIndex reads it through `llamaindex.py`.
"""

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Collection as Several
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import chromadb
import httpx
import numpy as np
import numpy.typing as npt
from chromadb.api import ServerAPI
from chromadb.api.client import Client
from chromadb.api.fastapi import FastAPI
from chromadb.config import Settings as ChromaSettings
from chromadb.config import System
from chromadb.errors import InvalidArgumentError, InvalidDimensionException, NotFoundError
from tenacity import retry, retry_if_exception, stop_after_delay, wait_exponential

from errors import CorpusError, IndexDamagedError, IndexMismatchError, StorageError, StoreUnavailableError
from index.disk import failure, is_locked, repair
from index.documents.span_tree import split_node_id
from index.hits import Hits

EMBEDDED_NAME = "leaves"
DATABASE_FILE = "chroma.sqlite3"
# Candidates the graph search keeps: Chroma's default of 100 misses neighbours when 50 or more are asked for.
EF_SEARCH = 200
# Chroma's client waits for ever. A question does not; a batch may meet the server while it builds its graph.
READ_TIMEOUT = httpx.Timeout(3, connect=2)
WRITE_TIMEOUT = httpx.Timeout(120, connect=2)
PAGE = 5000
# Chroma in this process lets nothing else run during a call: some 0.5 ms a vector on an idle machine, ten times that on
# a busy one. A request to the service meets several calls, since each time it waits for its socket the next one begins.
UPSERT_ROWS = 32
# Leaves in one request to a server or one deletion; a run that was asked to stop does so between two of them.
CHANGED_ROWS = 500
# Chroma's conditions take time by the leaves that meet them, 5 ms a thousand; this many more neighbours take 1 ms.
WIDER = 8
# Chroma puts each value of a condition into a separate SQLite variable; SQLite allows 32,766 of them.
MAX_VALUES = 10_000
_CONFIGURATION: Any = {"hnsw": {"space": "cosine", "ef_search": EF_SEARCH}}
# Changes after which Chroma writes its graph (its own default), and the fewest that it takes.
WRITTEN_AFTER = 1000
WRITTEN_SOON = 2

Vectors = npt.NDArray[np.float32]


class Collection:
    """Vectors of leaves by node id, under cosine distance. Safe to read from many threads; one process writes.

    Args:
        reader: the client that reads.
        writer: the client that writes.
        name: of the collection; it is made when missing.
        meaning: turns Chroma's errors into ours.
        near: its vectors are on this machine, and can be fetched in no time.

    Attributes:
        raw: Chroma's own object.
        near: as given.
        exact: searches some leaves beside the graph, see `small_files.py`; takes what `search` takes.
        warm_up: reads what the first search would read for that.

    Raises:
        CorpusError: what `meaning` makes of a failure.
    """

    def __init__(
        self, reader: Any, writer: Any, name: str, meaning: Callable[[Exception], CorpusError], *, near: bool = True
    ) -> None:
        self._reader, self._writer, self._name, self._meaning, self.near = reader, writer, name, meaning, near
        self.exact: Callable[[Vectors, int, Several[str] | None], Hits] = _nothing
        self.warm_up: Callable[[], object] = _nothing
        with self._failures():
            self.raw: Any = reader.get_or_create_collection(name, configuration=_CONFIGURATION, embedding_function=None)
            self._written: Any = self.raw if writer is reader else writer.get_collection(name, embedding_function=None)
            self._batch = int(reader.get_max_batch_size())

    @property
    def served(self) -> bool:
        """Whether a server holds it."""
        return self._writer is not self._reader

    def ask_server(self) -> None:
        """Raise StoreUnavailableError if the vectors are on a server that does not answer, another if it lost them."""
        if self.served:
            with self._failures():
                self._reader.get_collection(self._name, embedding_function=None)

    def probe(self) -> None:
        """Search for a vector that is there, which needs all that a question needs; raise CorpusError if that fails."""
        with self._failures():
            some = self.raw.get(limit=1, include=["embeddings"])["embeddings"]
        if len(some):
            self.nearest(some[0], 1)

    def close(self) -> None:
        """Let go of files and connections."""
        self.exact = self.warm_up = _nothing  # they hold this object, and with it Chroma's locks
        self._reader.close()
        if self.served:
            self._writer.close()

    def drop(self) -> None:
        """Delete the collection with all it holds."""
        with self._failures():
            self._writer.delete_collection(self._name)

    def count(self) -> int:
        """Number of ids."""
        with self._failures():
            return int(self.raw.count())

    def count_versions(self, versions: Sequence[str]) -> int:
        """Number of ids that belong to these document versions."""
        count = 0
        with self._failures():
            for start in range(0, len(versions), MAX_VALUES):
                part = {"version": {"$in": list(versions[start : start + MAX_VALUES])}}
                count += len(self.raw.get(where=part, include=[])["ids"])
        return count

    def ids(self) -> Iterator[str]:
        """Yield every id; nothing may be written meanwhile."""
        offset = 0
        while True:
            with self._failures():
                page = self.raw.get(limit=PAGE, offset=offset, include=[])["ids"]
            if not page:
                return
            yield from page
            offset += len(page)

    def upsert(self, ids: Sequence[str], embeddings: Vectors, stopping: Callable[[], bool] = lambda: False) -> None:
        """Store vectors, shape (ids, dimension); known ids are replaced.

        Once `stopping` returns true the rest is left out.
        """
        self.ask_server()  # a silent server is noticed after the shorter of the two waits
        with self._failures():
            rows = min(self._batch, CHANGED_ROWS if self.served else UPSERT_ROWS)
            for start in range(0, len(ids), rows):
                if stopping():
                    return
                part = slice(start, start + rows)
                self._written.upsert(
                    ids=list(ids[part]),
                    embeddings=embeddings[part],
                    metadatas=[{"version": split_node_id(name)[0]} for name in ids[part]],
                )

    def fetch(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return id -> vector of those that are there."""
        found: dict[str, Vectors] = {}
        with self._failures():
            for start in range(0, len(ids), self._batch):
                rows = self.raw.get(ids=list(ids[start : start + self._batch]), include=["embeddings"])
                found |= zip(rows["ids"], np.asarray(rows["embeddings"], np.float32), strict=True)
        return found

    def delete_ids(self, ids: Sequence[str]) -> None:
        """Remove these ids; unknown ones are not an error."""
        with self._failures():
            for start in range(0, len(ids), self._batch):
                self._written.delete(ids=list(ids[start : start + self._batch]))

    def delete_versions(self, versions: Sequence[str], stopping: Callable[[], bool] = lambda: False) -> None:
        """Remove all that belongs to these document versions; unknown ones are not an error.

        Once `stopping` returns true the rest is left.
        """
        with self._failures():
            for start in range(0, len(versions), MAX_VALUES):
                part = {"version": {"$in": list(versions[start : start + MAX_VALUES])}}
                ids = self.raw.get(where=part, include=[])["ids"]
                for first in range(0, len(ids), CHANGED_ROWS):
                    if stopping():
                        return
                    self._written.delete(ids=ids[first : first + CHANGED_ROWS])

    def search(self, embedding: Sequence[float] | Vectors, top_k: int, versions: Several[str] | None = None) -> Hits:
        """Return (node id, cosine similarity in -1..1) of the nearest leaves, nearest first; `[]` if there are none.

        Args:
            embedding: shape (dimension,).
            top_k: most leaves to return.
            versions: only leaves of these document versions, None meaning all; a set is quickest.
        """
        if versions is not None and not versions:
            return []
        exact = self.exact(np.asarray(embedding, np.float32), top_k, versions)
        graph = self.nearest(embedding, top_k if versions is None else WIDER * top_k)
        if versions is not None:
            graph = [hit for hit in graph if split_node_id(hit[0])[0] in versions][:top_k]
            if len(graph) < top_k:
                graph = self.nearest_of(embedding, top_k, sorted(versions))
        # A leaf that both found keeps the graph's score.
        return sorted((dict(exact) | dict(graph)).items(), key=lambda hit: -hit[1])[:top_k]

    def nearest(self, embedding: Sequence[float] | Vectors, top_k: int) -> Hits:
        """Return (id, cosine similarity in -1..1) of the nearest vectors, nearest first; `[]` if there are none."""
        return self.nearest_each(np.asarray([embedding], np.float32), top_k)[0]

    def nearest_of(self, embedding: Sequence[float] | Vectors, top_k: int, versions: Sequence[str]) -> Hits:
        """Return what `nearest` returns if there were no others than these document versions."""
        query = np.asarray([embedding], np.float32)
        hits: Hits = []
        for start in range(0, len(versions), MAX_VALUES):
            part = {"version": {"$in": list(versions[start : start + MAX_VALUES])}}
            hits += self.nearest_each(query, top_k, part)[0]
        return sorted(hits, key=lambda hit: -hit[1])[:top_k]

    def nearest_each(self, embeddings: Vectors, top_k: int, where: dict[str, Any] | None = None) -> list[Hits]:
        """Return what `nearest` returns for each row, of the vectors that meet Chroma's condition `where`."""
        with self._failures():
            found = self.raw.query(query_embeddings=embeddings, n_results=top_k, where=where, include=["distances"])
        return [
            [(name, 1.0 - distance) for name, distance in zip(ids, distances, strict=True)]
            for ids, distances in zip(found["ids"], found["distances"], strict=True)
        ]

    def write_graph(self) -> None:
        """Have changes that wait be written when the graph is loaded, and load it; nothing may be searched before."""
        self.write_after(WRITTEN_SOON)
        self.probe()

    def write_after(self, changes: int) -> None:
        """Have the graph written after so many changes, unless it is loaded already."""
        with self._failures(), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Chroma warns of how it writes its own settings
            if self.raw.configuration_json["hnsw"]["sync_threshold"] != changes:
                self.raw.modify(configuration={"hnsw": {"sync_threshold": changes}})
                self.raw = self._written = self._reader.get_collection(self._name, embedding_function=None)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        with failures_named(self._meaning):
            yield


def _nothing(*_: object) -> Hits:
    return []


@contextmanager
def failures_named(meaning: Callable[[Exception], CorpusError]) -> Iterator[None]:
    """Raise what `meaning` makes of Chroma's errors; it gives its Rust errors no common class."""
    try:
        yield
    except CorpusError:
        raise
    except Exception as error:
        raise meaning(error) from error


def _is_locked(error: BaseException) -> bool:
    return isinstance(error, StorageError) and is_locked(error.fact)


# After a process was killed, its child that examines the vectors may hold SQLite's lock a little longer; so may a
# connection that Chroma closes in the background.
while_locked = retry(
    retry=retry_if_exception(_is_locked), wait=wait_exponential(0.1, max=2), stop=stop_after_delay(20), reraise=True
)


@while_locked
def open_embedded(folder: Path) -> Collection:
    """Open the collection in `folder`, which is made when missing. One process only may have it open.

    Raises:
        IndexDamagedError: the folder holds something that Chroma cannot open.
        StorageError: the disk is full, or refuses; or another process has held its lock for 20 s.
    """

    def meaning(error: Exception) -> CorpusError:
        return failure("The vector store", error, folder)

    with failures_named(meaning):
        client = _embedded_client(folder)
    try:
        collection = _Embedded(folder, client, meaning)
        collection.write_after(WRITTEN_AFTER)  # `flush.py` may have been killed
    except BaseException:
        client.close()
        raise
    return collection


def _embedded_client(folder: Path) -> Client:
    """Do what `PersistentClient` does, which keeps a system that failed to start and hands it out ever after."""
    system = System(ChromaSettings(is_persistent=True, persist_directory=str(folder), anonymized_telemetry=False))
    system.instance(ServerAPI)  # type: ignore[type-abstract]  # Chroma chooses the class
    system.start()
    return Client.from_system(system)


def open_in_memory() -> Collection:
    """Make a collection that is written nowhere; closing it deletes it.

    Raises:
        IndexDamagedError: Chroma fails.
    """

    def meaning(error: Exception) -> CorpusError:
        return failure("The vector store", error, None)

    with failures_named(meaning):
        client = chromadb.EphemeralClient(settings=ChromaSettings(anonymized_telemetry=False))
    # Chroma's clients of this kind share one store in a process.
    return _Ephemeral(client, client, uuid4().hex, meaning)


class _Embedded(Collection):
    """A collection in a folder."""

    def __init__(self, folder: Path, client: Client, meaning: Callable[[Exception], CorpusError]) -> None:
        super().__init__(client, client, EMBEDDED_NAME, meaning)
        self._file = folder / DATABASE_FILE

    def probe(self) -> None:
        # Connections that are open go on reading a file that was deleted. It is not opened here: closing it again would
        # take away the locks that Chroma has on it.
        with self._failures():
            if not (self._file.is_file() and os.access(self._file, os.R_OK)):
                raise OSError("unable to open database file")
        super().probe()


class _Ephemeral(Collection):
    """A collection that goes when it is closed."""

    def close(self) -> None:
        self.drop()
        super().close()


def open_served(url: str, name: str, corpus: str, *, near: bool = False) -> Collection:
    """Open the collection `name` of the server at `url`; it is made when missing.

    Args:
        url: base address of the server.
        name: of the collection.
        corpus: whose vectors these are, for messages.
        near: the server is this service's own, on this machine.

    Raises:
        StoreUnavailableError: the server does not answer in time.
    """

    def meaning(error: Exception) -> CorpusError:
        if isinstance(error, NotFoundError):
            return IndexDamagedError(f"The vector server at {url} lost the vectors of {corpus!r}.", repair(corpus))
        return StoreUnavailableError(
            f"The vector server at {url} failed: {str(error).strip().rstrip('.') or type(error).__name__}.",
            "Start it, or check its log and RAG_INDEX__CHROMA_URL; then try again.",
        )

    with failures_named(meaning):
        reader, writer = (_TimedClient(url, timeout) for timeout in (READ_TIMEOUT, WRITE_TIMEOUT))
    return Collection(reader, writer, name, meaning, near=near)


def delete_served(url: str, name: str, corpus: str) -> None:
    """Delete the collection `name` of the server at `url`; see `open_served`."""
    collection = open_served(url, name, corpus)
    collection.drop()
    collection.close()


def nearest_texts(
    url: str, name: str, embedding: Sequence[float], k: int, *, timeout_s: float, token: str | None = None
) -> list[tuple[str, str | None, dict[str, Any]]]:
    """Search a collection that another program made; return id, text and metadata of each hit, nearest first.

    Nothing is written. A connection is made for the call and closed after it.

    Args:
        url: base address of the server.
        name: of the collection, which must exist.
        embedding: shape (dimension,), of the model that the collection was made with.
        k: hits to return, at most.
        timeout_s: for the server to answer.
        token: for a server that asks for one.

    Raises:
        StoreUnavailableError: the server does not answer in time, or fails.
        IndexDamagedError: there is no such collection.
        IndexMismatchError: its vectors have another dimension.
    """

    def meaning(error: Exception) -> CorpusError:
        if isinstance(error, NotFoundError):
            return IndexDamagedError(
                f"The Chroma server at {url} has no collection {name!r}.", "Check RAG_SOURCES__CHROMA_URL."
            )
        if isinstance(error, InvalidArgumentError | InvalidDimensionException):
            return IndexMismatchError(
                f"The collection {name!r} of the Chroma server at {url} cannot be searched with vectors of "
                f"{len(embedding)} numbers.",
                "Set RAG_EMBED__MODEL to the model that it was made with.",
            )
        return StoreUnavailableError(
            f"The Chroma server at {url} failed: {str(error).strip().rstrip('.') or type(error).__name__}.",
            "Start it, or check its log, RAG_SOURCES__CHROMA_URL and RAG_SOURCES__CHROMA_KEY; then try again.",
        )

    with failures_named(meaning):
        client = _TimedClient(url, httpx.Timeout(timeout_s), token)
        try:
            found = client.get_collection(name, embedding_function=None).query(
                query_embeddings=np.asarray([embedding], np.float32), n_results=k, include=["documents", "metadatas"]
            )
        finally:
            client.close()
    texts, metadatas = found["documents"] or [[]], found["metadatas"] or [[]]
    return [
        (row, text, dict(metadata or {}))
        for row, text, metadata in zip(found["ids"][0], texts[0], metadatas[0], strict=True)
    ]


class _TimedClient:
    """What a `Collection` needs of a Chroma server, with a bound on every wait.

    Chroma's own client sends requests while it is constructed, without any bound; its parts do not.
    """

    def __init__(self, url: str, timeout: httpx.Timeout, token: str | None = None) -> None:
        parts = urlsplit(url)
        self._system = System(
            ChromaSettings(
                anonymized_telemetry=False,
                chroma_api_impl="chromadb.api.fastapi.FastAPI",
                chroma_server_host=parts.hostname,
                chroma_server_http_port=parts.port or (443 if parts.scheme == "https" else 80),
                chroma_server_ssl_enabled=parts.scheme == "https",
                chroma_server_headers={"x-chroma-token": token} if token else None,
            )
        )
        self._server = self._system.instance(FastAPI)
        self._session = _connections(self._server)
        self._session.timeout = timeout
        self._system.start()

    def get_or_create_collection(self, name: str, configuration: Any, embedding_function: None) -> chromadb.Collection:
        model = self._server.create_collection(name, configuration=configuration, get_or_create=True)
        return chromadb.Collection(self._server, model, embedding_function)

    def get_collection(self, name: str, embedding_function: None) -> chromadb.Collection:
        return chromadb.Collection(self._server, self._server.get_collection(name), embedding_function)

    def delete_collection(self, name: str) -> None:
        self._server.delete_collection(name)

    def get_max_batch_size(self) -> int:
        return int(self._server.get_max_batch_size())

    def close(self) -> None:
        self._system.stop()
        self._session.close()


def _connections(server: FastAPI) -> httpx.Client:
    """Return a server's connections, the one private member of Chroma that is used.

    Chroma has no setting for its timeouts, and waits for ever. `tests/unit/index/vectors/test_chroma.py` fails when a
    release keeps its connections elsewhere; without them this raises rather than wait without a bound.
    """
    session = getattr(server, "_session", None)
    if not isinstance(session, httpx.Client):
        raise TypeError("This release of chromadb keeps its connections elsewhere: no wait can be bounded.")
    return session
