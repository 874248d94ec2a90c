"""Vectors that are kept for a while."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import PrivateAttr

from index.embedding.cached import CachedEmbedding
from tests.fakes.embedding import WordHashEmbedding, word_vector


class Counting(WordHashEmbedding):
    questions: int = 0

    def _get_query_embedding(self, query: str) -> list[float]:
        self.questions += 1
        return [-value for value in word_vector(query)]


class Waiting(WordHashEmbedding):
    """Embeds once the event loop lets it; notes in which threads."""

    _go_on: threading.Event = PrivateAttr(default_factory=threading.Event)
    _threads: list[int] = PrivateAttr(default_factory=list)

    def _wait(self) -> None:
        self._threads.append(threading.get_ident())
        assert self._go_on.wait(10), "the event loop did not go on meanwhile"

    def _get_query_embedding(self, query: str) -> list[float]:
        self._wait()
        return super()._get_query_embedding(query)

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        self._wait()
        return super()._get_text_embeddings(texts)


@pytest.mark.parametrize(
    "asked",
    [
        lambda embedder: embedder.aget_query_embedding("rotor"),
        lambda embedder: embedder.aget_text_embedding("rotor"),
        lambda embedder: embedder.aget_text_embedding_batch(["rotor", "blade"]),
    ],
    ids=["question", "text", "batch"],
)
async def test_the_event_loop_goes_on_while_something_is_embedded(
    asked: Callable[[BaseEmbedding], Awaitable[object]],
) -> None:
    inner = Waiting()
    asyncio.get_running_loop().call_soon(inner._go_on.set)

    await asked(CachedEmbedding(inner, 100))

    assert len(inner._threads) == 1, "one thread for a whole batch"
    assert inner._threads != [threading.get_ident()]


def test_a_text_and_a_question_are_embedded_once_and_told_apart() -> None:
    inner = Counting()
    embedder = CachedEmbedding(inner, 100)

    for _ in range(2):
        assert embedder.get_query_embedding("rotor") == [-value for value in word_vector("rotor")]
        assert embedder.get_text_embedding("rotor") == word_vector("rotor")

    assert (inner.questions, inner.texts_embedded) == (1, 1)


def test_only_new_texts_of_a_batch_are_embedded_and_the_order_is_kept() -> None:
    inner = Counting()
    embedder = CachedEmbedding(inner, 100)
    embedder.get_text_embedding("b")

    assert embedder.get_text_embedding_batch(["a", "b", "a"]) == [word_vector(text) for text in "aba"]
    assert inner.texts_embedded == 2


@pytest.mark.parametrize(("kept", "embedded"), [(0, 6), (2, 4), (100, 3)])
def test_what_was_not_asked_for_lately_is_forgotten(kept: int, embedded: int) -> None:
    inner = Counting()
    embedder = CachedEmbedding(inner, kept)

    assert [embedder.get_text_embedding(text) for text in "abacab"] == [word_vector(text) for text in "abacab"]
    assert inner.texts_embedded == embedded
