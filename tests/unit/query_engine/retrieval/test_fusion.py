"""Evidence: what each scorer says of a leaf, and which leaves it brings up."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.documents.span_tree import node_id
from index.documents.store import StoredDocument
from query_engine.retrieval.fusion import (
    MOST_TIMES,
    MULTILINGUAL_TIMES,
    SCORERS,
    WEIGHTS,
    Candidates,
    Scorer,
    fuse_plainly,
    leaf_values,
    score_leaves,
)
from query_engine.schema.hit import LeafHit
from tests.fakes.corpora import stored


def document(version: str, leaves: int = 6) -> StoredDocument:
    """One root, middles of three leaves each."""
    return stored(f"{version}.md", " ".join(f"Sentence {number}." for number in range(leaves)), version=version)


DOCUMENTS = {version: document(version) for version in ("a", "b", "far")}
RARITY = {"wind": 2.0, "tower": 1.0}


def leaf(version: str, ordinal: int, documents: Mapping[str, StoredDocument] = DOCUMENTS) -> str:
    return node_id(version, documents[version].tree.first_leaf + ordinal)


def found(**brought: Any) -> Candidates:
    return Candidates(DOCUMENTS, **brought)


def names(hits: list[LeafHit]) -> list[str]:
    return [hit.node_id for hit in hits]


def speaking_for(scorer: Scorer, good: str, bad: str) -> Candidates:
    """Two first leaves of two documents, alike but for what one scorer sees: it speaks for the one of `good`."""
    mine, other = leaf(good, 0), leaf(bad, 0)
    dense = {mine: 0.5, other: 0.5, leaf("far", 5): 0.1}
    lexical = {mine: 2.0, other: 2.0}
    terms = {mine: frozenset({"wind"}), other: frozenset({"wind"})}
    match scorer:
        case "dense":
            return found(dense=dense | {mine: 0.6})
        case "neighbours":
            return found(dense=dense | {leaf(good, 1): 0.4, leaf(bad, 1): 0.2})
        case "parent":
            # The middle counts, not the root.
            return found(dense=dense, parents={good: {0: 0.1, 1: 0.7}, bad: {0: 0.9, 1: 0.6}})
        case "lexical":
            return found(lexical=lexical | {mine: 3.0}, most_lexical=10.0, terms=terms, term_weights=RARITY)
        case "family":
            # The other one's tower stands in its other middle.
            tower = {leaf(good, 2): frozenset({"tower"}), leaf(bad, 3): frozenset({"tower"})}
            more = lexical | {leaf(good, 2): 1.0, leaf(bad, 3): 1.0}
            return found(lexical=more, most_lexical=10.0, terms=terms | tower, term_weights=RARITY)
        case "names":
            names = {good: 3.0, bad: 1.5}
            return found(lexical=lexical, most_lexical=10.0, terms=terms, term_weights=RARITY, names=names)


@pytest.mark.promise("B19")
@pytest.mark.parametrize(("good", "bad"), [("a", "b"), ("b", "a")])
@pytest.mark.parametrize("scorer", SCORERS)
def test_each_scorer_alone_decides_between_leaves_that_are_alike_in_all_else(
    scorer: Scorer, good: str, bad: str
) -> None:
    brought = speaking_for(scorer, good, bad)
    mine, other = leaf(good, 0), leaf(bad, 0)

    values = leaf_values(brought)
    assert {name for name in values[mine] if values[mine][name] != values[other][name]} == {scorer}
    scores = {hit.node_id: hit.score for hit in score_leaves(brought)}
    difference = values[mine][scorer] - values[other][scorer]
    assert difference > 0
    assert scores[mine] - scores[other] == pytest.approx(WEIGHTS[scorer] * difference)


def test_the_values_are_what_each_scorer_promises() -> None:
    first, second = leaf("a", 0), leaf("a", 1)
    brought = found(
        dense={first: 0.6, second: 0.3, leaf("b", 4): 0.1},
        lexical={second: 5.0, leaf("b", 0): 4.0},
        most_lexical=10.0,
        terms={second: frozenset({"wind"}), leaf("b", 0): frozenset({"wind", "tower"})},
        term_weights=RARITY,
        parents={"a": {0: 0.2, 1: 0.45, 2: 0.3}, "b": {0: 0.1, 1: 0.25, 2: 0.15}},
        names={"a": 1.0, "b": 4.0},
    )

    values = leaf_values(brought)

    expected = {"dense": 0.6, "neighbours": 0.3, "parent": 0.45, "lexical": 0.0, "family": 2 / 3, "names": 0.25}
    assert values[first] == pytest.approx(expected)
    expected = {"dense": 0.1, "neighbours": 0.1, "parent": 0.25, "lexical": 0.4, "family": 1.0, "names": 1.0}
    assert values[leaf("b", 0)] == pytest.approx(expected)


def test_a_leaf_that_the_dense_search_did_not_find_counts_as_the_furthest() -> None:
    by_words = leaf("b", 0)
    brought = found(
        dense={leaf("a", 0): 0.8, leaf("a", 5): 0.3},
        lexical={by_words: 4.0},
        terms={by_words: frozenset({"wind"})},
        term_weights=RARITY,
    )

    assert leaf_values(brought)[by_words]["dense"] == 0.3
    (hit,) = (hit for hit in score_leaves(brought) if hit.node_id == by_words)
    assert "dense" not in hit.scores
    assert hit.scores["lexical"] == 4.0
    assert hit.ranks == {"lexical": 1}


def test_hits_show_what_the_searches_gave_and_their_ranks() -> None:
    both, dense = leaf("a", 0), leaf("b", 5)
    brought = found(
        dense={dense: 0.7, both: 0.5},
        lexical={both: 4.0},
        most_lexical=8.0,
        terms={both: frozenset({"wind"})},
        term_weights=RARITY,
    )

    hits = {hit.node_id: hit for hit in score_leaves(brought)}

    assert hits[both].ranks == {"dense": 2, "lexical": 1}
    assert hits[both].scores.keys() == set(SCORERS)
    assert (hits[both].scores["dense"], hits[both].scores["lexical"]) == (0.5, 4.0)
    assert hits[dense].ranks == {"dense": 1}
    assert hits[dense].scores.keys() == set(SCORERS) - {"lexical"}


def test_a_leaf_between_two_that_were_found_is_taken_along_without_a_rank() -> None:
    hits = score_leaves(found(dense={leaf("a", 0): 0.9, leaf("a", 2): 0.8}))

    assert set(names(hits)) == {leaf("a", place) for place in range(3)}
    (between,) = [hit for hit in hits if not hit.found]
    assert between.node_id == leaf("a", 1)
    assert "dense" not in between.scores
    assert not between.ranks


def test_a_leaf_beside_one_that_was_found_is_not_taken_along() -> None:
    assert names(score_leaves(found(dense={leaf("a", 1): 0.9}))) == [leaf("a", 1)]


def test_the_search_that_was_not_asked_has_no_say() -> None:
    mine = leaf("a", 0)
    dense, lexical = (
        found(dense={mine: 0.5}, parents={"a": {1: 0.4}}),
        found(lexical={mine: 2.0}, terms={mine: frozenset({"wind"})}, term_weights=RARITY, names={"a": 1.0}),
    )

    assert score_leaves(dense)[0].scores.keys() == {"dense", "neighbours", "parent"}
    assert score_leaves(lexical)[0].scores.keys() == {"lexical", "family", "names"}


@pytest.mark.parametrize("fuse", [score_leaves, lambda brought: fuse_plainly(brought, 0.6), leaf_values])
def test_hits_of_documents_that_are_not_there_are_left_out(fuse: Any) -> None:
    gone = {"gone.3": 0.9, "a.99": 0.8}
    brought = found(dense=gone, lexical=gone, terms={}, term_weights=RARITY)

    assert not fuse(brought)


@pytest.mark.parametrize("fuse", [score_leaves, lambda brought: fuse_plainly(brought, 0.6), leaf_values])
def test_nothing_found_makes_no_hits(fuse: Any) -> None:
    assert not fuse(found())
    assert not fuse(Candidates({}))


def test_a_leaf_that_only_the_names_of_its_document_brought_is_scored() -> None:
    hits = score_leaves(found(lexical={leaf("a", 0): 1.5}, names={"a": 1.0}))

    assert names(hits)[0] == leaf("a", 0)
    assert hits[0].scores["family"] == 0


def shared_word_against_meaning(nearest: float, *, everyday: bool) -> list[str]:
    """Rank a leaf that is near by meaning, and one half as near that shares a word with the question."""
    near, shares = leaf("a", 0), leaf("b", 0)
    brought = found(
        dense={near: nearest, shares: nearest / 2},
        lexical={shares: 2.0},
        most_lexical=10.0,
        terms={shares: frozenset({"tower"})},
        term_weights=RARITY,
        in_everyday_words=everyday,
    )
    hits = {hit.node_id: hit for hit in score_leaves(brought)}
    assert (hits[near].scores["dense"], hits[shares].scores["dense"]) == (nearest, nearest / 2)
    return list(hits)


def test_where_nothing_is_very_near_to_everyday_words_meaning_counts_more_than_a_shared_word() -> None:
    near, shares = leaf("a", 0), leaf("b", 0)

    assert shared_word_against_meaning(0.3, everyday=True) == [near, shares]
    assert shared_word_against_meaning(0.3, everyday=False) == [shares, near]
    assert shared_word_against_meaning(0.61, everyday=True) == [shares, near]


@pytest.mark.parametrize("nearest", [0.0, -0.2])
def test_meaning_counts_a_limited_number_of_times_as_much(nearest: float) -> None:
    only = leaf("a", 0)

    values = leaf_values(found(dense={only: nearest}, in_everyday_words=True))

    assert values[only]["dense"] == pytest.approx(MOST_TIMES * nearest)


def test_the_cosines_of_a_multilingual_model_count_more() -> None:
    only = leaf("a", 0)

    values = leaf_values(found(dense={only: 0.7}, multilingual=True))

    assert values[only]["dense"] == pytest.approx(MULTILINGUAL_TIMES * 0.7)


MINE, YOURS, BOTH = leaf("a", 0), leaf("a", 2), leaf("b", 4)
PLAIN = found(dense={MINE: 0.8, BOTH: 0.6}, lexical={YOURS: 20.0, BOTH: 10.0})


@pytest.mark.promise("E14")
def test_plain_fusion_adds_shares_of_the_best_of_each_search() -> None:
    scores = {hit.node_id: hit.score for hit in fuse_plainly(PLAIN, 0.6)}

    assert scores == pytest.approx({MINE: 0.6, YOURS: 0.4, BOTH: 0.6 * 0.75 + 0.4 * 0.5})


@pytest.mark.parametrize(("dense_share", "best"), [(0.0, YOURS), (0.6, BOTH), (1.0, MINE)])
def test_plain_fusion_weighs_the_searches(dense_share: float, best: str) -> None:
    assert names(fuse_plainly(PLAIN, dense_share))[0] == best


def test_plain_fusion_takes_nothing_along_and_shows_the_two_scores() -> None:
    hits = {hit.node_id: hit for hit in fuse_plainly(PLAIN, 0.6)}

    assert hits.keys() == {MINE, YOURS, BOTH}
    assert hits[BOTH].scores == {"dense": 0.6, "lexical": 10.0}
    assert hits[BOTH].ranks == {"dense": 2, "lexical": 2}


def test_plain_fusion_keeps_the_order_of_leaves_that_are_all_unlike_the_question() -> None:
    assert names(fuse_plainly(found(dense={MINE: -0.1, BOTH: -0.5}), 0.6)) == [MINE, BOTH]


SOME = st.dictionaries(
    st.builds(leaf, st.sampled_from(sorted(DOCUMENTS)), st.integers(0, 5)), st.floats(0.01, 1), max_size=12
)


@given(SOME, SOME)
def test_every_leaf_comes_once_best_first(dense: dict[str, float], lexical: dict[str, float]) -> None:
    brought = found(
        dense=dense, lexical=lexical, terms={name: frozenset({"wind"}) for name in lexical}, term_weights=RARITY
    )

    for hits in (score_leaves(brought), fuse_plainly(brought, 0.6)):
        assert len(set(names(hits))) == len(hits)
        assert {hit.node_id for hit in hits if hit.found} == dense.keys() | lexical.keys()
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
