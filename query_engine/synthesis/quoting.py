"""Answers made of quotes: what a quote is, and how quotes become text with `[n]` marks.

Flow: `extractive.py` chooses quotes -> `high_precision.py` and `per_part.py` may leave some out -> **here** cites and
writes those that are shown. So a quote takes a number only when it is written, and no citation lacks its mark.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from query_engine.schema.citations import Citations
from query_engine.schema.passage import Passage
from query_engine.synthesis.base import Piece
from query_engine.text.markdown_table import table_row
from query_engine.text.words import first_words

BETWEEN_BLOCKS = "\n\n"


@dataclass(frozen=True, slots=True)
class TableRows:
    """Rows of a table as Markdown.

    Attributes:
        lead: a title that stands before them, or "".
        head: names of the columns, and the rule below them.
        rows: cells of each row.
    """

    lead: str
    head: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """A span of a passage, to be shown.

    Attributes:
        start: offset of its first character in the document.
        end: offset after the last one.
        words: the quoted words on one line; the same words are said once.
        shown: as Markdown: the words escaped, the answer in bold, perhaps a title before them.
        rows: the same as rows of a table, if it is from one that names its columns.
    """

    passage: Passage
    start: int
    end: int
    words: str
    shown: str
    rows: TableRows | None = None

    @property
    def is_code(self) -> bool:
        """Whether it is shown between fences."""
        return self.shown.endswith("```")


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
        """Yield the quotes as text, each followed by the number of its citation; rows of one table as that table."""
        separator = ""
        for _, group in groupby(self.quotes(question, passages, stop), _table_of):
            quotes = list(group)
            marked = [
                # A mark behind a closing fence would keep the code open.
                (quote, f"{BETWEEN_BLOCKS if quote.is_code else ' '}[{citations.cite(*_place(quote))}]")
                for quote in quotes
            ]
            rows = [
                table_row(cells, mark if cells is quote.rows.rows[-1] else "")
                for quote, mark in marked
                if quote.rows
                for cells in quote.rows.rows
            ]
            if len(rows) > 1 and quotes[0].rows:
                lead = f"{quotes[0].rows.lead}\n\n" if quotes[0].rows.lead else ""
                yield "\n".join([f"{separator and BETWEEN_BLOCKS}{lead}{quotes[0].rows.head}", *rows])
                separator = BETWEEN_BLOCKS
                continue
            for quote, mark in marked:
                yield f"{separator and BETWEEN_BLOCKS if quote.is_code else separator}{quote.shown}{mark}"
                separator = BETWEEN_BLOCKS if quote.is_code else self.separator


def _place(quote: Quote) -> tuple[Passage, int, int]:
    return quote.passage, quote.start, quote.end


def _table_of(quote: Quote) -> object:
    return (quote.passage.doc_id, quote.rows.head) if quote.rows else quote


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
            kept = first_words(quote, room - 1)
            bold = "**" if kept.count("**") % 2 else ""
            yield f"{kept}{bold}… {mark}"
        return
