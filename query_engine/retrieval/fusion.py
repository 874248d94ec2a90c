"""Weigh what speaks for each leaf: its own match, and what its neighbours, its parent and its document add.

Flow: what the searches found (`hybrid.py`) -> **here** -> reranking, merging. Pure; the weights and where they come
from stand here and nowhere else.

A leaf is a small thing to judge: the sentence that answers often holds half of the question's words, and its company
and year stand in the file's name. So each leaf's evidence is the weighted sum of six scorers, each in about 0..1, none
of which costs a further search:

    dense       cosine of the question and the leaf
    neighbours  the higher cosine of the two leaves beside it: an answer is surrounded by its subject
    parent      cosine of the question and the middle passage around it (mean of its leaves, kept at ingestion)
    lexical     BM25, as a share of what a leaf could reach at most
    family      share of the question's words, by rarity, that the matching leaves of its middle passage hold together
    names       how well the document's title and file name match the question's names and numbers, as a share of the
                best of them

Where no leaf is very near, the question puts things in other words than the text. The few that both share mislead then
("come out", "turn up"), and `dense` counts more, unless one of them is a name or a number.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Literal, NamedTuple

from index.documents.span_tree import node_id, split_node_id
from index.documents.store import StoredDocument
from query_engine.schema.hit import IDENTIFIED, LeafHit

Scorer = Literal["dense", "neighbours", "parent", "lexical", "family", "names"]
# Fitted on questions about real documentation by `python -m training.fusion_weights`, see docs/retrieval.md. Their sum
# is 1.
WEIGHTS: Mapping[Scorer, float] = {
    "dense": 0.325,
    "neighbours": 0.14,
    "parent": 0.09,
    "lexical": 0.245,
    "family": 0.17,
    "names": 0.03,
}
SCORERS = tuple(WEIGHTS)
# `dense` counts by the square of this cosine over the best one, where the best is lower; 0.5 to 0.7 do as well.
NEAR, MOST_TIMES = 0.6, 8.0
# More than all scorers together usually give.
IDENTIFIED_WEIGHT = 1.0
# Cosines of the packaged multilingual model differ less from leaf to leaf; twice to three times do as well.
MULTILINGUAL_TIMES = 2.0


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the searches brought for one question. Leaves are named by node id.

    Attributes:
        documents: by version; hits of others are not scored.
        dense: leaf -> cosine, best first; empty when the dense search was not asked.
        lexical: leaf -> BM25, best first; empty when the lexical search was not asked.
        most_lexical: BM25 of a leaf that held nothing but the question, more often than not; above 0.
        terms: leaf -> the question's terms that it holds, for leaves of `lexical`.
        term_weights: term -> rarity, above 0.
        parents: version -> cosines of the question and the document's roots and middles, by position in the tree.
        names: version -> how well its names match the question, 0 or more.
        named: leaf -> share of the question's identifiers that it names, above 0.
        in_everyday_words: no leaf holds a word of the question that might be a name, a code or a number.
        multilingual: the cosines are a multilingual model's.
    """

    documents: Mapping[str, StoredDocument]
    dense: Mapping[str, float] = field(default_factory=dict)
    lexical: Mapping[str, float] = field(default_factory=dict)
    most_lexical: float = 1.0
    terms: Mapping[str, frozenset[str]] = field(default_factory=dict)
    term_weights: Mapping[str, float] = field(default_factory=dict)
    parents: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    names: Mapping[str, float] = field(default_factory=dict)
    named: Mapping[str, float] = field(default_factory=dict)
    in_everyday_words: bool = False
    multilingual: bool = False


def score_leaves(found: Candidates) -> list[LeafHit]:
    """Return every leaf that was found, and those between two found ones, best first.

    A leaf that the dense search did not bring counts as near as the furthest one that it did: it is no nearer.

    Args:
        found: what the searches brought.

    Returns:
        Hits whose `scores` hold every scorer's known value, but `dense` and `lexical` as the searches gave them, and
        neither for a leaf that the search did not find.
    """
    evidence = _Evidence(found)
    searches = _searches(found)
    ranks = {search: _ranks(scores) for search, scores in searches}
    hits = []
    for name, place in [*evidence.found.items(), *evidence.between().items()]:
        values = evidence.of(place)
        total = sum([WEIGHTS[scorer] * value for scorer, value in values.items()])
        shown: dict[str, float] = {scorer: value for scorer, value in values.items() if scorer not in ranks}
        shown |= {search: scores[name] for search, scores in searches if name in scores}
        places = {search: of[name] for search, of in ranks.items() if name in of}
        hits.append(LeafHit(name, total, shown, places))
    return sorted(hits, key=lambda hit: -hit.score)


def identified_first(hits: Sequence[LeafHit], named: Mapping[str, float]) -> list[LeafHit]:
    """Return hits with those first that name more of the question's identifiers: no likeness outweighs a part number.

    Args:
        hits: best first; `scores` of those in `named` gets the share as `identified`.
        named: leaf -> share of the identifiers that it names.
    """
    for hit in hits:
        if hit.node_id in named:
            hit.scores[IDENTIFIED] = named[hit.node_id]
            hit.score += IDENTIFIED_WEIGHT * named[hit.node_id]
    return sorted(hits, key=lambda hit: -hit.score)


def leaf_values(found: Candidates) -> dict[str, dict[Scorer, float]]:
    """Return what is weighed for every leaf that was found; nothing for scorers whose search was not asked."""
    evidence = _Evidence(found)
    return {name: evidence.of(place) for name, place in evidence.found.items()}


def fuse_plainly(found: Candidates, dense_share: float) -> list[LeafHit]:
    """Return every leaf that was found, best first: two weighted scores, each as a share of the best of its search.

    Args:
        found: what the searches brought.
        dense_share: weight of the dense search, 0..1; the lexical one gets the rest.
    """
    shares = {"dense": dense_share, "lexical": 1 - dense_share}
    ranks = {search: _ranks(scores) for search, scores in _searches(found)}
    # Cosines may all be below 0; shares of such a best would turn their order round.
    best = {search: max([0.0, *scores.values()]) or 1.0 for search, scores in _searches(found)}
    hits = []
    for name in _Evidence(found).found:
        shown = {search: scores[name] for search, scores in _searches(found) if name in scores}
        places = {search: of[name] for search, of in ranks.items() if name in of}
        total = sum(shares[search] * score / best[search] for search, score in shown.items())
        hits.append(LeafHit(name, total, shown, places))
    return sorted(hits, key=lambda hit: -hit.score)


class _Place(NamedTuple):
    """Where a leaf stands: its document's version, and its position in the tree."""

    version: str
    position: int


class _Evidence:
    """The scorers' values for single leaves.

    Attributes:
        found: where each leaf stands that a search found, those of unknown documents left out.
    """

    def __init__(self, found: Candidates) -> None:
        self._all = found
        self.found = {name: place for name in {**found.dense, **found.lexical} if self._knows(place := _place(name))}
        self._cosines = {self.found[name]: cosine for name, cosine in found.dense.items() if name in self.found}
        self._shares = {
            self.found[name]: bm25 / found.most_lexical for name, bm25 in found.lexical.items() if name in self.found
        }
        self._furthest = min(found.dense.values(), default=0.0)
        nearest = max(found.dense.values(), default=NEAR)
        times = min(MOST_TIMES, (NEAR / max(nearest, 0.01)) ** 2)
        self._dense_times = max(1.0, times) if found.in_everyday_words else 1.0
        self._dense_times *= MULTILINGUAL_TIMES if found.multilingual else 1.0
        best_name = max(found.names.values(), default=0.0) or 1.0
        self._names = {version: value / best_name for version, value in found.names.items()}
        # The question may have no indexed term; its leaves are then found by their documents' names.
        all_terms = fsum(found.term_weights.values()) or 1.0
        held: dict[tuple[str, int], set[str]] = {}
        for name, terms in found.terms.items():
            place = _place(name)
            held.setdefault((place.version, self._parent(place)), set()).update(terms)
        # Exact sums: those of a set's floats depend on its order, which is another one in each process.
        self._families = {
            family: fsum([found.term_weights[term] for term in terms]) / all_terms for family, terms in held.items()
        }

    def of(self, place: _Place) -> dict[Scorer, float]:
        """Return what each scorer that can judge the leaf gives; lexical as a share, 0..1, `dense` times its factor."""
        version, parent = place.version, self._parent(place)
        values: dict[Scorer, float] = {}
        if self._all.dense:
            beside = [self._cosines.get(neighbour, self._furthest) for neighbour in self._neighbours(place)]
            values["dense"] = self._dense_times * self._cosines.get(place, self._furthest)
            values["neighbours"] = max(beside, default=self._furthest)
            values["parent"] = self._all.parents.get(version, {}).get(parent, 0.0)
        if self._all.lexical:
            values["lexical"] = self._shares.get(place, 0.0)
            values["family"] = self._families.get((version, parent), 0.0)
            values["names"] = self._names.get(version, 0.0)
        return values

    def between(self) -> dict[str, _Place]:
        """Return the leaves that no search found, and that stand between two that were."""
        found = set(self.found.values())
        beside = Counter(
            [neighbour for place in found for neighbour in self._neighbours(place) if neighbour not in found]
        )
        # In a fixed order, as a set's is another one in each process.
        return {node_id(*place): place for place in sorted(beside) if beside[place] == 2}

    def _knows(self, place: _Place) -> bool:
        """Whether the leaf belongs to a document that is there."""
        document = self._all.documents.get(place.version)
        return document is not None and place.position < len(document.tree)

    def _neighbours(self, place: _Place) -> list[_Place]:
        version, position = place
        leaves = self._all.documents[version].tree.leaves
        return [_Place(version, beside) for beside in (position - 1, position + 1) if beside in leaves]

    def _parent(self, place: _Place) -> int:
        return self._all.documents[place.version].tree[place.position].parent


def _place(name: str) -> _Place:
    return _Place(*split_node_id(name))


def _searches(found: Candidates) -> tuple[tuple[str, Mapping[str, float]], ...]:
    return ("dense", found.dense), ("lexical", found.lexical)


def _ranks(scores: Mapping[str, float]) -> dict[str, int]:
    return {name: rank for rank, name in enumerate(scores, start=1)}
