"""A word index without an index: terms are lower-case words."""

import re
from collections.abc import Mapping

from index.lexical import content_words


class FakeWords:
    """Analyzes texts; `weights` are the terms' rarities, 1 where a term is not among them."""

    def __init__(self, weights: Mapping[str, float] | None = None) -> None:
        self._weights = weights or {}

    def terms(self, text: str) -> list[str]:
        return re.findall(r"\w+", text.lower())

    def query_terms(self, question: str) -> list[str]:
        return list(dict.fromkeys(self.terms(" ".join(content_words(question)))))

    def weight(self, term: str) -> float:
        return self._weights.get(term, 1.0)
