"""A word index without an index: terms are lower-case words. And how to ask a real one."""

import re
from collections.abc import Mapping

from index.lexical.tantivy_index import LexicalIndex, search_words


class FakeWords:
    """Analyzes texts; `weights` are the terms' rarities, 1 where a term is not among them."""

    def __init__(self, weights: Mapping[str, float] | None = None) -> None:
        self._weights = weights or {}

    def words_of(self, question: str) -> "FakeWords":  # noqa: ARG002
        return self

    def terms(self, text: str) -> list[str]:
        return re.findall(r"\w+", text.lower())

    def query_terms(self, question: str) -> list[str]:
        return list(dict.fromkeys(self.terms(" ".join(search_words(question)))))

    def weight(self, term: str) -> float:
        return self._weights.get(term, 1.0)


def leaves_with(words: LexicalIndex, text: str, top_k: int) -> list[tuple[str, float]]:
    """Return what a real word index finds for the words of a text."""
    return words.search(dict.fromkeys(words.query_terms(text), 1.0), [], top_k)
