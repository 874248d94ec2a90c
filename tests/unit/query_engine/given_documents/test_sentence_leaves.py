"""Sentences become the leaves of a tree, and nothing of the text is lost."""

import pytest

from index.documents.span_tree import LEAF, NO_PARENT, Span, SpanTree
from query_engine.given_documents.sentence_leaves import with_sentence_leaves

TEXT = """# Betz

Albert Betz was a German physicist. He published the limit in 1919.

- He worked in Göttingen.
- He wrote about wings.

A last line without a stop"""
CUT = TEXT.index("- He worked")


def tree_of(*middles: tuple[int, int]) -> SpanTree:
    parents = [Span(0, 0, len(TEXT), NO_PARENT), *(Span(1, *middle, 0) for middle in middles)]
    return SpanTree([*parents, *(Span(LEAF, *middle, place) for place, middle in enumerate(middles, 1))])


@pytest.mark.promise("B03")
def test_each_sentence_heading_and_list_item_is_a_leaf() -> None:
    tree = with_sentence_leaves(TEXT, tree_of((0, len(TEXT))))

    assert [TEXT[tree[leaf].start : tree[leaf].end] for leaf in tree.leaves] == [
        "# Betz",
        "Albert Betz was a German physicist.",
        "He published the limit in 1919.",
        "- He worked in Göttingen.",
        "- He wrote about wings.",
        "A last line without a stop",
    ]
    assert tree.spans[:2] == tree_of((0, len(TEXT))).spans[:2]


def test_leaves_belong_to_the_middle_they_stand_in() -> None:
    tree = with_sentence_leaves(TEXT, tree_of((0, CUT - 2), (CUT, len(TEXT))))

    assert tree.children[0] == [1, 2]
    assert [TEXT[tree[leaf].start : tree[leaf].end] for leaf in tree.children[2]] == [
        "- He worked in Göttingen.",
        "- He wrote about wings.",
        "A last line without a stop",
    ]


@pytest.mark.promise("B04")
def test_only_space_is_left_between_leaves_and_a_long_run_is_cut() -> None:
    text = "word " * 1000
    whole = SpanTree([Span(0, 0, 4999, NO_PARENT), Span(1, 0, 4999, 0), Span(LEAF, 0, 4999, 1)])

    leaves = [with_sentence_leaves(text, whole)[place] for place in with_sentence_leaves(text, whole).leaves]

    assert " ".join(text[leaf.start : leaf.end] for leaf in leaves) == text.strip()
    assert len(leaves) > 1
    assert max(leaf.end - leaf.start for leaf in leaves) <= 600
