"""Rank documents by the words that they share with the query: TF-IDF with three measures, and BM25.

Flow: texts -> terms by the word index's analyzer -> weights within these documents alone -> **here** -> scores.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Annotated, Literal

from pydantic import BeforeValidator

from index.lexical.tantivy_index import LexicalIndex
from pipelines.handler import StepHandler
from pipelines.parameters import parameter
from pipelines.step import RerankerStep

# Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009; the word index uses the same.
K1, B = 1.2, 0.75
# How other clients write the measures.
_SPELLINGS = {
    "cosine-similarity": "Cosine",
    "euclidean distance": "Euclidean",
    "manhattan distance": "Manhattan",
    "manhatten": "Manhattan",
    "bm25": "BM25",
    "cosine": "Cosine",
    "euclidean": "Euclidean",
    "manhattan": "Manhattan",
}

Weights = Mapping[str, float]


class TfIdfReranker(RerankerStep):
    """Ranks by weighed words."""

    id = "tf_idf_reranker"
    name = "TF-IDF-Reranker"
    description = "Ranks by the words shared with the query, weighed by how rare they are among these documents."

    class Parameters(RerankerStep.Parameters):
        """Which measure."""

        similarity_metric: Annotated[
            Literal["Cosine", "Euclidean", "Manhattan", "BM25"],
            BeforeValidator(lambda value: _SPELLINGS.get(value.lower(), value) if isinstance(value, str) else value),
        ] = parameter("Cosine", "Similarity metric", "How query and document are compared.")

    def scores(self, query: str, texts: list[str], handler: StepHandler) -> Sequence[float]:
        """Return a similarity a text, or a distance less than 0."""
        words = analyzer()
        terms = []
        for place, text in enumerate(texts):
            terms.append(words.terms(text))
            handler.progress(place + 1, len(texts))
        wanted = Counter(words.query_terms(query))
        idf = rarity(terms)
        match self.given.similarity_metric:
            case "BM25":
                return bm25(wanted, terms, idf)
            case "Cosine":
                return tfidf_cosine(wanted, terms, idf)
            case "Euclidean":
                # Of unit vectors: |a - b|^2 = 2 - 2 cos.
                return [-math.sqrt(max(0.0, 2 - 2 * cosine)) for cosine in tfidf_cosine(wanted, terms, idf)]
            case _:
                return manhattan(wanted, terms, idf)

    def short_name(self) -> str:
        """Return the measure's name."""
        return str(self.given.similarity_metric).lower()


@cache
def analyzer() -> LexicalIndex:
    """Return an empty word index: it says what a term is."""
    return LexicalIndex(None)


def rarity(texts: Sequence[Sequence[str]]) -> Callable[[str], float]:
    """Return the inverse document frequency within these texts: ln(1 + (N - n + 0.5) / (n + 0.5)), above 0."""
    holding = Counter(term for text in texts for term in set(text))
    count = len(texts)
    return cache(lambda term: math.log(1 + (count - holding[term] + 0.5) / (holding[term] + 0.5)))


def bm25(query: Weights, texts: Sequence[Sequence[str]], idf: Callable[[str], float]) -> list[float]:
    """Return the BM25 score, 0 or more, of each text."""
    mean = sum(map(len, texts)) / (len(texts) or 1) or 1.0
    scores = []
    for text in texts:
        counts, dampened = Counter(text), K1 * (1 - B + B * len(text) / mean)
        scores.append(
            sum(
                weight * idf(term) * counts[term] * (K1 + 1) / (counts[term] + dampened)
                for term, weight in query.items()
                if term in counts
            )
        )
    return scores


def tfidf_cosine(query: Weights, texts: Sequence[Sequence[str]], idf: Callable[[str], float]) -> list[float]:
    """Return the cosine, 0..1, of the query's and each text's vector of term weights.

    A term of a text weighs (1 + ln tf) idf, a term of the query weight * idf. Salton and Buckley, "Term-Weighting
    Approaches in Automatic Text Retrieval", Information Processing and Management 24, 1988.
    """
    wanted = _unit({term: weight * idf(term) for term, weight in query.items()})
    scores = []
    for text in texts:
        held = _unit({term: (1 + math.log(count)) * idf(term) for term, count in Counter(text).items()})
        scores.append(sum(weight * held[term] for term, weight in wanted.items() if term in held))
    return scores


def manhattan(query: Weights, texts: Sequence[Sequence[str]], idf: Callable[[str], float]) -> list[float]:
    """Return the distance of the unit vectors of query and text, along the axes, times -1: -2 sqrt(terms) to 0."""
    wanted = _unit({term: weight * idf(term) for term, weight in query.items()})
    scores = []
    for text in texts:
        held = _unit({term: (1 + math.log(count)) * idf(term) for term, count in Counter(text).items()})
        scores.append(-sum(abs(wanted.get(term, 0.0) - held.get(term, 0.0)) for term in wanted.keys() | held.keys()))
    return scores


def _unit(weights: dict[str, float]) -> dict[str, float]:
    length = math.hypot(*weights.values()) or 1.0
    return {term: weight / length for term, weight in weights.items()}
