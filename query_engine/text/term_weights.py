"""How much each word of a question counts.

Flow: a question -> **here** -> `answerability/`, `reader/ranking.py`. Terms and their rarity come from the lexical
index. Pure.
"""

from typing import Protocol

from query_engine.text.light_words import without_asking_words


class TermWeights(Protocol):
    """How words are normalised and how rare they are; `LexicalIndex` is one."""

    def terms(self, text: str) -> list[str]:
        """Terms of a text, in order."""
        ...

    def query_terms(self, question: str) -> list[str]:
        """Distinct terms of a question without stop words."""
        ...

    def weight(self, term: str) -> float:
        """Inverse document frequency, above 0."""
        ...


class CorpusWords(TermWeights, Protocol):
    """The same for questions in any language; `LexicalIndex` is one."""

    def words_of(self, question: str) -> TermWeights:
        """The words as the language of a question sees them: its terms are compared with those of texts."""
        ...


def question_weights(question: str, words: TermWeights) -> dict[str, float]:
    """Return the terms of a question's subject, rarest first, with the share of weight of each; they sum to 1.

    Args:
        question: in any language.
        words: as the question's language sees them, see `CorpusWords.words_of`.
    """
    weights = {term: words.weight(term) for term in words.query_terms(without_asking_words(question))}
    total = sum(weights.values()) or 1.0
    return {term: weight / total for term, weight in weights.items()}
