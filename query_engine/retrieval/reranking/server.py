"""Rerank on a server: by Cohere's API, as vLLM, Infinity and Jina have it, or by Text Embeddings Inference's own.

Flow: `base.py` -> **here** -> the server -> scores. All passages go at once, in requests of a limited number, and all
requests end with the deadline. There are no retries: a question waits, and the search's order is an answer as well.
"""

import asyncio
import math
from collections.abc import Sequence
from typing import Any

import httpx

from loopback import may_use_proxy
from model_servers import ModelServer, asked_pause_s, said_by
from query_engine.runtime.deadline import Deadline

# How often a request under way looks whether anybody still waits.
CHECK_S = 0.1


class ServerReranker:
    """Scores passages on a server; the scale is the model's own. Safe to call from many threads.

    Args:
        base_url: of the server; `/rerank` is appended.
        model: its name there.
        key: its API key; none if empty.
        batch_texts: passages in one request, at most.
    """

    name = "http"

    def __init__(self, base_url: str, model: str, key: str, batch_texts: int) -> None:
        self._url = base_url.rstrip("/")
        self._model = model
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._batch_texts = batch_texts
        self._server = ModelServer("reranking server", self._url, "RAG_RERANK__", key)

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
        return asyncio.run(self._scores(question, texts, deadline))

    async def _scores(self, question: str, texts: Sequence[str], deadline: Deadline) -> list[float]:
        starts = range(0, len(texts), self._batch_texts)
        async with httpx.AsyncClient(
            # The deadline ends them sooner; this limit is one for each read.
            headers=self._headers,
            timeout=deadline.left_s() + 1,
            trust_env=may_use_proxy(self._url),
            follow_redirects=False,
        ) as client:
            requests = [
                asyncio.ensure_future(self._batch(client, question, texts[start : start + self._batch_texts]))
                for start in starts
            ]
            try:
                pending = set(requests)
                while pending:
                    done, pending = await asyncio.wait(
                        pending, timeout=min(CHECK_S, deadline.left_s()), return_when=asyncio.FIRST_EXCEPTION
                    )
                    for request in done:
                        request.result()
                    if pending:
                        deadline.check(f"while the {self._server.name} was scoring")
            finally:
                for request in requests:
                    request.cancel()
                await asyncio.gather(*requests, return_exceptions=True)
        return [score for request in requests for score in request.result()]

    async def _batch(self, client: httpx.AsyncClient, question: str, texts: Sequence[str]) -> list[float]:
        try:
            reply = await client.post(f"{self._url}/rerank", json=self._body(question, texts))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._server.unreachable() from error
        if reply.status_code != httpx.codes.OK:
            raise self._server.refused(reply.status_code, _said(reply), asked_pause_s(reply.headers))
        try:
            scores = self._read(reply.json())
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._server.garbage("something that is not a list of scores") from error
        if scores.keys() != set(range(len(texts))):
            raise self._server.garbage(f"scores of {len(scores)} passages instead of {len(texts)}")
        if not all(map(math.isfinite, scores.values())):
            raise self._server.garbage("scores that are not numbers")
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


def _said(reply: httpx.Response) -> str:
    try:
        return said_by(reply.json())
    except ValueError:
        return ""
