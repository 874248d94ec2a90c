"""Rerank on Hugging Face's Text Embeddings Inference (TEI), whose API is its own, by LlamaIndex's postprocessor.

Flow: `base.py` -> **here** -> LlamaIndex's `TextEmbeddingInference` -> `server.py` sends the requests -> scores.

The postprocessor's own request is replaced: it waits as long as the server takes between two bytes, goes through
proxies also on loopback, takes an error for scores, sends all passages at once though TEI accepts 32 by default, and
sends a key without the word `Bearer`. Texts are not truncated: TEI then refuses what its model would not read, and the
warning says so.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.postprocessor.tei_rerank import TextEmbeddingInference
from pydantic import PrivateAttr

from query_engine.retrieval.reranking.server import ServerReranker
from query_engine.runtime.deadline import Deadline

Score = Callable[[str, Sequence[str]], list[float]]


class TEIReranker(ServerReranker):
    """Scores passages by the one model that the server runs. Safe to call from many threads.

    Args:
        base_url: of the server; `/rerank` is appended.
        key: its API key; none if empty.
        batch_texts: passages in one request, at most.
    """

    name = "tei"

    def __init__(self, base_url: str, key: str, batch_texts: int) -> None:
        super().__init__(base_url, "", key, batch_texts)

    def score(self, question: str, texts: Sequence[str], deadline: Deadline) -> list[float]:
        """Return the server's score for each text; raises what `ServerReranker.score` does."""
        send = super().score
        postprocessor = _Postprocessor(lambda query, given: send(query, given, deadline), len(texts))
        nodes = [NodeWithScore(node=TextNode(id_=str(place), text=text)) for place, text in enumerate(texts)]
        ranked = postprocessor.postprocess_nodes(nodes, query_str=question)
        scores = {int(found.node.node_id): found.get_score() for found in ranked}
        return [scores[place] for place in range(len(texts))]

    def _body(self, question: str, texts: Sequence[str]) -> dict[str, Any]:
        return {"query": question, "texts": list(texts)}

    def _read(self, reply: Any) -> dict[int, float]:
        return {int(item["index"]): float(item["score"]) for item in reply}


class _Postprocessor(TextEmbeddingInference):
    """Keeps all nodes, and has `send` ask the server."""

    _send: Score = PrivateAttr()

    def __init__(self, send: Score, count: int) -> None:
        super().__init__(top_n=count)
        self._send = send

    def _call_api(self, query: str, texts: list[str]) -> list[dict[str, Any]]:  # type: ignore[override]  # its annotation is wrong
        return [{"index": place, "score": score} for place, score in enumerate(self._send(query, texts))]
