"""Cutting text into trees: levels, offsets, sizes. Counts words where the real thing counts tokens."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.documents.blocks import MAX_CHARS_PER_TOKEN
from index.documents.span_tree import LEAF, SpanTree
from index.documents.splitter import PART_CHARS, TITLE_TOKENS, TreeSplitter
from index.documents.store import MAX_TITLE_CHARS, Document, StoredDocument
from index.lexical.leaves import word_rows
from settings import ChunkSettings
from tests.fakes.trees import check_tiles, check_tree, count_words

CHUNK = ChunkSettings(root_tokens=64, middle_tokens=32, leaf_tokens=16)


SPLITTER = TreeSplitter(CHUNK, count_words, window_tokens=30)


def split(text: str, splitter: TreeSplitter = SPLITTER) -> SpanTree:
    return splitter.split(Document("a", "", text))


PROSE = " ".join(f"Sentence number {i} says something about wind and water." for i in range(40))


def test_three_levels_within_their_sizes() -> None:
    tree = split(PROSE)
    sizes = {0: 64, 1: 32, 2: 16}

    assert {span.level for span in tree.spans} == {0, 1, 2}
    assert all(count_words(PROSE[span.start : span.end]) <= sizes[span.level] for span in tree.spans)


def test_repeated_text_gets_its_own_offsets() -> None:
    text = "The same sentence stands here again and again and again. " * 20
    tree = split(text)
    starts = [tree[position].start for position in tree.leaves]

    assert starts == sorted(set(starts))


@given(st.text(st.sampled_from("ab .!?\n\té世"), min_size=1, max_size=600).filter(str.strip))
def test_children_lie_in_their_parents_in_order_without_overlap(text: str) -> None:
    tree = split(text)

    assert {span.level for span in tree.spans} == {0, 1, 2}
    check_tree(tree)
    check_tiles(tree, text)


FIGURES = [
    "70.44",
    "70,44",
    "1.234,56",
    "1 234.5",
    "12.03.2024",
    "2024-03-12",
    "12. March 2024",
    "12. März 2024",
    "March 12, 2024",
    "May 2020",
    "3.11.4",
    "70.44 EUR",
    "EUR 1,250.00",
    "12:30",
    "€ 70",
    "12 %",
    "5 km",
    "No. 5",
]


def cut_places(text: str, splitter: TreeSplitter = SPLITTER) -> list[int]:
    """Return where leaves begin and end."""
    tree = split(text, splitter)
    return [place for leaf in tree.leaves for place in (tree[leaf].start, tree[leaf].end)]


@given(st.lists(st.sampled_from([*FIGURES, "and", "costs", "then,", "Wind.", "It was", "; so", ": a\n"]), min_size=1))
def test_no_leaf_ends_inside_a_number_or_a_date(words: list[str]) -> None:
    # Words between them, so that it is known where each figure stands.
    text, figures = "", []
    for word in words:
        if word in FIGURES:
            figures.append((len(text), len(text) + len(word)))
            word += " was said"  # noqa: PLW2901
        text += word + " "

    for place in cut_places(text):
        assert not any(start < place < end for start, end in figures)


def whole(units: list[str], text: str) -> bool:
    """Whether no leaf of the text ends inside one of these units, which stand in it in order."""
    places, position = cut_places(text), 0
    for unit in units:
        start = text.index(unit, position)
        position = start + len(unit)
        if any(start < place < position for place in places):
            return False
    return True


UNITS = {
    "records": (
        [f"id: {i}\nname: Article {i}\nprice_eur: {i}.44\nnote: Sent, if all goes well. Or not." for i in range(90)],
        "\n\n",
    ),
    "pairs of a record that does not fit": ([f"column {i}: {i}.44 and some, words. Of it" for i in range(60)], "\n"),
    "rows": ([f"| Article {i} | {i}.44 EUR | Sent, perhaps. Or not |" for i in range(60)], "\n"),
    "items": ([f"- Item {i}: it has two sentences. This is,\n  the second of {i} in all." for i in range(60)], "\n"),
    "lines of a timeline": (
        [f"{year}. Itaipu delivers power, and much else happened. It rained." for year in range(1900, 1960)],
        "\n",
    ),
}


@pytest.mark.parametrize("kind", UNITS)
def test_what_belongs_together_stays_whole(kind: str) -> None:
    units, between = UNITS[kind]

    assert whole(units, between.join(units))


def test_parents_are_filled_with_parts_of_an_item_that_no_leaf_holds() -> None:
    text = "Ten words of prose stand here before the long item. \n\n- " + "It has many sentences of seven words. " * 4
    tree = split(text)
    middles = [text[span.start : span.end] for span in tree.spans if span.level == 1]

    assert [len(middle.split()) for middle in middles] == [32, 7]


def test_a_boundary_inside_a_row_moves_to_its_end_where_it_fits() -> None:
    text = "One sentence of six words here. \n\n" + "".join(f"| Pump. Big | {i} EUR |\n" for i in range(6))
    tree = split(text)

    assert [len(text[tree[leaf].start : tree[leaf].end].split()) for leaf in tree.leaves] == [13, 14, 14, 7]


@pytest.mark.promise("E10")
def test_a_heading_goes_with_what_follows_it() -> None:
    text = "".join(
        f"{'Eleven words of prose stand here before the next heading comes.'}\n\n## Part {i}\n\n" for i in range(9)
    )
    tree = split(text)
    leaves = [text[tree[leaf].start : tree[leaf].end] for leaf in tree.leaves]

    assert len(leaves) > 3
    assert not any(re.search(r".\s+## Part \d$", leaf) for leaf in leaves[:-1])


@pytest.mark.promise("B04")
@pytest.mark.parametrize(
    "text", ["a" * 100_000, "." * 100_000, "ab,c;" * 20_000, "汉字，" * 30_000, " ".join("a" * 90_000)]
)
def test_passages_are_bounded_in_characters(text: str) -> None:
    # A word of any length is one word.
    tree = split(text)

    for span in tree.spans:
        assert span.end - span.start <= MAX_CHARS_PER_TOKEN * (64, 32, 16)[span.level]


def test_no_leaf_is_longer_than_its_tokens_where_two_pieces_meet_inside_a_word() -> None:
    def count(text: str) -> int:  # as WordPiece may: the rest of a word costs more than the same letters by themselves
        return sum(len(word) // 2 + len(word) // 5 for word in text.split())

    text = "x" * 50_000
    tree = split(text, TreeSplitter(CHUNK, count, window_tokens=30))

    assert max(count(text[tree[leaf].start : tree[leaf].end]) for leaf in tree.leaves) <= 16


def test_a_text_in_parts_has_one_tree() -> None:
    paragraph = "Sentence number one says something about wind and water. " * 9
    text = "\n\n".join(paragraph + str(i) for i in range(2 * PART_CHARS // len(paragraph)))
    tree = split(text)

    assert tree.first_leaf == sum(span.level < LEAF for span in tree.spans)
    assert [span.level for span in tree.spans] == sorted(span.level for span in tree.spans)
    check_tree(tree)
    assert sum(len(text[tree[leaf].start : tree[leaf].end].split()) for leaf in tree.leaves) == len(text.split())


def test_a_long_run_of_marks_is_cut_at_once() -> None:
    text = "What" + "?!" * 20_000 + " Nothing."
    splitter = TreeSplitter(CHUNK, len, window_tokens=30)

    assert len(split(text, splitter).leaves) > 2_000


def embedded(title: str) -> str:
    document = Document("a", title, "Leaf text.")
    return SPLITTER.leaf_texts(StoredDocument.of(document, "v", SPLITTER.split(document)))[0]


def test_a_leaf_is_embedded_with_its_title() -> None:
    assert embedded("Wind power") == "Wind power\nLeaf text."
    assert embedded("") == "Leaf text."


def test_a_long_title_never_pushes_the_leaf_out_of_the_window() -> None:
    text = embedded("word " * 200)

    assert text.endswith("\nLeaf text.")
    assert count_words(text.removesuffix("\nLeaf text.")) == min(TITLE_TOKENS, 30 - 16)


def test_rows_apart_from_their_header_are_embedded_and_found_under_what_they_stand_under() -> None:
    rows = "".join(f"| Slip {at} | {at} | {at + 1} |\n" for at in range(40))
    text = f"Harbour dues\n\n| Slip | Boats | Dues |\n|---|---|---|\n{rows}"
    tree = SPLITTER.split(Document("a.md", "Yard", text))
    document = StoredDocument.of(Document("a.md", "Yard", text).structured(), "v", tree)

    leaves, words = SPLITTER.leaf_texts(document), [one[2] for one in word_rows([document])]

    assert len(leaves) == len(words) > 5
    assert all("Harbour dues" in one for one in (*leaves, *words))
    assert all("Slip | Boats | Dues" in one for one in (*leaves, *words))
    assert all(count_words(one) <= 30 for one in leaves)


def test_a_title_is_bounded_in_characters() -> None:
    document = StoredDocument.of(Document("a", "x" * 100_000, "Leaf text."), "v", split("Leaf text."))

    assert len(document.title) == MAX_TITLE_CHARS
    assert len(SPLITTER.leaf_texts(document)[0]) < 1000
