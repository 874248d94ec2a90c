from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_engine.rank_marks import RankMarks

RANKS = 3


def rewritten(*pieces: str, numbers: dict[int, int] | None = None) -> str:
    """Pass pieces through; ranks 1 to 3 exist and are numbered as they are unless `numbers` says otherwise."""
    numbers = numbers or {rank: rank for rank in range(1, RANKS + 1)}
    marks = RankMarks(lambda rank, _: numbers.get(rank))
    return "".join(map(marks.feed, pieces)) + marks.finish()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It turns [2].", "It turns [2]."),
        ("It turns [1, 2].", "It turns [1][2]."),
        ("It turns [1][3].", "It turns [1][3]."),
        ("It turns [DOC 1].", "It turns [1]."),
        ("It turns [doc rank=2].", "It turns [2]."),
        ("It turns [Documents 1 and 3].", "It turns [1][3]."),
        ("It turns [ 1 ; 2 ] now", "It turns [1][2] now"),
        ("It turns [9].", "It turns."),
        ("It turns [9] now", "It turns now"),
        ("It turns [9, 2].", "It turns [2]."),
        ("First.\n\n[9] Second.", "First.\n\n Second."),
        ("It turns.[1]", "It turns.[1]"),
    ],
)
def test_a_mark_becomes_numbers_and_one_without_a_document_is_dropped(text: str, expected: str) -> None:
    assert rewritten(text) == expected


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
    assert rewritten(text) == text
    assert rewritten(*text) == text


def test_two_passages_of_one_document_are_marked_once() -> None:
    assert rewritten("It turns [1][2], then [2] stops.", numbers={1: 1, 2: 1}) == "It turns [1], then [1] stops."


def test_text_is_held_back_only_inside_a_possible_mark() -> None:
    marks = RankMarks(lambda rank, _: rank)

    shown = [marks.feed(piece) for piece in ["It", " turns", " [", "1", "]", ". [not", " a mark]"]]

    assert shown == ["It", " turns", "", "", " [1]", ". [not", " a mark]"]


def test_the_citer_sees_the_text_before_the_mark() -> None:
    seen: list[tuple[int, str]] = []
    marks = RankMarks(lambda rank, before: seen.append((rank, before)))

    marks.feed("Wind turns [1] blades [2].")

    assert seen == [(1, "Wind turns"), (2, "Wind turns blades")]


@given(
    parts=st.lists(
        st.one_of(
            st.text(alphabet="ab.,[]\n 1", max_size=6),
            st.sampled_from(["[1]", "[2, 3]", "[DOC 1]", "[8]", "[doc", "[rank=2]", " [1][2] ", "[1234]", "[ ]"]),
        )
    ),
    cuts=st.lists(st.integers(0, 60)),
)
def test_how_the_text_is_cut_into_pieces_changes_nothing(parts: list[str], cuts: list[int]) -> None:
    text = "".join(parts)
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[left:right] for left, right in pairwise(edges)]

    assert rewritten(*pieces) == rewritten(text)


@given(st.text(alphabet="abc .,\n", max_size=40))
def test_text_without_brackets_passes_unchanged_but_for_trailing_space(text: str) -> None:
    assert rewritten(*text) == text.rstrip()
