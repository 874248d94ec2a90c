"""Rerank on a server: by Cohere's API, as vLLM, Infinity and Jina have it, or by Text Embeddings Inference's own.

Flow: `base.py` -> **here** -> the server -> scores. All passages go at once, in requests of a limited number, and all
requests end with the deadline. There are no retries: a question waits, and the search's order is an answer as well.
"""

import asyncio
import json
import math
from collections.abc import Sequence
from typing import Any

import httpx

from query_engine.runtime.deadline import Deadline
from remote import Remote, RemoteError, together, while_wanted

# Passages in a request: the limit that text-embeddings-inference has by default.
BATCH_TEXTS = 32


class ServerReranker:
    """Scores passages on a server; the scale is the model's own. Safe to call from many threads.

    Args:
        base_url: of the server; `/rerank` is appended.
        model: its name there.
        key: its API key; none if empty.
    """

    name = "http"

    def __init__(self, base_url: str, model: str, key: str) -> None:
        self._model = model
        self._server = Remote.of_model(
            f"reranking server {base_url.rstrip('/')}", base_url, "RAG_RERANK__", "MODEL", key
        )

    def score(self, question: str, texts: Sequence[str], deadline: Deadline) -> list[float]:
        """Return the server's score for each text.

        Raises:
            OutOfTimeError: the deadline passed before all replies were complete.
            ModelServerError: the server does not answer.
            ModelError: it refuses, or answers with something else than one finite score a text.
        """
        if not texts:
            return []
        deadline.check("before the passages were sent")
        try:
            return asyncio.run(self._scores(question, texts, deadline))
        except RemoteError as error:
            raise error.of_model() from error

    async def _scores(self, question: str, texts: Sequence[str], deadline: Deadline) -> list[float]:
        # The deadline ends them sooner, by `check`.
        limit_s = deadline.left_s() + 1

        parts = (texts[start : start + BATCH_TEXTS] for start in range(0, len(texts), BATCH_TEXTS))
        async with self._server.client(timeout=limit_s) as client:
            found = await while_wanted(
                together(self._batch(client, question, part, limit_s) for part in parts),
                lambda: deadline.check("while the reranking server was scoring"),
            )
        return [score for scores in found for score in scores]

    async def _batch(
        self, client: httpx.AsyncClient, question: str, texts: Sequence[str], limit_s: float
    ) -> list[float]:
        body = await self._server.send(client, "POST", "/rerank", limit_s=limit_s, json=self._body(question, texts))
        try:
            scores = self._read(json.loads(body))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._server.unusable("something that is not a list of scores") from error
        if scores.keys() != set(range(len(texts))):
            raise self._server.unusable(f"scores of {len(scores)} passages instead of {len(texts)}")
        if not all(map(math.isfinite, scores.values())):
            raise self._server.unusable("scores that are not numbers")
        return [scores[place] for place in range(len(texts))]

    # The form of request and reply, which another server may have in its own way.
    def _body(self, question: str, texts: Sequence[str]) -> dict[str, Any]:
        return {"model": self._model, "query": question, "documents": list(texts), "top_n": len(texts)}

    def _read(self, reply: Any) -> dict[int, float]:
        """Return place -> score; raises any of the errors of a value of another shape."""
        return {int(item["index"]): float(item["relevance_score"]) for item in reply["results"]}


class TEIReranker(ServerReranker):
    """Scores passages by the one model that the server runs; it refuses texts that its model would not read whole."""

    name = "tei"

    def _body(self, question: str, texts: Sequence[str]) -> dict[str, Any]:
        return {"query": question, "texts": list(texts)}

    def _read(self, reply: Any) -> dict[int, float]:
        return {int(item["index"]): float(item["score"]) for item in reply}
