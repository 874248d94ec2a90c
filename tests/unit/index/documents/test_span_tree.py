"""The passage tree: positions, relations, packing."""

import pytest

from index.documents.span_tree import Span, SpanTree, chunk_id, node_id, split_node_id

TREE = SpanTree(
    [
        Span(0, 0, 40, -1),
        Span(1, 0, 20, 0),
        Span(1, 21, 40, 0),
        Span(2, 0, 9, 1),
        Span(2, 10, 20, 1),
        Span(2, 21, 40, 2),
    ]
)


@pytest.mark.parametrize(("offset", "ordinal"), [(0, 0), (9, 0), (10, 1), (39, 2)])
def test_an_offset_belongs_to_the_last_leaf_that_starts_before_it(offset: int, ordinal: int) -> None:
    assert TREE.ordinal_at(offset) == ordinal


def test_packing_keeps_every_span() -> None:
    assert SpanTree.from_bytes(TREE.to_bytes()).spans == TREE.spans


def test_an_empty_tree_has_no_leaves() -> None:
    assert list(SpanTree.from_bytes(SpanTree([]).to_bytes()).leaves) == []


def test_node_ids_carry_version_and_position() -> None:
    assert split_node_id(node_id("abc", 12)) == ("abc", 12)
    with pytest.raises(ValueError, match="invalid literal"):
        split_node_id("no number")


def test_chunk_ids_count_leaves_in_five_digits() -> None:
    assert chunk_id("a/b.md", 7) == "a/b.md#00007"
