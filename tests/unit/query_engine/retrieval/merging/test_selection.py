"""Merging by the evidence: what the budget holds, what joins, what stays apart."""

import logging
from collections.abc import Iterable
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.schema import MetadataMode

from index.documents.span_tree import node_id, split_node_id
from index.documents.store import StoredDocument
from index.llamaindex import make_node
from query_engine.retrieval.merging.group import Group
from query_engine.retrieval.merging.llamaindex import to_node
from query_engine.retrieval.merging.neighbours import FIRST_READ_CHARS, MAX_LATER
from query_engine.retrieval.merging.selection import choose_passages, leaves_of, left_out, within_budget
from query_engine.schema.hit import LeafHit
from settings import RetrievalSettings
from tests.fakes.corpora import stored

LEAF_CHARS = 100


def sentences(word: str) -> list[str]:
    """Six sentences of 100 characters."""
    return [f"{word}{i} {'and so on ' * 8}".ljust(98, "x") + "y." for i in range(6)]


# Two middles of three leaves each: leaves of 100 characters, middles of 302, roots of 605.
A, B = sentences("Anything"), sentences("Besides")
DOCUMENT = stored("a.md", " ".join(A), version="a")
OTHER = stored("b.md", " ".join(B), version="b")
FIRST_LEAF = DOCUMENT.tree.first_leaf
# Documents of one leaf, which has nothing to join.
LONE = [stored(f"lone{number:02}.md", sentences("Lonely")[0], version=f"lone{number}") for number in range(30)]
SHORT = stored("short.md", sentences("Short")[0][:48] + "y.", version="short")
DOCUMENTS = {document.version: document for document in (DOCUMENT, OTHER, SHORT, *LONE)}

Place = tuple[StoredDocument, int]


def hits(*places: Place, beside: Iterable[Place] = ()) -> list[LeafHit]:
    """Leaves by document and ordinal, best first; no search found those of `beside`."""
    aside = {(document.version, ordinal) for document, ordinal in beside}
    return [
        LeafHit(
            node_id(document.version, document.tree.first_leaf + ordinal),
            1 - rank / 100,
            ranks={} if (document.version, ordinal) in aside else {"dense": rank + 1},
        )
        for rank, (document, ordinal) in enumerate(places)
    ]


def alone(numbers: Iterable[int]) -> list[Place]:
    return [(LONE[number], 0) for number in numbers]


def merge(found: list[LeafHit], budget_chars: int, **options: Any) -> list[Group]:
    return choose_passages(found, DOCUMENTS, RetrievalSettings(budget_chars=budget_chars, **options))


def texts(groups: list[Group]) -> list[str]:
    return [group.document.text[group.start : group.end] for group in groups]


def test_a_lone_leaf_stays_a_leaf() -> None:
    groups = merge(hits((DOCUMENT, 1)), 8000)

    assert texts(groups) == [A[1]]
    assert groups[0].merged == ""


def test_the_best_leaves_fill_the_budget() -> None:
    assert texts(merge(hits((DOCUMENT, 0), (OTHER, 0), (DOCUMENT, 5)), 250)) == [A[0], B[0]]


def test_a_leaf_longer_than_the_budget_is_cut_to_it() -> None:
    long = stored("c.md", " ".join(["word"] * 100) + ".", version="c")
    found = hits((long, 0), (OTHER, 0))

    groups = choose_passages(found, DOCUMENTS | {"c": long}, RetrievalSettings(budget_chars=200))

    assert texts(groups) == [long.text[:199].rstrip()]


def test_of_a_parent_longer_than_the_budget_the_part_with_the_best_leaf_is_returned() -> None:
    root = DOCUMENT.tree[0]
    parent = Group(DOCUMENT, 0, root.start, root.end, hits((DOCUMENT, 5), (DOCUMENT, 3)), [0, 1], 1.0)

    (group,) = within_budget([parent], 200)

    assert parent.chars > 200 >= group.chars
    assert A[5] in texts([group])[0]


def test_neighbours_join_into_one_span_across_parents() -> None:
    groups = merge(hits((DOCUMENT, 2), (DOCUMENT, 3)), 250)

    assert texts(groups) == [" ".join(A[2:4])]
    assert groups[0].merged == "2 matching leaves follow each other"
    assert [hit.score for hit in groups[0].hits] == [1.0, 0.99]


@pytest.mark.promise("B20")
@pytest.mark.parametrize(
    ("ordinals", "level"),
    [((0, 1, 2), "middle"), ((5, 3, 4), "middle"), ((4, 0, 1, 2, 3, 5), "root")],
)
def test_leaves_that_make_up_a_parent_become_that_parent(ordinals: tuple[int, ...], level: str) -> None:
    groups = merge(hits(*((DOCUMENT, ordinal) for ordinal in ordinals)), 700)

    assert texts(groups) == [" ".join(A[min(ordinals) : max(ordinals) + 1])]
    (group,) = groups
    node = group.document.tree[group.node]
    assert (node.start, node.end) == (group.start, group.end)
    assert group.merged == f"{len(ordinals)} matching leaves make up this {level} passage"


def test_leaves_with_another_between_stay_apart() -> None:
    groups = merge(hits((DOCUMENT, 0), (DOCUMENT, 2)), 8000)

    assert texts(groups) == [A[0], A[2]]
    assert [group.alone for group in groups] == ["", ""]


def test_a_leaf_that_no_search_found_fills_the_gap_between_two_that_match() -> None:
    between = (DOCUMENT, 1)
    groups = merge(hits((DOCUMENT, 0), between, (DOCUMENT, 2), *alone([0]), beside=[between]), 8000)

    assert texts(groups)[0] == " ".join(A[:3])
    assert groups[0].merged.startswith("2 matching leaves and 1 between, worth more than")
    assert groups[0].merged.endswith("make up this middle passage")


def test_what_stands_between_is_left_out_when_others_are_worth_more() -> None:
    between = (DOCUMENT, 1)
    found = hits((DOCUMENT, 0), (DOCUMENT, 2), *alone(range(3)), between, beside=[between])

    assert texts(merge(found, 550))[:2] == [A[0], A[2]]


def test_a_joined_passage_stands_where_its_best_leaf_stood_with_its_score() -> None:
    groups = merge(hits((OTHER, 0), (DOCUMENT, 3), (DOCUMENT, 2), (OTHER, 4)), 8000)

    assert texts(groups) == [B[0], " ".join(A[2:4]), B[4]]
    assert groups[1].score == 0.99


def test_neighbours_stay_apart_when_joining_would_move_a_better_leaf_out_of_what_is_read_first() -> None:
    before = alone(range(18))
    groups = merge(hits(*before, (DOCUMENT, 0), (LONE[-1], 0), (DOCUMENT, 1)), 8000, top_k=200)[18:]

    assert texts(groups) == [A[0], LONE[-1].text, A[1]]
    assert [group.alone for group in groups] == [
        "joining would move better passages back",
        "",
        "joining would move better passages back",
    ]


@pytest.mark.parametrize(
    ("better", "joined"), [(0, True), (16, True), (17, False), (18, False), (19, True), (25, True)]
)
def test_neighbours_join_where_better_leaves_stay_in_what_is_read_first_or_come_little_later(
    better: int, joined: bool
) -> None:
    before = alone(range(better))
    groups = merge(hits(*before, (DOCUMENT, 0), (LONE[-1], 0), (DOCUMENT, 1)), 8000, top_k=200)

    assert (" ".join(A[:2]) in texts(groups)) is joined


def test_a_better_leaf_is_not_moved_back_by_many_joins_that_each_move_it_little() -> None:
    # The lone leaf ends at 1,850 characters: one join moves it to 1,951, both would move it out of the first 2,000.
    before = [(SHORT, 0), *alone(range(15))]
    found = hits(*before, (DOCUMENT, 0), (OTHER, 0), (LONE[-1], 0), (DOCUMENT, 1), (OTHER, 1))

    shown = texts(merge(found, 8000, top_k=200))

    assert " ".join(A[:2]) in shown
    assert B[0] in shown
    assert B[1] in shown


def test_leaves_join_in_any_order_of_rank() -> None:
    assert texts(merge(hits((DOCUMENT, 0), (DOCUMENT, 2), (DOCUMENT, 1)), 8000)) == [" ".join(A[:3])]


def test_neighbours_stay_apart_without_room_for_the_space_between_them() -> None:
    groups = merge(hits((DOCUMENT, 0), (DOCUMENT, 1)), 200)

    assert texts(groups) == [A[0], A[1]]
    assert {group.alone for group in groups} == {"the budget has no room for what stands between"}


def test_the_end_of_a_document_does_not_join_the_next_document() -> None:
    assert texts(merge(hits((DOCUMENT, 5), (OTHER, 0)), 8000)) == [A[5], B[0]]


@pytest.mark.promise("B09")
def test_only_the_best_passages_are_kept() -> None:
    assert texts(merge(hits((OTHER, 0), (DOCUMENT, 0), (OTHER, 4)), 310, top_k=2)) == [B[0], A[0]]


@pytest.mark.promise("E15")
def test_a_document_shows_no_more_passages_than_it_may() -> None:
    found = hits((DOCUMENT, 0), (DOCUMENT, 1), (DOCUMENT, 2), (DOCUMENT, 5), (OTHER, 1), (OTHER, 3))

    assert texts(merge(found, 8000, max_per_document=1)) == [" ".join(A[:3]), B[1]]
    assert texts(merge(found, 8000, max_per_document=1, merge=False)) == [A[0], B[1]]
    assert len(merge(found, 8000, max_per_document=2)) == 4


def test_what_a_full_document_leaves_of_the_budget_goes_to_others() -> None:
    found = hits((DOCUMENT, 0), (DOCUMENT, 2), (DOCUMENT, 4), (OTHER, 1), (OTHER, 3))

    assert texts(merge(found, 310, max_per_document=1)) == [A[0], B[1]]


def test_without_merging_the_leaves_that_were_found_are_shown_in_order() -> None:
    beside = (DOCUMENT, 3)
    found = hits((DOCUMENT, 1), beside, (DOCUMENT, 0), (DOCUMENT, 2), beside=[beside])

    groups = merge(found, 310, merge=False)

    assert texts(groups) == [A[1], A[0], A[2]]
    assert [group.merged for group in groups] == ["", "", ""]


def test_hits_of_no_visible_document_are_left_out_and_counted_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        groups = merge([LeafHit("gone.4", 1.0), LeafHit("a.99", 0.9), *hits((DOCUMENT, 0))], 250)

    assert texts(groups) == [A[0]]
    assert "2 of 3 hits belong to documents that are being replaced" in caplog.text


def test_nothing_found_makes_nothing() -> None:
    assert merge([], 8000) == []
    assert merge([], 8000, merge=False) == []


@pytest.mark.parametrize(("url", "shown"), [(None, ""), ("http://wind.org/", "\nurl: http://wind.org/")])
def test_models_see_title_and_address_beside_the_text_and_embedders_the_text(url: str | None, shown: str) -> None:
    document = stored("w.md", " ".join(A), title="Wind", version="w", url=url)
    (group,) = choose_passages(hits((document, 0)), {"w": document}, RetrievalSettings())

    node = to_node(group).node

    assert node.get_content(MetadataMode.LLM) == f"title: Wind{shown}\n\n{A[0]}"
    assert node.get_content(MetadataMode.EMBED) == A[0]
    assert {"chunk_id", "scores", "hits"} <= node.metadata.keys()


def test_passages_and_nodes_say_where_they_are_from() -> None:
    document = stored("w.md", " ".join(A), title="Wind", version="w")
    document.metadata.update({"author": "Betz", "title": "Not this one"})
    (group,) = choose_passages(hits((document, 2)), {"w": document}, RetrievalSettings())

    passage = group.passage()
    found, kept = to_node(group).node.metadata, make_node(document, group.node).metadata

    assert (passage.source_path, passage.content_type, passage.chunk_index) == ("w.md", document.content_type, 2)
    assert passage.metadata == document.metadata
    for metadata in (found, kept):
        assert (metadata["doc_id"], metadata["chunk_id"]) == ("w.md", "w.md#00002")
        assert (metadata["source_path"], metadata["content_type"], metadata["chunk_index"]) == (
            "w.md",
            document.content_type,
            2,
        )
        assert (metadata["author"], metadata["title"]) == ("Betz", "Wind")


def test_a_node_names_its_document_and_its_family_if_it_stands_in_the_tree() -> None:
    (leaf,), (joined,) = merge(hits((DOCUMENT, 0)), 250), merge(hits((DOCUMENT, 2), (DOCUMENT, 3)), 250)
    whole, span = to_node(leaf).node, to_node(joined).node

    assert whole.ref_doc_id == span.ref_doc_id == "a.md"
    assert whole.parent_node is not None
    assert whole.parent_node.node_id == "a.1"
    assert span.parent_node is None


ANY_PLACE = st.tuples(st.sampled_from([DOCUMENT, OTHER]), st.integers(0, 5)) | st.builds(
    lambda document: (document, 0), st.sampled_from(LONE)
)


@st.composite
def found_leaves(draw: st.DrawFn) -> list[LeafHit]:
    """Hits, some of which no search found."""
    places = draw(st.lists(ANY_PLACE, min_size=1, max_size=30, unique_by=lambda place: (place[0].version, place[1])))
    return hits(*places, beside=[place for place in places if draw(st.booleans())])


@given(found_leaves(), st.integers(200, 4000), st.booleans())
def test_no_text_comes_twice_and_the_budget_holds(found: list[LeafHit], budget_chars: int, merging: bool) -> None:
    groups = merge(found, budget_chars, merge=merging, top_k=200)

    assert len(groups) == 1 or sum(group.chars for group in groups) <= budget_chars
    assert [group.score for group in groups] == sorted((group.score for group in groups), reverse=True)
    for one, two in combinations(groups, 2):
        assert one.document is not two.document or one.end <= two.start or two.end <= one.start


@given(found_leaves(), st.integers(200, 4000))
def test_merging_shows_the_best_leaves_that_the_budget_holds_and_none_comes_much_later(
    found: list[LeafHit], budget_chars: int
) -> None:
    groups = merge(found, budget_chars, top_k=200)

    shown = {hit.node_id for group in groups for hit in group.hits}
    assert shown == {hit.node_id for hit in found[: budget_chars // LEAF_CHARS]}
    rank = {hit.node_id: place for place, hit in enumerate(found)}
    read = 0
    for group in groups:
        for hit in group.hits:
            by_rank = (rank[hit.node_id] + 1) * LEAF_CHARS
            latest = max(FIRST_READ_CHARS, (1 + MAX_LATER) * by_rank)
            assert read + group.document.tree[split_node_id(hit.node_id)[1]].end - group.start <= latest
        read += group.chars


@given(found_leaves(), st.integers(200, 4000))
def test_without_merging_every_leaf_stands_in_its_order(found: list[LeafHit], budget_chars: int) -> None:
    groups = merge(found, budget_chars, merge=False, top_k=200)

    wanted = [hit for hit in found if hit.ranks][: budget_chars // LEAF_CHARS]
    assert [group.hits for group in groups] == [[hit] for hit in wanted]


def test_what_was_found_and_had_no_room_is_left_out_in_order() -> None:
    found = hits((DOCUMENT, 0), (LONE[0], 0), (DOCUMENT, 1), (LONE[1], 0), (DOCUMENT, 2), beside=[(DOCUMENT, 2)])
    leaves = leaves_of(found, DOCUMENTS)

    groups = choose_passages(found, DOCUMENTS, RetrievalSettings(budget_chars=210))

    assert [group.document.doc_id for group in groups] == ["a.md", "lone00.md"]
    assert [(leaf.document.doc_id, leaf.start) for leaf in left_out(leaves, groups)] == [
        ("a.md", DOCUMENT.tree[FIRST_LEAF + 1].start),
        ("lone01.md", 0),
    ]
