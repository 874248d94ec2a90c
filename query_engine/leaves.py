"""Find leaves: dense search in Chroma, BM25 in tantivy, fused by rank.

Flow: question -> **here** -> `merging.py`. A LlamaIndex retriever, so its events are LlamaIndex's. It fetches no text:
that is cut from the documents once merging has decided what is worth reading.
"""

import asyncio
from dataclasses import dataclass, field

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from index.corpus import Corpus
from query_engine.fusion import reciprocal_rank_fusion
from settings import RetrievalSettings


@dataclass(slots=True)
class LeafHit:
    """A leaf that a search found.

    Attributes:
        node_id: names the leaf.
        score: fused, higher is better.
        scores: by search: `dense` (cosine, -1..1), `lexical` (BM25, above 0); absent where it was not found.
    """

    node_id: str
    score: float
    scores: dict[str, float] = field(default_factory=dict)


class LeafRetriever(BaseRetriever):
    """Hybrid search over the leaves of one corpus.

    Args:
        corpus: what to search.
        embedder: embeds the question; the model the corpus was built with.
        options: mode, candidates a search, fusion constant.
    """

    def __init__(self, corpus: Corpus, embedder: BaseEmbedding, options: RetrievalSettings) -> None:
        super().__init__()
        self._corpus = corpus
        self._embedder = embedder
        self._options = options

    def search(self, question: QueryBundle) -> list[LeafHit]:
        """Return the leaves that any search found, best first; `[]` when none did."""
        rankings: dict[str, list[tuple[str, float]]] = {}
        if self._options.mode != "lexical":
            embedding = question.embedding or self._embedder.get_query_embedding(question.query_str)
            rankings["dense"] = self._corpus.vectors.search(embedding, self._options.candidates_k)
        if self._options.mode != "dense":
            rankings["lexical"] = self._corpus.words.search(question.query_str, self._options.candidates_k)
        by_search = {name: dict(ranking) for name, ranking in rankings.items()}
        fused = reciprocal_rank_fusion([list(found) for found in by_search.values()], self._options.rrf_k)
        return [
            LeafHit(leaf, score, {name: found[leaf] for name, found in by_search.items() if leaf in found})
            for leaf, score in fused.items()
        ]

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(node=TextNode(id_=hit.node_id, metadata={"scores": hit.scores}), score=hit.score)
            for hit in self.search(query_bundle)
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        # The embedder and both stores are synchronous: one thread hop keeps the event loop free.
        return await asyncio.to_thread(self._retrieve, query_bundle)
