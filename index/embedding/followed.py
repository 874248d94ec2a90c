"""The embedding model of an open corpus, or the models of several corpora that are read as one.

Flow: search, gate, reader -> **here** -> `cached.py`. An empty corpus may get another model while it is open, so the
model is asked for at each call.

Of several models, a question's vector is theirs, one after the other, and a leaf's is its own model's at the same place
between zeros (`index/joined.py`): products of the two are cosines of the leaf's model. Texts that are compared with the
question belong to no corpus; the multilingual model embeds them.
"""

from collections.abc import Callable, Sequence

from pydantic import PrivateAttr

from index.embedding.base import Embedder
from index.embedding.cached import CachedEmbedding

# LlamaIndex allows no more.
MAX_BATCH = 2048


class FollowedEmbedding(Embedder):
    """An embedder that asks the models of what is searched now. Safe to call from many threads.

    Args:
        models: returns them, loaded, each once; at least one.
    """

    _models: Callable[[], Sequence[CachedEmbedding]] = PrivateAttr()

    def __init__(self, models: Callable[[], Sequence[CachedEmbedding]]) -> None:
        # Whole batches are passed on; each model divides them as it likes.
        super().__init__(model_name="of the corpus", embed_batch_size=MAX_BATCH)
        self._models = models

    @property
    def multilingual(self) -> bool:
        """Whether texts are compared across languages."""
        return any(model.multilingual for model in self._models())

    def _get_query_embedding(self, query: str) -> list[float]:
        return [number for model in self._models() for number in model.get_query_embedding(query)]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        models = self._models()
        at = next((at for at, model in enumerate(models) if model.multilingual), 0)
        before = [0.0] * sum(model.dimension for model in models[:at])
        after = [0.0] * sum(model.dimension for model in models[at + 1 :])
        return [before + vector + after for vector in models[at].get_text_embedding_batch(texts)]
