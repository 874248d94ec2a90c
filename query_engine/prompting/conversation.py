"""Bring a conversation into the form that every chat template takes, and into the room there is for it.

Flow: the turns before a question -> **here** -> `builder.py` puts them between the instructions and the question.
Templates such as Gemma's and Mistral's want user and assistant in turn, the user first. Pure.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from query_engine.schema.turn import Turn
from query_engine.text.markdown_escape import without_citations

READ_TURNS, READ_CHARS = 6, 20_000
CUT = " …"


def last(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return what is read of a conversation, whether to search or to answer: the last turns, each up to a limit."""
    return tuple(replace(turn, text=turn.text[:READ_CHARS]) for turn in turns[-READ_TURNS:])


def alternating(turns: Sequence[Turn], most: int, unanswered: str) -> list[Turn]:
    """Return the last turns as pairs of a user's and an assistant's message, `most` messages at most.

    Citations of earlier answers count other sources than those to come, so they go. What one side said in succession
    becomes one message; an answer without a question goes.

    Args:
        turns: oldest first.
        most: messages, at least 0.
        unanswered: stands for the answer to the last message, if it has none.
    """
    heard: list[Turn] = []
    for turn in last(turns):
        text = (without_citations(turn.text) if turn.role == "assistant" else turn.text).strip()
        if text and heard and heard[-1].role == turn.role:
            heard[-1] = replace(turn, text=f"{heard[-1].text}\n\n{text}")
        elif text and (heard or turn.role == "user"):
            heard.append(replace(turn, text=text))
    if len(heard) % 2:
        heard.append(Turn("assistant", unanswered))
    return heard[max(0, len(heard) - most // 2 * 2) :]


def shortened(turns: Sequence[Turn], room: int, size: Callable[[str], int]) -> list[Turn]:
    """Return the turns with the longest of them cut, so that all fit; what short ones leave is for long ones.

    Args:
        turns: to be fitted.
        room: for all of them together.
        size: what a text takes of it.
    """
    fitted = list(turns)
    by_length = sorted(range(len(turns)), key=lambda at: len(turns[at].text))
    for left, at in zip(range(len(turns), 0, -1), by_length, strict=True):
        fitted[at] = replace(turns[at], text=_beginning(turns[at].text, room // left, size))
        room -= size(fitted[at].text)
    return fitted


def _beginning(text: str, room: int, size: Callable[[str], int]) -> str:
    """Return a text, or as much of its beginning as fits."""
    shown = text
    # Between characters: not every language has spaces.
    while text and (taken := size(shown)) > room:
        text = text[: min(len(text) - 1, len(text) * room // taken)]
        shown = text + CUT
    return shown
