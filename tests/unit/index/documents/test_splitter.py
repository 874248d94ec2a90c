"""Cutting text into trees: levels, offsets, sizes. Counts words where the real thing counts tokens."""

from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.node_parser import HierarchicalNodeParser, NodeParser, SentenceSplitter
from llama_index.core.schema import Document as LlamaDocument

from index.documents.span_tree import LEAF, NO_PARENT
from index.documents.splitter import TITLE_TOKENS, TreeSplitter
from index.documents.store import Document, StoredDocument
from settings import ChunkSettings

CHUNK = ChunkSettings(root_tokens=64, middle_tokens=32, leaf_tokens=16)


def count_words(text: str) -> int:
    return len(text.split())


SPLITTER = TreeSplitter(CHUNK, count_words, window_tokens=30)
PROSE = " ".join(f"Sentence number {i} says something about wind and water." for i in range(40))


def test_three_levels_within_their_sizes() -> None:
    tree = SPLITTER.split(PROSE)
    sizes = {0: 64, 1: 32, 2: 16}

    assert {span.level for span in tree.spans} == {0, 1, 2}
    assert all(count_words(PROSE[span.start : span.end]) <= sizes[span.level] for span in tree.spans)


def test_a_short_text_still_has_all_levels() -> None:
    assert [span.level for span in SPLITTER.split("One sentence.").spans] == [0, 1, 2]


def test_leaves_tile_the_document() -> None:
    tree = SPLITTER.split(PROSE)
    rest = list(PROSE)
    for position in tree.leaves:
        rest[tree[position].start : tree[position].end] = " " * (tree[position].end - tree[position].start)

    assert not "".join(rest).strip()


def test_repeated_text_gets_its_own_offsets() -> None:
    text = "The same sentence stands here again and again and again. " * 20
    tree = SPLITTER.split(text)
    starts = [tree[position].start for position in tree.leaves]

    assert starts == sorted(set(starts))


@given(st.text(st.sampled_from("ab .!?\n\té世"), min_size=1, max_size=600).filter(str.strip))
def test_children_lie_in_their_parents_in_order_without_overlap(text: str) -> None:
    tree = SPLITTER.split(text)

    assert len(tree.leaves) >= 1
    last: dict[int, int] = {}
    for span in tree.spans:
        assert 0 <= span.start < span.end <= len(text)
        assert span.start >= last.get(span.parent, 0)
        last[span.parent] = span.end
        if span.parent != NO_PARENT:
            parent = tree[span.parent]
            assert parent.level == span.level - 1
            assert parent.start <= span.start
            assert span.end <= parent.end
    assert all(tree[position].level == LEAF for position in tree.leaves)


MARKED = st.lists(
    st.sampled_from(
        ["Mr. ", "U.S. ", "3.5 ", "e.g. ", "x", "Yes", "! ", '?" ', ". ", "... ", ") ", "\n", "é. ", "Ö ", "A. "]
    )
)


@given(MARKED.map("".join))
def test_leaves_are_those_of_the_parser_as_it_comes(text: str) -> None:
    # Ours remembers where sentences end; that must not move one of them.
    sizes = {"root": 64, "middle": 32, "leaf": 16}
    parsers: dict[str, NodeParser] = {
        name: SentenceSplitter(chunk_size=size, chunk_overlap=0, tokenizer=str.split) for name, size in sizes.items()
    }
    plain = HierarchicalNodeParser.from_defaults(node_parser_ids=list(sizes), node_parser_map=parsers)
    nodes = plain.get_nodes_from_documents([LlamaDocument(text=text)])

    assert [text[span.start : span.end] for span in SPLITTER.split(text).spans] == [
        node.get_content() for node in nodes
    ]


def test_a_long_run_of_marks_is_cut_at_once() -> None:
    text = "What" + "?!" * 20_000 + " Nothing."
    splitter = TreeSplitter(CHUNK, len, window_tokens=30)

    assert len(splitter.split(text).leaves) > 2_000


def embedded(title: str) -> str:
    document = Document("a", title, "Leaf text.")
    return SPLITTER.leaf_texts(StoredDocument.of(document, "v", SPLITTER.split(document.text)))[0]


def test_a_leaf_is_embedded_with_its_title() -> None:
    assert embedded("Wind power") == "Wind power\nLeaf text."
    assert embedded("") == "Leaf text."


def test_a_long_title_never_pushes_the_leaf_out_of_the_window() -> None:
    text = embedded("word " * 200)

    assert text.endswith("\nLeaf text.")
    assert count_words(text.removesuffix("\nLeaf text.")) == min(TITLE_TOKENS, 30 - 16)
