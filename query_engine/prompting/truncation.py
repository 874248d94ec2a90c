"""Cut passages to the room there is for them.

Flow: `builder.py` says how much room a part takes -> **here** -> the passages that fit, the last one cut after a
sentence. What is shown of them, and in which form, is `builder.py`'s business.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace

from index.documents.sentences import split_sentences
from query_engine.schema.passage import Passage


def fitting(passages: Sequence[Passage], room: int, size: Callable[[Passage, int], int]) -> list[Passage]:
    """As many as fit, the last one cut; `size(part, rank)` says what a part takes of the room."""
    kept: list[Passage] = []
    for rank, passage in enumerate(passages, 1):

        def fits(part: Passage, rank: int = rank, room: int = room) -> bool:
            return size(part, rank) <= room

        part = cut(passage, fits, between_words=rank == 1)
        if part is None:
            break
        kept.append(part)
        room -= size(part, rank)
        if len(part.text) < len(passage.text):
            break
    return kept


def cut(passage: Passage, fits: Callable[[Passage], bool], *, between_words: bool) -> Passage | None:
    """The passage, as many of its sentences as fit, or if it must be of its words; None if nothing does."""
    if fits(passage):
        return passage
    longest = _longest(passage, [sentence.end for sentence in split_sentences(passage.text)], fits)
    if longest is None and between_words:
        longest = _longest(passage, [word.end() for word in re.finditer(r"\S+", passage.text)], fits)
    return longest


def _longest(passage: Passage, ends: list[int], fits: Callable[[Passage], bool]) -> Passage | None:
    """Cut at the last of the ascending `ends` that fits; None if none does."""
    parts = [replace(passage, end=passage.start + end, text=passage.text[:end]) for end in ends]
    count = bisect_right(parts, False, key=lambda part: not fits(part))
    return parts[count - 1] if count else None
