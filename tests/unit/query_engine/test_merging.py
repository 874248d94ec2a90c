"""Merging: what becomes a parent, what joins, what the budget allows."""

from typing import Any

from index.documents import StoredDocument
from index.nodes import node_id
from query_engine.leaves import LeafHit
from query_engine.merging import Group, merge_leaves
from settings import RetrievalSettings
from tests.fakes.corpora import stored

# Two middles of three leaves each; every sentence is 10 characters long.
DOCUMENT = stored("a.md", ". ".join(f"Sentence{i}" for i in range(6)) + ".", version="a")
OTHER = stored("b.md", ". ".join(f"Anything{i}" for i in range(6)) + ".", version="b")
FIRST_LEAF = DOCUMENT.tree.first_leaf


def hits(*places: tuple[StoredDocument, int]) -> list[LeafHit]:
    """Leaves by document and ordinal, best first."""
    return [
        LeafHit(node_id(document.version, FIRST_LEAF + ordinal), 1 - rank / 100)
        for rank, (document, ordinal) in enumerate(places)
    ]


def merge(found: list[LeafHit], **options: Any) -> list[Group]:
    return merge_leaves(found, {"a": DOCUMENT, "b": OTHER}, RetrievalSettings(**{"budget_chars": 10_000, **options}))


def texts(groups: list[Group]) -> list[str]:
    return [group.document.text[group.start : group.end] for group in groups]


def test_a_lone_leaf_stays_a_leaf() -> None:
    assert texts(merge(hits((DOCUMENT, 1)))) == ["Sentence1."]


def test_two_of_three_siblings_become_their_parent() -> None:
    groups = merge(hits((DOCUMENT, 0), (DOCUMENT, 2)))

    assert texts(groups) == ["Sentence0. Sentence1. Sentence2."]
    assert "2 leaves of this middle passage" in groups[0].merged


def test_a_higher_ratio_keeps_the_siblings_apart() -> None:
    assert texts(merge(hits((DOCUMENT, 0), (DOCUMENT, 2)), merge_ratio=0.9)) == ["Sentence0.", "Sentence2."]


def test_a_parent_keeps_the_score_of_its_best_leaf() -> None:
    groups = merge(hits((DOCUMENT, 0), (OTHER, 0), (DOCUMENT, 2)))

    assert [group.document.doc_id for group in groups] == ["a.md", "b.md"]
    assert groups[0].score == 1.0


def test_neighbours_across_parents_join_into_one_span() -> None:
    groups = merge(hits((DOCUMENT, 2), (DOCUMENT, 3)))

    assert texts(groups) == ["Sentence2. Sentence3."]
    assert "follow each other" in groups[0].merged


def test_most_of_a_document_becomes_the_document_once() -> None:
    groups = merge(hits(*((DOCUMENT, ordinal) for ordinal in (0, 2, 3, 5))))

    assert texts(groups) == [DOCUMENT.text]


def test_without_merging_leaves_stay_leaves_in_rank_order() -> None:
    groups = merge(hits((DOCUMENT, 1), (DOCUMENT, 0), (DOCUMENT, 2)), merge=False)

    assert texts(groups) == ["Sentence1.", "Sentence0.", "Sentence2."]


def test_no_text_comes_twice() -> None:
    found = hits(*((document, ordinal) for ordinal in (5, 0, 3, 2, 1) for document in (DOCUMENT, OTHER)))
    groups = merge(found)

    for one in groups:
        for two in groups:
            same = one.document is two.document and one is not two
            assert not (same and one.start < two.end and two.start < one.end)


def test_leaves_stop_at_the_budget() -> None:
    document = stored("c.md", ". ".join(f"{'long ' * 12}{i}" for i in range(6)) + ".", version="c")
    found = [LeafHit(node_id("c", document.tree.first_leaf + i), 1 - i / 10) for i in (0, 2, 4)]

    groups = merge_leaves(found, {"c": document}, RetrievalSettings(budget_chars=200, merge=False))

    assert len(groups) == 3
    assert sum(group.chars for group in groups) <= 200
    assert len(merge_leaves(found * 2, {"c": document}, RetrievalSettings(budget_chars=200, merge=False))) == 3


def test_a_parent_takes_the_room_of_worse_passages_only() -> None:
    long = stored("c.md", ". ".join(f"{'long ' * 12}{i}" for i in range(3)) + ".", version="c")
    documents = {"c": long, "b": OTHER}
    first = long.tree.first_leaf
    siblings = [LeafHit(node_id("c", first), 0.9), LeafHit(node_id("c", first + 2), 0.8)]
    better = [LeafHit(node_id("b", FIRST_LEAF + i), 1.0) for i in (0, 2, 4)]
    worse = [LeafHit(node_id("b", FIRST_LEAF + i), 0.1) for i in (0, 2, 4)]
    options = RetrievalSettings(budget_chars=200)

    kept = merge_leaves([*better, *siblings], documents, options)
    replaced = merge_leaves([*siblings, *worse], documents, options)

    assert sum(len(group.hits) for group in kept) == 5
    assert long.text not in texts(kept)
    assert texts(replaced)[0] == long.text
    assert sum(group.chars for group in replaced) <= 200


def test_a_leaf_longer_than_the_budget_is_still_returned() -> None:
    text = "word " * 100
    document = stored("c.md", text.strip() + ".", version="c")

    groups = merge_leaves(
        [LeafHit(node_id("c", document.tree.first_leaf), 1.0)], {"c": document}, RetrievalSettings(budget_chars=200)
    )

    assert len(groups) == 1


def test_a_hit_that_no_visible_document_owns_is_dropped() -> None:
    assert merge([LeafHit("gone.4", 1.0), *hits((DOCUMENT, 0))])[0].document is DOCUMENT
