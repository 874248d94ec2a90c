"""Embed text on any server that has `/v1/embeddings`: vLLM, TEI, Infinity, Ollama, LM Studio, the vendors.

Flow: ingestion embeds leaves (`batch.py`), retrieval embeds questions -> **here** -> `remote.py` -> the server -> unit
vectors. Not LlamaIndex's `OpenAILikeEmbedding`, which changes line breaks, checks neither the number nor the order of
the vectors, sends batches one after the other, cannot be stopped, and ignores how long the server asks it to wait.

Requests run in an event loop in a thread, so that many can run concurrently and each can be cancelled at any time.
"""

import asyncio
import json
import logging
import math
import threading
import weakref
from binascii import a2b_base64
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import wait as wait_for_future
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
import numpy as np
import numpy.typing as npt
from pydantic import PrivateAttr
from tenacity import AsyncRetrying

from errors import ModelError
from index.embedding import probe
from index.embedding.base import Embedder
from index.embedding.model import SPECIAL_TOKENS, ServedModel
from index.plain_letters import plain_letters
from remote import CHECK_S, Remote, RemoteError, together, tried_again
from settings import EmbedSettings

Vectors = npt.NDArray[np.float32]
T = TypeVar("T")

logger = logging.getLogger(__name__)

FLOAT_BYTES = 4
# In a reply: more than 10,000 numbers in decimal digits.
MAX_VECTOR_BYTES = 1_000_000
# LlamaIndex's own limit.
MAX_BATCH_SIZE = 2048


@dataclass(frozen=True, slots=True)
class Patience:
    """How much time there is for a request.

    Attributes:
        retries: after the first attempt.
        pause_s: longest pause; a server that asks for more is not waited for.
        in_turn: it waits while `RAG_EMBED__CONCURRENCY` requests are under way.
    """

    retries: int
    pause_s: float
    in_turn: bool


# A reader waits for the answer, and must not wait for an ingestion as well.
FOR_A_QUESTION = Patience(retries=1, pause_s=5, in_turn=False)
INGESTION_PAUSE_S = 120.0
# Retries during an ingestion, after the first attempt.
RETRIES = 4
# Characters of all texts in one request; a single text is sent whatever its length.
BATCH_BYTES = 256_000
CONNECT_S = 5.0


class ServerEmbedding(Embedder):
    """Unit vectors from a server. Safe to call from many threads; nothing is sent before the first call.

    Texts longer than the model's window are embedded in parts, and get the mean of their vectors: the server is never
    given what it would cut. With each call one fixed text is embedded: a model that was swapped while this runs fails.

    Args:
        settings: the server, its model and its limits.
        model: how texts are measured for it.

    Attributes:
        slice_texts: passages in one call of `encode_documents` that keep all connections busy.
    """

    query_prefix: str = ""
    document_prefix: str = ""
    slice_texts: int = 0
    _settings: EmbedSettings = PrivateAttr()
    _model: ServedModel = PrivateAttr()
    _server: Remote = PrivateAttr()
    _client: httpx.AsyncClient = PrivateAttr()
    _loop: asyncio.AbstractEventLoop = PrivateAttr()
    _end: "weakref.finalize[..., ServerEmbedding]" = PrivateAttr()
    _slots: asyncio.Semaphore = PrivateAttr()
    _sentinel: Vectors | None = PrivateAttr(default=None)
    _warned: bool = PrivateAttr(default=False)

    def __init__(self, settings: EmbedSettings, model: ServedModel) -> None:
        key = settings.api_key.get_secret_value() if settings.api_key else ""
        url = (settings.base_url or "").rstrip("/")
        super().__init__(
            model_name=settings.model,
            embed_batch_size=min(settings.slice_texts, MAX_BATCH_SIZE),
            query_prefix=settings.query_prefix,
            document_prefix=settings.document_prefix,
            slice_texts=settings.slice_texts,
        )
        self._settings = settings
        self._model = model
        self._server = Remote.of_model(
            f"embedding server {url}", url, "RAG_EMBED__", "MODEL BATCH_TEXTS TIMEOUT_S", key
        )
        self._client = self._server.client(
            timeout=httpx.Timeout(settings.timeout_s, connect=CONNECT_S),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=settings.concurrency),
        )
        self._loop = asyncio.new_event_loop()
        self._slots = asyncio.Semaphore(settings.concurrency)
        thread = threading.Thread(target=self._loop.run_forever, name="embedding server", daemon=True)
        thread.start()
        self._end = weakref.finalize(self, _end, self._loop, thread, self._client)
        self._end.atexit = False  # the process takes all of it with it

    def encode_documents(self, texts: list[str], check: Callable[[], None] = lambda: None) -> Vectors:
        """Return one unit vector a passage, shape (len(texts), dimension), in order; the document prefix is added.

        Args:
            texts: passages; `slice_texts` of them keep the server busy.
            check: called several times a second; what it raises ends the requests that are under way.

        Raises:
            ModelServerError: the server does not answer, after all retries.
            ModelError: it refuses, or what it answers are not vectors of the model that it had.
        """
        patience = Patience(RETRIES, INGESTION_PAUSE_S, in_turn=True)
        return self._watched([self.document_prefix + text for text in texts], patience, check)

    def encode_question(self, text: str) -> Vectors:
        """Return the unit vector of a question, shape (dimension,); raises what `encode_documents` does, sooner."""
        vector: Vectors = self._watched([self.query_prefix + text], FOR_A_QUESTION)[0]
        return vector

    def probe(self) -> Vectors:
        """Return the vectors of the fixed texts by the model that answers now, shape (3, dimension).

        Raises:
            ModelServerError: the server does not answer.
            ModelError: it refuses, or answers with something else than vectors.
        """
        vectors = self._run(self._embed(probe.TEXTS, FOR_A_QUESTION))
        self._sentinel = vectors[:1]
        return vectors

    def close(self) -> None:
        """Close the connections and end the thread, as happens when this is forgotten; it cannot be used afterwards."""
        self._end()

    def _watched(self, texts: list[str], patience: Patience, check: Callable[[], None] = lambda: None) -> Vectors:
        """Embed texts, and one that tells whether the model is still the one that answered first."""
        vectors = self._run(self._embed([*texts, probe.TEXTS[0]], patience), check)
        if self._sentinel is None:
            self._sentinel = vectors[-1:]
        elif probe.likeness(self._sentinel, vectors[-1:]) < probe.SAME_COSINE:
            raise ModelError(
                f"The embedding server {self._server.url} answers with another model than before.",
                "Let it run the former model again; or restart this program, which then says what fits.",
            )
        return vectors[:-1]

    def _run(self, work: Coroutine[Any, Any, T], check: Callable[[], None] = lambda: None) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            while not wait_for_future([future], CHECK_S).done:
                check()
            return future.result()
        except RemoteError as error:
            raise error.of_model() from error
        finally:
            future.cancel()  # without effect on one that is done

    async def _embed(self, texts: Sequence[str], patience: Patience) -> Vectors:
        parts = [self._parts(plain_letters(text)) for text in texts]
        flat = [part for of_one in parts for part in of_one]
        limits = self._settings
        requests = batches(flat, limits.batch_texts, BATCH_BYTES, limits.concurrency)
        found = await together(self._request(batch, patience) for batch in requests)
        if len({rows.shape[1] for rows in found}) > 1:
            raise self._server.unusable("vectors of different lengths")
        vectors = np.concatenate(found)
        if len(flat) == len(texts):
            return vectors
        starts = np.cumsum([0, *map(len, parts)])[:-1]
        sums = np.add.reduceat(vectors, starts, axis=0)
        return self._unit(sums)

    def _parts(self, text: str) -> list[str]:
        """Cut a text that is longer than the window, in the middle at first, where there is a space."""
        if len(text) < 2 or self._model.count_tokens(text) <= self._model.text_tokens:
            return [text]
        middle = len(text) // 2
        cut = text.rfind(" ", middle // 2, middle) + 1 or middle
        return [*self._parts(text[:cut]), *self._parts(text[cut:])]

    async def _request(self, texts: list[str], patience: Patience) -> Vectors:
        """Embed one batch; try again after failures that may pass."""
        attempts = AsyncRetrying(**tried_again(patience.retries, lambda: patience.pause_s), sleep=asyncio.sleep)
        body: bytes = await attempts(self._attempt, texts, self._slots if patience.in_turn else nullcontext())
        return self._vectors(body, texts)

    async def _attempt(self, texts: list[str], slot: AbstractAsyncContextManager[Any]) -> bytes:
        # Base64 takes a quarter of the bytes and a tenth of the time; a server that does not know it sends numbers.
        request: dict[str, Any] = {"input": texts, "model": self.model_name, "encoding_format": "base64"}
        if self._settings.dimensions is not None:
            request["dimensions"] = self._settings.dimensions
        async with slot:
            return await self._server.send(
                self._client,
                "POST",
                "/embeddings",
                limit_s=self._settings.timeout_s + CONNECT_S,
                most_bytes=len(texts) * MAX_VECTOR_BYTES,
                json=request,
            )

    def _vectors(self, body: bytes, texts: list[str]) -> Vectors:
        """Read the reply, which may come in any order.

        Raises:
            ModelError: it does not hold one usable vector a text.
        """
        try:
            reply = json.loads(body)
            items = {item.get("index", place): item["embedding"] for place, item in enumerate(reply["data"])}
            rows = [_row(items[place]) for place in range(len(items))]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._server.unusable("something that is not a list of embeddings") from error
        if len(rows) != len(texts):
            raise self._server.unusable(f"{len(rows)} vectors for {len(texts)} texts")
        lengths = set(map(len, rows))
        if len(lengths) > 1:
            raise self._server.unusable("vectors of different lengths")
        self._check_dimension(lengths.pop() // FLOAT_BYTES)
        self._check_tokens(reply.get("usage"), texts)
        return self._unit(np.frombuffer(b"".join(rows), "<f4").reshape(len(rows), -1))

    def _check_dimension(self, found: int) -> None:
        dimensions = self._settings.dimensions
        if dimensions is not None and found != dimensions:
            raise ModelError(
                f"The embedding server {self._server.url} answered with vectors of {found} numbers instead of "
                f"{dimensions}.",
                "Unset RAG_EMBED__DIMENSIONS, or set it to a length that the model can give.",
            )
        if self._sentinel is not None and found != self._sentinel.shape[1]:
            raise self._server.unusable(f"vectors of {found} numbers, after ones of {self._sentinel.shape[1]}")

    def _check_tokens(self, usage: object, texts: list[str]) -> None:
        """Warn, once, where the server counted more tokens than were allowed for: it may have cut texts."""
        used = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        if self._warned or not isinstance(used, int) or not self._model.estimated:
            return
        allowed = sum(2 * self._model.count_tokens(text) + 4 * SPECIAL_TOKENS for text in texts)
        if used > allowed:
            self._warned = True
            logger.warning(
                "The embedding model counts more tokens than were allowed for (%d instead of %d): long passages may "
                "be cut by the server. Set RAG_EMBED__TOKENIZER to the model's own tokenizer.json.",
                used,
                allowed,
            )

    def _unit(self, vectors: Vectors) -> Vectors:
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all():
            raise self._server.unusable("vectors that hold no finite numbers")
        if not lengths.all():
            raise self._server.unusable("vectors that are all zeros")
        unit: Vectors = (vectors / lengths).astype(np.float32)
        return unit

    def _get_query_embedding(self, query: str) -> list[float]:
        vector: list[float] = self.encode_question(query).tolist()
        return vector

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        # Who asks in this way judges sentences for a question; ingestion takes arrays.
        texts = [self.document_prefix + text for text in texts]
        rows: list[list[float]] = self._watched(texts, FOR_A_QUESTION).tolist()
        return rows


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread, client: httpx.AsyncClient) -> None:
    """Close a client in the loop that it was used in, then the loop."""
    if threading.current_thread() is thread:  # the last reference went away there; it cannot wait for itself
        loop.create_task(client.aclose()).add_done_callback(lambda _: loop.stop())
        return
    asyncio.run_coroutine_threadsafe(client.aclose(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def _row(embedding: object) -> bytes:
    """Return one vector, sent as base64 of little-endian floats or as a list of numbers, as such floats.

    Raises:
        ValueError, TypeError: it is neither.
    """
    if isinstance(embedding, str):
        row = a2b_base64(embedding)
    else:
        numbers = np.asarray(embedding, "<f4")
        row = numbers.tobytes() if numbers.ndim == 1 else b""
    if not row or len(row) % FLOAT_BYTES:
        raise ValueError("no vector")
    return row


def batches(texts: Sequence[str], most_texts: int, most_bytes: int, at_once: int) -> Iterator[list[str]]:
    """Group texts (one at least) in order, within both limits, evenly over the requests that are sent at once."""
    number = math.ceil(len(texts) / most_texts)
    if number > 1:
        number = math.ceil(number / at_once) * at_once
    target = math.ceil(len(texts) / number)
    batch: list[str] = []
    size = 0
    for text in texts:
        weight = len(text.encode(errors="replace"))
        if batch and (len(batch) == target or size + weight > most_bytes):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += weight
    if batch:
        yield batch
