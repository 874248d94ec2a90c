"""Weigh what speaks for each leaf: its own match, and what its neighbours, its parent and its document add.

Flow: what the searches found (`leaves.py`) -> **here** -> reranking, merging. Pure; the weights and where they come
from stand here and nowhere else.

A leaf is a small thing to judge: the sentence that answers often holds half of the question's words, and its company
and year stand in the file's name. So each leaf's evidence is the weighted sum of six scorers, each in about 0..1, none
of which costs a further search:

    dense       cosine of the question and the leaf
    neighbours  the higher cosine of the two leaves beside it: an answer is surrounded by its subject
    parent      cosine of the question and the middle passage around it (mean of its leaves, kept at ingestion)
    lexical     BM25, as a share of what a leaf could reach at most
    family      share of the question's words, by rarity, that the matching leaves of its middle passage hold together
    names       how well the document's title and file name match the question, as a share of the best of them
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import fsum
from typing import Literal

from index.documents import StoredDocument
from index.nodes import node_id, split_node_id
from query_engine.hits import LeafHit

Scorer = Literal["dense", "neighbours", "parent", "lexical", "family", "names"]
# Fitted on the questions of five public corpora by `python -m bench tune`, see docs/retrieval.md. They sum to 1.
WEIGHTS: Mapping[Scorer, float] = {
    "dense": 0.24,
    "neighbours": 0.17,
    "parent": 0.06,
    "lexical": 0.23,
    "family": 0.23,
    "names": 0.07,
}
SCORERS = tuple(WEIGHTS)


@dataclass(frozen=True, slots=True)
class Found:
    """What the searches brought for one question. Leaves are named by node id.

    Attributes:
        documents: by version; hits of others are not scored.
        dense: leaf -> cosine, best first; empty when the dense search was not asked.
        lexical: leaf -> BM25, best first; empty when the lexical search was not asked. Where another model judges the
            words, these are the BM25 scores in its order (`lexical_models.Judged`).
        by_model: model -> leaf -> its own score, best first; shown, not weighed.
        most_lexical: BM25 of a leaf that held nothing but the question, more often than not; above 0.
        terms: leaf -> the question's terms that it holds, for leaves of `lexical`.
        term_weights: term -> rarity, above 0.
        parents: version -> cosines of the question and the document's roots and middles, by position in the tree.
        names: version -> how well its names match the question, 0 or more.
    """

    documents: Mapping[str, StoredDocument]
    dense: Mapping[str, float] = field(default_factory=dict)
    lexical: Mapping[str, float] = field(default_factory=dict)
    by_model: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    most_lexical: float = 1.0
    terms: Mapping[str, frozenset[str]] = field(default_factory=dict)
    term_weights: Mapping[str, float] = field(default_factory=dict)
    parents: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    names: Mapping[str, float] = field(default_factory=dict)


def score_leaves(found: Found, weights: Mapping[Scorer, float] = WEIGHTS) -> list[LeafHit]:
    """Return every leaf that was found, and those that stand between two found ones, best first.

    A leaf that the dense search did not bring counts as near as the furthest one that it did: it is no nearer.

    Args:
        found: what the searches brought.
        weights: of the scorers.

    Returns:
        Hits whose `scores` hold every scorer's known value, but `dense` and `lexical` as the searches gave them.
    """
    evidence = _Evidence(found)
    ranks = {search: _ranks(scores) for search, scores in _searches(found)}
    values = leaf_values(found)
    values |= {name: evidence.of(name) for name in evidence.between()}
    hits = []
    for name, of_leaf in values.items():
        total = _total(of_leaf, weights)
        shown: dict[str, float] = {scorer: value for scorer, value in of_leaf.items() if scorer not in ranks}
        shown |= {search: scores[name] for search, scores in _searches(found) if name in scores}
        places = {search: of[name] for search, of in ranks.items() if name in of}
        hits.append(LeafHit(name, total, shown, places))
    return sorted(hits, key=lambda hit: -hit.score)


def leaf_values(found: Found) -> dict[str, dict[Scorer, float]]:
    """Return what each scorer says of every leaf that was found; none for scorers whose search was not asked."""
    evidence = _Evidence(found)
    names = dict.fromkeys([*found.dense, *found.lexical])
    return {name: evidence.of(name) for name in names if evidence.knows(name)}


def _total(values: Mapping[Scorer, float], weights: Mapping[Scorer, float]) -> float:
    return sum(weights[scorer] * value for scorer, value in values.items())


def fuse_plainly(found: Found, dense_share: float) -> list[LeafHit]:
    """Return every leaf that was found, best first: two weighted scores, each as a share of the best of its search.

    Args:
        found: what the searches brought.
        dense_share: weight of the dense search, 0..1; the lexical one gets the rest.
    """
    shares = {"dense": dense_share, "lexical": 1 - dense_share}
    ranks = {search: _ranks(scores) for search, scores in _searches(found)}
    # Cosines may all be below 0; shares of such a best would turn their order round.
    best = {search: max([0.0, *scores.values()]) or 1.0 for search, scores in _searches(found)}
    evidence = _Evidence(found)
    hits = []
    for name in dict.fromkeys([*found.dense, *found.lexical]):
        if evidence.knows(name):
            shown = {search: scores[name] for search, scores in _searches(found) if name in scores}
            places = {search: of[name] for search, of in ranks.items() if name in of}
            total = sum(shares[search] * score / best[search] for search, score in shown.items())
            hits.append(LeafHit(name, total, shown, places))
    return sorted(hits, key=lambda hit: -hit.score)


class _Evidence:
    """The scorers' values for single leaves."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._furthest = min(found.dense.values(), default=0.0)
        self._best_name = max(found.names.values(), default=0.0)
        # The question may have no term of its own, and a leaf be found by its document's names.
        all_terms = fsum(found.term_weights.values()) or 1.0
        held: dict[tuple[str, int], set[str]] = {}
        for name, terms in found.terms.items():
            version, position = split_node_id(name)
            held.setdefault((version, self._parent(version, position)), set()).update(terms)
        # Exact sums: those of a set's floats depend on its order, which is another one in each process.
        self._families = {
            family: fsum(found.term_weights[term] for term in terms) / all_terms for family, terms in held.items()
        }

    def knows(self, name: str) -> bool:
        """Whether the leaf belongs to a document that is there."""
        version, position = split_node_id(name)
        document = self._found.documents.get(version)
        return document is not None and position < len(document.tree)

    def of(self, name: str) -> dict[Scorer, float]:
        """Return the value of each scorer that can judge the leaf; lexical as a share, 0..1."""
        found = self._found
        version, position = split_node_id(name)
        parent = self._parent(version, position)
        values: dict[Scorer, float] = {}
        if found.dense:
            values["dense"] = self._cosine(name)
            values["neighbours"] = max(map(self._cosine, self._neighbours(version, position)), default=self._furthest)
            values["parent"] = found.parents.get(version, {}).get(parent, 0.0)
        if found.lexical:
            values["lexical"] = found.lexical.get(name, 0.0) / found.most_lexical
            values["family"] = self._families.get((version, parent), 0.0)
            values["names"] = found.names.get(version, 0.0) / self._best_name if self._best_name else 0.0
        return values

    def between(self) -> list[str]:
        """Return the leaves that no search found, and that stand between two that were."""
        found = dict.fromkeys(name for name in (*self._found.dense, *self._found.lexical) if self.knows(name))
        beside = Counter(
            neighbour
            for name in found
            for neighbour in self._neighbours(*split_node_id(name))
            if neighbour not in found
        )
        return [name for name, neighbours in beside.items() if neighbours == 2]

    def _cosine(self, name: str) -> float:
        return self._found.dense.get(name, self._furthest)

    def _neighbours(self, version: str, position: int) -> list[str]:
        leaves = self._found.documents[version].tree.leaves
        return [node_id(version, place) for place in (position - 1, position + 1) if place in leaves]

    def _parent(self, version: str, position: int) -> int:
        return self._found.documents[version].tree[position].parent


def _searches(found: Found) -> tuple[tuple[str, Mapping[str, float]], ...]:
    return ("dense", found.dense), ("lexical", found.lexical)


def _ranks(scores: Mapping[str, float]) -> dict[str, int]:
    return {name: rank for rank, name in enumerate(scores, start=1)}
