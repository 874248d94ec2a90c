"""Merging: what becomes a parent, what joins, what the budget allows."""

from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from index.documents import StoredDocument
from index.nodes import node_id
from query_engine.leaves import LeafHit
from query_engine.merging import Group, merge_leaves
from settings import RetrievalSettings
from tests.fakes.corpora import stored


def sentences(word: str) -> list[str]:
    """Six sentences of 100 characters."""
    return [f"{word}{i} {'and so on ' * 9}".ljust(98, "x") + "y." for i in range(6)]


# Two middles of three leaves each: leaves of 100 characters, middles of 302, roots of 605.
A, B = sentences("Anything"), sentences("Besides")
DOCUMENT = stored("a.md", " ".join(A), version="a")
OTHER = stored("b.md", " ".join(B), version="b")
FIRST_LEAF = DOCUMENT.tree.first_leaf


def hits(*places: tuple[StoredDocument, int]) -> list[LeafHit]:
    """Leaves by document and ordinal, best first."""
    return [
        LeafHit(node_id(document.version, FIRST_LEAF + ordinal), 1 - rank / 100)
        for rank, (document, ordinal) in enumerate(places)
    ]


def merge(found: list[LeafHit], budget_chars: int, **options: Any) -> list[Group]:
    return merge_leaves(found, {"a": DOCUMENT, "b": OTHER}, RetrievalSettings(budget_chars=budget_chars, **options))


def texts(groups: list[Group]) -> list[str]:
    return [group.document.text[group.start : group.end] for group in groups]


def test_a_lone_leaf_stays_a_leaf_without_room_for_more() -> None:
    groups = merge(hits((DOCUMENT, 1)), 250)

    assert texts(groups) == [A[1]]
    assert groups[0].merged == ""


def test_two_of_three_siblings_become_their_parent() -> None:
    groups = merge(hits((DOCUMENT, 0), (DOCUMENT, 2)), 310)

    assert texts(groups) == [" ".join(A[:3])]
    assert "2 leaves of this middle passage" in groups[0].merged


def test_a_merged_passage_keeps_the_score_of_its_best_leaf() -> None:
    groups = merge(hits((DOCUMENT, 0), (OTHER, 0), (DOCUMENT, 1)), 320)

    assert texts(groups) == [" ".join(A[:2]), B[0]]
    assert groups[0].score == 1.0


def test_neighbours_across_parents_join_into_one_span() -> None:
    groups = merge(hits((DOCUMENT, 2), (DOCUMENT, 3)), 250)

    assert texts(groups) == [" ".join(A[2:4])]
    assert "follow each other" in groups[0].merged


def test_most_of_a_document_becomes_the_document_once() -> None:
    groups = merge(hits(*((DOCUMENT, ordinal) for ordinal in (0, 1, 2, 3, 5))), 700)

    assert texts(groups) == [DOCUMENT.text]


def test_leaves_far_apart_in_the_ranking_stay_apart() -> None:
    better = [(OTHER, 0), (OTHER, 2), (OTHER, 4)]
    groups = merge(hits((DOCUMENT, 0), *better, (DOCUMENT, 1)), 520)

    assert texts(groups) == [A[0], B[0], B[2], B[4], A[1]]


def test_without_merging_leaves_stay_leaves_in_rank_order() -> None:
    groups = merge(hits((DOCUMENT, 1), (DOCUMENT, 0), (DOCUMENT, 2)), 10_000, merge=False)

    assert texts(groups) == [A[1], A[0], A[2]]


def test_only_the_best_passages_are_kept() -> None:
    groups = merge(hits((OTHER, 0), (DOCUMENT, 0), (OTHER, 4)), 310, top_k=2)

    assert texts(groups) == [B[0], A[0]]


@given(
    st.lists(st.tuples(st.sampled_from([DOCUMENT, OTHER]), st.integers(0, 5)), min_size=1, max_size=12, unique_by=str),
    st.integers(200, 1500),
)
def test_no_text_comes_twice_and_the_budget_holds(found: list[tuple[StoredDocument, int]], budget_chars: int) -> None:
    groups = merge(hits(*found), budget_chars)

    assert sum(group.chars for group in groups) <= budget_chars
    assert [group.score for group in groups] == sorted((group.score for group in groups), reverse=True)
    for one, two in combinations(groups, 2):
        assert one.document is not two.document or one.end <= two.start or two.end <= one.start


def test_leaves_stop_at_the_budget() -> None:
    groups = merge(hits((DOCUMENT, 0), (OTHER, 0), (DOCUMENT, 5)), 250, merge=False)

    assert texts(groups) == [A[0], B[0]]


def test_a_parent_that_does_not_fit_leaves_its_children() -> None:
    assert texts(merge(hits((DOCUMENT, 0), (DOCUMENT, 2), (OTHER, 0)), 350)) == [A[0], A[2], B[0]]


def test_a_higher_ratio_asks_for_more_hits() -> None:
    assert texts(merge(hits((DOCUMENT, 0), (DOCUMENT, 2)), 700, merge_ratio=0.9)) == [A[0], A[2]]


def test_a_leaf_longer_than_the_budget_is_still_returned() -> None:
    text = "word " * 100
    document = stored("c.md", text.strip() + ".", version="c")

    groups = merge_leaves(
        [LeafHit(node_id("c", document.tree.first_leaf), 1.0)], {"c": document}, RetrievalSettings(budget_chars=200)
    )

    assert len(groups) == 1


def test_a_hit_that_no_visible_document_owns_is_dropped() -> None:
    assert texts(merge([LeafHit("gone.4", 1.0), *hits((DOCUMENT, 0))], 250)) == [A[0]]
