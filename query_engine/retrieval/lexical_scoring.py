"""Other ways than BM25 to judge a leaf by its words: TF-IDF cosine, and query likelihood with Jelinek-Mercer smoothing.

Flow: the leaves that the word index found -> **here** -> their new order -> `fusion.py`. The index always finds by
BM25; these models judge its candidates.

How rare a term is comes from the index: its idf `ln(1 + (N - n + 0.5) / (n + 0.5))` is `ln((N + 1) / (n + 0.5))`, so
`exp(-idf)` is the share of leaves that hold the term.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from query_engine.schema.hit import LeafHit

ModelName = Literal["bm25", "tfidf", "jelinek_mercer", "fused"]
# How much of a term's probability comes from the corpus; 0.1 to 0.9 differ by less than one question in a hundred here.
LAMBDA = 0.3
RRF_K = 60


@dataclass(frozen=True, slots=True)
class Judged:
    """The lexical search's leaves as a model orders them.

    Attributes:
        lexical: leaf -> score, best first: the BM25 scores reassigned by the model's rank, because the weights of
            the evidence are fitted to how BM25 falls.
        by_model: model -> leaf -> its own score, best first; empty where BM25 alone judges.
    """

    lexical: Mapping[str, float]
    by_model: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def judge(
    model: ModelName,
    bm25: Mapping[str, float],
    texts: Mapping[str, Sequence[str]],
    query: Mapping[str, float],
    idf: Callable[[str], float],
) -> Judged:
    """Order leaves by a model.

    Args:
        model: which; `fused` joins the rankings of all three by reciprocal rank.
        bm25: leaf -> BM25, best first.
        texts: leaf -> its terms in order; may be empty.
        query: term -> weight above 0.
        idf: inverse document frequency of a term, above 0.
    """
    if model == "bm25":
        return Judged(bm25)
    analyzed = [texts[leaf] for leaf in bm25]
    # Candidates share most of their terms, and each look-up asks the index.
    idf = cache(idf)
    judges = {"tfidf": tfidf_cosine, "jelinek_mercer": jelinek_mercer}
    own = {
        name: _best_first(dict(zip(bm25, score(query, analyzed, idf), strict=True)))
        for name, score in judges.items()
        if model in (name, "fused")
    }
    rankings = {"bm25": bm25, **own}
    order = _fused(rankings.values()) if model == "fused" else own[model]
    return Judged(dict(zip(order, bm25.values(), strict=True)), rankings)


def note_models(hits: Iterable[LeafHit], by_model: Mapping[str, Mapping[str, float]]) -> None:
    """Write each model's score and rank into the hits that it judged."""
    ranks = {model: {leaf: rank for rank, leaf in enumerate(scores, start=1)} for model, scores in by_model.items()}
    for hit in hits:
        for model, scores in by_model.items():
            if hit.node_id in scores:
                hit.scores[model], hit.ranks[model] = scores[hit.node_id], ranks[model][hit.node_id]


def tfidf_cosine(
    query: Mapping[str, float], texts: Sequence[Sequence[str]], idf: Callable[[str], float]
) -> list[float]:
    """Return the cosine, 0..1, of the question's and each text's vector of term weights.

    A term of a text weighs (1 + ln tf) idf, a term of the question weight * idf. Salton and Buckley, "Term-Weighting
    Approaches in Automatic Text Retrieval", Information Processing and Management 24, 1988.
    """
    wanted = {term: weight * idf(term) for term, weight in query.items()}
    wanted_length = math.hypot(*wanted.values())
    scores = []
    for text in texts:
        weights = {term: (1 + math.log(count)) * idf(term) for term, count in Counter(text).items()}
        product = sum(weight * weights[term] for term, weight in wanted.items() if term in weights)
        scores.append(product / (wanted_length * math.hypot(*weights.values())) if product else 0.0)
    return scores


def jelinek_mercer(
    query: Mapping[str, float], texts: Sequence[Sequence[str]], idf: Callable[[str], float]
) -> list[float]:
    """Return the log-likelihood of the question by each text's language model, less that by the corpus's alone: >= 0.

    Sum over the question's terms of weight * ln(1 + (1 - lambda) p(t|text) / (lambda p(t|corpus))), p(t|text) being
    tf / length. Zhai and Lafferty, "A Study of Smoothing Methods for Language Models Applied to Information Retrieval",
    ACM TOIS 22, 2004. p(t|corpus) is a term's leaves over the sum of that over all terms (Hiemstra, "A Linguistically
    Motivated Probabilistic Model of Information Retrieval", ECDL 1998); the sum is taken to be the number of leaves
    times the distinct terms of a candidate on average.
    """
    counts = [Counter(text) for text in texts]
    distinct = sum(map(len, counts)) / max(1, len(counts)) or 1.0
    by_corpus = {term: math.exp(-idf(term)) / distinct for term in query}
    return [
        sum(
            weight * math.log1p((1 - LAMBDA) * count[term] / count.total() / (LAMBDA * by_corpus[term]))
            for term, weight in query.items()
            if term in count
        )
        for count in counts
    ]


def _best_first(scores: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def _fused(rankings: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Join rankings of the same leaves by the sum of 1 / (60 + rank).

    Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods",
    SIGIR 2009.
    """
    sums: defaultdict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, leaf in enumerate(ranking, start=1):
            sums[leaf] += 1 / (RRF_K + rank)
    return _best_first(sums)
