"""Answers made of quotes: what a quote is, and how quotes become text with `[n]` marks.

Flow: `extractive.py` chooses quotes -> `high_precision.py` and `per_part.py` may leave some out -> **here** cites and
writes those that are shown. So a quote takes a number only when it is written, and no citation lacks its mark.
"""

import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from query_engine.schema.citations import Citations
from query_engine.schema.passage import Passage
from query_engine.synthesis.base import Piece


@dataclass(frozen=True, slots=True)
class Quote:
    """A span of a passage, to be shown.

    Attributes:
        start: offset of its first character in the document.
        end: offset after the last one.
        words: the quoted words on one line; the same words are said once.
        shown: as Markdown: the words escaped, the answer in bold, perhaps a title before them.
    """

    passage: Passage
    start: int
    end: int
    words: str
    shown: str


class QuotingSynthesizer(ABC):
    """A `Synthesizer` that shows quotes and nothing else; it needs no language model and does not fail.

    Attributes:
        separator: stands between two quotes.
    """

    name = "extractive"
    separator = " "

    @abstractmethod
    def quotes(self, question: str, passages: Sequence[Passage], stop: threading.Event) -> Iterator[Quote]:
        """Yield what answers the question, best first; nothing when the passages hold no answer."""

    def write(
        self, question: str, passages: Sequence[Passage], citations: Citations, stop: threading.Event
    ) -> Iterator[str]:
        """Yield the quotes as text, each followed by the number of its citation."""
        separator = ""
        for quote in self.quotes(question, passages, stop):
            yield f"{separator}{quote.shown} [{citations.cite(quote.passage, quote.start, quote.end)}]"
            separator = self.separator


def within(pieces: Iterable[Piece], max_words: int | None) -> Iterator[Piece]:
    """Yield quotes with their marks as long as they fit; a first one that does not is cut before its mark.

    Args:
        pieces: what `QuotingSynthesizer.write` yields.
        max_words: of all, marks counted; None sets no limit.
    """
    room = max_words
    for piece in pieces:
        words = len(piece.split()) if isinstance(piece, str) else 0
        if room is None or not isinstance(piece, str) or words <= room:
            yield piece
            room = None if room is None else room - words
            continue
        if room == max_words:
            quote, _, mark = piece.rpartition(" ")
            kept = quote[: [word.end() for word in re.finditer(r"\S+", quote)][room - 2]]
            bold = "**" if kept.count("**") % 2 else ""
            yield f"{kept}{bold}… {mark}"
        return
