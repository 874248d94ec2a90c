"""Papers in paragraphs: sizes, evenness, offsets. Counts words where the real thing counts tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.documents.span_tree import SpanTree
from index.documents.splitter import TreeSplitter
from index.documents.store import Document, Metadata
from settings import ChunkSettings
from tests.fakes.trees import check_tiles, check_tree, count_words

CHUNK = ChunkSettings(root_tokens=2048, middle_tokens=512, leaf_tokens=128)


def splitter(paper_words: int = 250, window_tokens: int = 1000) -> TreeSplitter:
    return TreeSplitter(CHUNK, count_words, window_tokens, paper_words)


def split(text: str, by: TreeSplitter | None = None, *, paper: bool = True) -> SpanTree:
    metadata: Metadata = {"paper_id": "1"} if paper else {}
    return (by or splitter()).split(Document("a", "", text, metadata=metadata))


def prose(words: int) -> str:
    """Return sentences of ten words."""
    return " ".join(f"Sentence number {i} says something about wind and water again." for i in range(words // 10))


def sizes(tree: SpanTree, text: str) -> list[int]:
    return [count_words(text[tree[leaf].start : tree[leaf].end]) for leaf in tree.leaves]


@pytest.mark.promise("C12")
@pytest.mark.parametrize("words", [210, 250, 260, 300, 510, 1000, 2630, 9000])
def test_paragraphs_have_100_to_250_words_and_are_even(words: int) -> None:
    text = prose(words)
    found = sizes(split(text), text)

    assert sum(found) == words
    assert all(100 <= size <= 250 for size in found)
    assert max(found) - min(found[:-1] or found) <= 10
    assert len(found) == -(-words // 250)


def test_the_models_window_bounds_them_too() -> None:
    text = prose(1000)
    tree = split(text, splitter(window_tokens=180))

    assert max(sizes(tree, text)) <= 180 - 48


def test_the_setting_bounds_them() -> None:
    text = prose(1000)

    assert max(sizes(split(text, splitter(paper_words=60)), text)) <= 60


def test_a_sentence_that_is_too_long_is_cut_between_words_and_numbers_stay_whole() -> None:
    text = "word 1,000 km/h " * 400
    tree = split(text)
    leaves = [text[tree[leaf].start : tree[leaf].end] for leaf in tree.leaves]

    assert all(count_words(leaf) <= 250 for leaf in leaves)
    assert all(leaf.startswith("word") and leaf.endswith("km/h") for leaf in leaves)


def test_a_blank_text_has_no_paragraphs() -> None:
    assert len(split(" \n ")) == 0


@given(st.text(st.sampled_from("ab .!?\n\té世"), min_size=1, max_size=600).filter(str.strip))
def test_children_tile_their_parents_in_order(text: str) -> None:
    small = ChunkSettings(root_tokens=64, middle_tokens=32, leaf_tokens=16)
    tree = split(text, TreeSplitter(small, count_words, 30, 20))

    assert {span.level for span in tree.spans} == {0, 1, 2}
    check_tree(tree)
    check_tiles(tree, text)
