"""Pseudo-relevance feedback: take the first leaves of a search for relevant, and search for what they have in common.

Flow: `base.py` -> **here**: one search as the query stands -> the query moved towards what that found. For the
embedding Rocchio's rule, for the words the relevance model RM3. Costs a second search, no model.

Rocchio, "Relevance Feedback in Information Retrieval", in: Salton, The SMART Retrieval System, 1971.
Lavrenko and Croft, "Relevance-Based Language Models", SIGIR 2001.
Abdul-Jaleel et al., "UMass at TREC 2004: Novelty and HARD", TREC 2004 (RM3: the question's own words keep a share).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from index.lexical.tantivy_index import search_words
from query_engine.retrieval.expansion.base import Retrieve, mean_direction
from query_engine.retrieval.expansion.query_encoder import QuestionReader
from query_engine.schema.hit import LeafHit
from query_engine.schema.query import Query, Vector
from settings import ExpansionSettings


class Feedback:
    """Moves a query towards its first hits.

    Args:
        reader: what a question's own embedding and terms are, and how texts are analyzed.
        texts_of: node ids -> texts of the leaves, in the same order.
        vectors_of: node ids -> unit vectors of those leaves that have one.
        options: how many leaves and terms, and what share of the new query is theirs.
    """

    name = "feedback"

    def __init__(
        self,
        reader: QuestionReader,
        texts_of: Callable[[Sequence[str]], list[str]],
        vectors_of: Callable[[Sequence[str]], Mapping[str, Vector]],
        options: ExpansionSettings,
    ) -> None:
        self._reader = reader
        self._texts_of = texts_of
        self._vectors_of = vectors_of
        self._options = options

    def expand(self, query: Query, retrieve: Retrieve) -> Query:
        """Return the moved query; the same one where nothing was found."""
        hits = retrieve(query)[: self._options.feedback_leaves]
        if not hits:
            return query
        return replace(query, embedding=self._embedding(query, hits), terms=self._terms(query, hits))

    def _embedding(self, query: Query, hits: Sequence[LeafHit]) -> Vector:
        """Rocchio without negative examples: (1 - w) q + w mean(leaves), each a unit vector."""
        own = self._reader.embedding(query)
        vectors = list(self._vectors_of([hit.node_id for hit in hits]).values())
        if not vectors:
            return own
        share = self._options.feedback_weight
        return mean_direction([own, mean_direction(vectors)], [1 - share, share])

    def _terms(self, query: Query, hits: Sequence[LeafHit]) -> dict[str, float]:
        """RM3: (1 - w) P(term | question) + w P(term | relevant), times what the question's weights sum to.

        P(term | relevant) is the leaves' mean of frequency / length, each leaf weighed by its score, which stands for
        the likelihood of the question. Of it the most probable terms are kept; stop words are none.
        """
        own = self._reader.terms(query)
        texts = self._texts_of([hit.node_id for hit in hits])
        model: defaultdict[str, float] = defaultdict(float)
        for hit, text in zip(hits, texts, strict=True):
            terms = self._reader.analyzed(" ".join(search_words(text)))
            for term, count in Counter(terms).items():
                model[term] += max(hit.score, 0.0) * count / len(terms)
        ranked = sorted(model, key=model.__getitem__, reverse=True)[: self._options.feedback_terms]
        likeliest = {term: model[term] for term in ranked if model[term] > 0}
        if not likeliest:
            return own
        total, found = sum(own.values()) or 1.0, sum(likeliest.values())
        share = self._options.feedback_weight
        mixed = {term: (1 - share) * weight for term, weight in own.items()}
        for term, mass in likeliest.items():
            mixed[term] = mixed.get(term, 0.0) + share * total * mass / found
        return mixed
