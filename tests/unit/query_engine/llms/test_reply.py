from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_engine.llms.reply import Reply


def shown(*pieces: str) -> tuple[str, Reply]:
    reply, text = Reply(), ""
    for piece in pieces:
        new = reply.feed(piece)
        text = new if reply.restarted else text + new
        reply.restarted = False
    return text + reply.finish(), reply


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.",
        "I don’t know",
        "i do not know.",
        "  I DON'T KNOW!\n",
        '"I don\'t know."',
        "**I don't know.**",
        "Answer: I don't know.",
        "I don't know. The documents speak of something else.",
        "I don't know the answer to this question.",
        "I don't know, as the documents do not say.",
        "I don't know [1].",
        "Ich weiß es nicht. Die Quellen handeln vom Wind.",
        "Je ne sais pas, les sources n'en parlent pas.",
        "No lo sé.",
    ],
)
def test_an_abstention_lets_nothing_through(text: str) -> None:
    for pieces in ([text], list(text)):
        answer, reply = shown(*pieces)
        assert answer == ""
        assert reply.declined


@pytest.mark.parametrize(
    "text",
    [
        "I do.",
        "I don't",
        "I don't know how they do it, but they turn.",
        "Idle blades stand still.",
        "It is known.",
        "Answer: it turns.",
        "Answers differ.",
        "The saying goes: I don't know.",
    ],
)
def test_other_openings_pass_whole(text: str) -> None:
    for pieces in ([text], list(text)):
        answer, reply = shown(*pieces)
        assert answer == text
        assert not reply.declined


def test_words_flow_as_soon_as_they_cannot_be_an_abstention() -> None:
    reply = Reply()

    assert [reply.feed(piece) for piece in ["I", " do", " think", " so"]] == ["", "", "I do think", " so"]


def test_reasoning_is_removed() -> None:
    text = "<think>Let me see. [1]</think>\n\nIt turns."

    for pieces in ([text], list(text)):
        answer, reply = shown(*pieces)
        assert answer == "It turns."
        assert reply.reasoned


def test_reasoning_without_end_leaves_nothing() -> None:
    answer, reply = shown("<think>", "and so on")

    assert (answer, reply.reasoned) == ("", True)


def test_reasoning_that_was_never_opened_is_taken_back() -> None:
    reply = Reply()

    assert reply.feed("So the blades") == "So the blades"
    assert (reply.feed("</think>It turns."), reply.restarted) == ("It turns.", True)


def test_a_decline_is_kept_in_the_models_words() -> None:
    for pieces in (["I don't know. The sources speak of wind."], list("I don't know. The sources speak of wind.")):
        answer, reply = shown(*pieces)

        assert (answer, reply.decline_text) == ("", "I don't know. The sources speak of wind.")


def test_repeated_document_borders_are_dropped() -> None:
    assert shown("<DOC rank=1>It turns.", "</D", "OC> Really.")[0] == "It turns. Really."


@pytest.mark.parametrize("text", ["a < b", "1 <2", "<b>bold</b>", "x <thing> y", "ends in <", "<thin", "<doctrine>"])
def test_other_angle_brackets_stay_text(text: str) -> None:
    assert shown(text)[0] == text
    assert shown(*text)[0] == text


def test_control_characters_and_lone_surrogates_are_dropped() -> None:
    assert shown("a\x00b\x1b[0m\tc\nd\x7f\ud83de\r")[0] == "ab[0m\tc\nde"


@given(
    parts=st.lists(
        st.sampled_from(["<think>", "</think>", "<", "th", "I don't", " know", ".", " ", "x", "<DOC rank=1>"])
    ),
    cuts=st.lists(st.integers(0, 60)),
)
def test_how_the_text_is_cut_into_pieces_changes_nothing(parts: list[str], cuts: list[int]) -> None:
    text = "".join(parts)
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[left:right] for left, right in pairwise(edges)]

    def outcome(*pieces: str) -> object:
        answer, reply = shown(*pieces)
        return answer, reply.declined, reply.decline_text

    assert outcome(*pieces) == outcome(text)
