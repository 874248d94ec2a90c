"""Answers made of quotes: what a quote is, and how quotes become text with `[n]` marks.

`extractive.py` chooses quotes, `per_part.py` may leave some out; here those that are shown are cited
and written, as they stand in their documents. So a quote takes a number only when it is written, and no citation lacks
its mark.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from query_engine.reader.window import FENCES
from query_engine.schema.citations import Citations
from query_engine.schema.events import Citation
from query_engine.schema.passage import Passage
from query_engine.synthesis.base import Piece
from query_engine.text.markdown_escape import without_marks
from query_engine.text.words import first_words

BETWEEN_QUOTES = "\n\n"


@dataclass(frozen=True, slots=True)
class Quote:
    """A span of a passage, to be shown.

    Attributes:
        start: offset of its first character in the document.
        end: offset after the last one.
        text: the document's own characters there.
        shown: the same as Markdown.
        marks: see `events.Citation`.
        headings: that it stands under, the outermost first.
    """

    passage: Passage
    start: int
    end: int
    text: str
    shown: str
    marks: tuple[tuple[int, int], ...] = ()
    headings: tuple[str, ...] = ()

    def overlaps(self, cited: Citation) -> bool:
        """Whether a cited quote shows a part of this one."""
        return self.passage.document == cited.document and self.start < cited.end and cited.start < self.end


class QuotingSynthesizer(ABC):
    """A `Synthesizer` that shows quotes and nothing else; it needs no language model and does not fail."""

    name = "extractive"

    @abstractmethod
    def quotes(self, question: str, passages: Sequence[Passage], stop: threading.Event) -> Iterator[Quote]:
        """Yield what answers the question, best first; nothing when the passages hold no answer."""

    def write(
        self, question: str, passages: Sequence[Passage], citations: Citations, stop: threading.Event
    ) -> Iterator[str]:
        """Yield the quotes as text, each followed by the number of its citation."""
        before = ""
        for quote in self.quotes(question, passages, stop):
            number = citations.cite(quote.passage, quote.start, quote.end, quote.marks)
            last = quote.shown.rpartition("\n")[2].lstrip()
            # On the same line, the mark would become part of a table row or a fence.
            gap = BETWEEN_QUOTES if "|" in last or last.startswith(FENCES) else " "
            # A document's own marks of references would read as citations of the answer.
            yield f"{before}{without_marks(quote.shown)}{gap}[{number}]"
            before = BETWEEN_QUOTES


class NothingSynthesizer(QuotingSynthesizer):
    """Quotes nothing; the last synthesizer if language models fail on a question that the gate would decline."""

    def quotes(
        self,
        question: str,  # noqa: ARG002
        passages: Sequence[Passage],  # noqa: ARG002
        stop: threading.Event,  # noqa: ARG002
    ) -> Iterator[Quote]:
        """Yield nothing."""
        return iter(())


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
            quote, mark = piece.rsplit(None, 1)
            yield f"{first_words(quote, room - 1)}… {mark}"
        return
