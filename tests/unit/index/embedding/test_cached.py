"""Vectors that are kept for a while."""

from index.embedding.cached import CachedEmbedding
from tests.fakes.embedding import WordHashEmbedding, word_vector


class Counting(WordHashEmbedding):
    questions: int = 0

    def _get_query_embedding(self, query: str) -> list[float]:
        self.questions += 1
        return [-value for value in word_vector(query)]


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


async def test_an_awaited_question_is_kept_too() -> None:
    inner = Counting()
    embedder = CachedEmbedding(inner, 100)

    assert await embedder.aget_query_embedding("rotor") == embedder.get_query_embedding("rotor")
    assert inner.questions == 1


def test_what_was_not_asked_for_lately_is_forgotten() -> None:
    inner = Counting()
    embedder = CachedEmbedding(inner, 2)

    for text in ("a", "b", "a", "c", "a"):
        embedder.get_text_embedding(text)
    assert inner.texts_embedded == 3

    embedder.get_text_embedding("b")
    assert inner.texts_embedded == 4


def test_where_none_are_kept_each_is_embedded_each_time() -> None:
    inner = Counting()
    embedder = CachedEmbedding(inner, 0)

    assert [embedder.get_text_embedding("a") for _ in range(2)] == [word_vector("a")] * 2
    assert inner.texts_embedded == 2
