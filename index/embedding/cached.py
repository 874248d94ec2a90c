"""Remember the vectors of what was embedded last, so that the stages of one answer embed nothing twice.

Flow: search, gate, synthesizer -> **here** -> the corpus's embedder. The question is asked for by all three, and the
gate and the synthesizer read the same sentences; an embedder is asked once for each. Ingestion goes past this.
"""

import threading
from collections.abc import Callable, Sequence

from cachetools import LRUCache
from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import PrivateAttr

from index.embedding.base import Embedder


class CachedEmbedding(Embedder):
    """An embedder that keeps its last vectors, questions apart from texts. Safe to call from many threads.

    Args:
        embedder: embeds what is not kept.
        kept: how many vectors are kept; 0 keeps none.
        multilingual: whether a question in one language is near a passage in another one that answers it.
        dimension: length of a vector; 0 if a server decides.
    """

    multilingual: bool = False
    dimension: int = 0
    _embedder: BaseEmbedding = PrivateAttr()
    _kept: LRUCache[tuple[str, str], list[float]] = PrivateAttr()
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, embedder: BaseEmbedding, kept: int, *, multilingual: bool = False, dimension: int = 0) -> None:
        super().__init__(
            model_name=embedder.model_name,
            embed_batch_size=embedder.embed_batch_size,
            multilingual=multilingual,
            dimension=dimension,
        )
        self._embedder = embedder
        self._kept = LRUCache(kept)

    def _vectors(
        self, kind: str, texts: Sequence[str], embed: Callable[[list[str]], list[list[float]]]
    ) -> list[list[float]]:
        with self._lock:
            known = {text: self._kept[kind, text] for text in texts if (kind, text) in self._kept}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            known |= zip(missing, embed(missing), strict=True)
        if self._kept.maxsize:
            with self._lock:
                self._kept.update(((kind, text), known[text]) for text in texts)
        return [known[text] for text in texts]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._vectors("question", [query], lambda _: [self._embedder.get_query_embedding(query)])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._vectors("text", texts, self._embedder.get_text_embedding_batch)


def is_multilingual(embedder: BaseEmbedding | None) -> bool:
    """Return whether a model maps the same meaning in different languages to similar vectors; False if unknown."""
    return bool(getattr(embedder, "multilingual", False))
