from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_engine.synthesis.citation_marks import MarkedSentence, MarkedSentences


def cut(*pieces: str) -> list[MarkedSentence]:
    sentences = MarkedSentences()
    return [each for piece in pieces for each in sentences.feed(piece)] + sentences.finish()


def shown(sentence: MarkedSentence) -> str:
    """The sentence with its marks in braces."""
    text = sentence.text
    for at, rank in reversed(sentence.marks):
        text = f"{text[:at]}{{{rank}}}{text[at:]}"
    return text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It turns [2].", ["It turns{2}."]),
        ("It turns [1, 2].", ["It turns{1}{2}."]),
        ("It turns [1][3].", ["It turns{1}{3}."]),
        ("It turns [DOC 1].", ["It turns{1}."]),
        ("It turns [doc rank=2].", ["It turns{2}."]),
        ("It turns [Documents 1 and 3].", ["It turns{1}{3}."]),
        ("It turns. [1] It stops.[2]", ["It turns.{1}", "It stops.{2}"]),
        ("It turns [1], then stops [2]. So it is.", ["It turns{1}, then stops{2}.", "So it is."]),
        ("[3] It turns. It stops.", ["It turns.{3}", "It stops."]),
        ("1. [1] ", ["1.{1}"]),
        ("- It turns [1]\n- It stops [2]\n", ["It turns{1}", "It stops{2}"]),
    ],
)
def test_a_mark_belongs_to_the_sentence_it_stands_in_or_behind(text: str, expected: list[str]) -> None:
    assert [shown(sentence) for sentence in cut(text)] == expected
    assert [shown(sentence) for sentence in cut(*text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "In [2020] it",
        "an [array] of",
        "[docile 1]",
        "see [1",
        "a [x1]",
        "[",
        "[]",
        "[note 1]",
        f"[{' ' * 60}1]",
        "[1a]",
    ],
)
def test_other_brackets_stay_text(text: str) -> None:
    assert [each.text for each in cut(text)] == [text]
    assert [each.text for each in cut(*text)] == [text]


def test_a_sentence_is_finished_when_the_next_one_has_begun() -> None:
    sentences = MarkedSentences()

    finished = [sentences.feed(piece) for piece in ["It", " turns.", " [", "1", "]", " Th", "en it"]]

    assert [[shown(each) for each in some] for some in finished] == [[], [], [], [], [], ["It turns.{1}"], []]
    assert [each.text for each in sentences.finish()] == ["Then it"]


def test_what_stands_before_a_sentence_is_kept_apart_with_list_numbers_and_headings() -> None:
    found = cut("# How\n\n1. It turns. It stops.\n2. It rests.")

    assert [(each.lead, each.text, each.heading) for each in found] == [
        ("# ", "How", True),
        ("\n\n1. ", "It turns.", False),
        (" ", "It stops.", False),
        ("\n2. ", "It rests.", False),
    ]


@given(
    parts=st.lists(
        st.one_of(
            st.text(alphabet="ab.,[]\n 1", max_size=6),
            st.sampled_from(
                ["[1]", "[2, 3]", "[DOC 1]", "[8]", "[doc", "[rank=2]", " [1][2] ", "[1234]", "[ ]", ". A"]
            ),
        )
    ),
    cuts=st.lists(st.integers(0, 60)),
)
def test_however_the_text_is_cut_into_pieces_no_word_and_no_mark_is_lost(parts: list[str], cuts: list[int]) -> None:
    text = "".join(parts)
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    whole, pieces = cut(text), cut(*(text[left:right] for left, right in pairwise(edges)))

    def words(found: list[MarkedSentence]) -> str:
        return "".join("".join((each.lead + each.text).split()) for each in found)

    assert words(pieces) == words(whole)
    if whole:
        assert sum(len(each.marks) for each in pieces) == sum(len(each.marks) for each in whole)
    assert all(0 <= at <= len(each.text) for each in pieces for at, _ in each.marks)
