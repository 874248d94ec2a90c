"""What holds for every passage tree, and a count of words in place of an embedding model's tokens."""

from index.documents.span_tree import LEAF, NO_PARENT, SpanTree


def count_words(text: str) -> int:
    """Count what stands between spaces."""
    return len(text.split())


def check_tree(tree: SpanTree) -> None:
    """Check that children lie in their parents, in order and without overlap."""
    last: dict[int, int] = {}
    for span in tree.spans:
        assert last.get(span.parent, 0) <= span.start < span.end
        last[span.parent] = span.end
        if span.parent != NO_PARENT:
            parent = tree[span.parent]
            assert parent.level == span.level - 1
            assert parent.start <= span.start
            assert span.end <= parent.end
    assert all(tree[position].level == LEAF for position in tree.leaves)


def check_tiles(tree: SpanTree, text: str) -> None:
    """Check that every word of a text is in a leaf."""
    rest = list(text)
    for position in tree.leaves:
        rest[tree[position].start : tree[position].end] = " " * (tree[position].end - tree[position].start)
    assert not "".join(rest).strip()
