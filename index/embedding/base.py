"""What every embedder of this project has in common as a LlamaIndex `BaseEmbedding`.

Flow: `openvino.py`, `openai_server.py`, `cached.py` and `followed.py` embed one question and many texts -> **here** are
LlamaIndex's other ways to ask, which come down to these two.
"""

import asyncio

from llama_index.core.base.embeddings.base import BaseEmbedding


class Embedder(BaseEmbedding):
    """An embedder that says how to embed a question and a batch of texts. Safe to call from many threads."""

    @classmethod
    def class_name(cls) -> str:
        """Name for LlamaIndex's events."""
        return cls.__name__

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return (await self._aget_text_embeddings([text]))[0]

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        # One thread for a whole batch: embedding computes and takes a lock, which would stop the event loop.
        return await asyncio.to_thread(self._get_text_embeddings, texts)
