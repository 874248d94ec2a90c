"""Answers made of quotes: what a quote is, and how quotes become text with `[n]` marks.

Flow: `extractive.py` chooses quotes -> `high_precision.py` and `per_part.py` may leave some out -> **here** cites and
writes those that are shown. So a quote takes a number only when it is written, and no citation lacks its mark.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from query_engine.schema.citations import Citations
from query_engine.schema.passage import Passage


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
