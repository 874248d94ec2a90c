"""Number the sources of an answer while it is written.

Flow: a synthesizer asks for a number whenever it cites -> **here** -> `Done.citations`.

A number stands for a document (its address, if it has one) and is given at its first use, so numbers rise through
the text, none is unused, and what was streamed never has to be renumbered. Which sentence deserves a citation is the
synthesizers' business.
"""

from query_engine.events import Citation
from query_engine.passages import Passage


class Citations:
    """The growing list of an answer's citations; one instance for one answer."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._quotes: dict[tuple[str, int, int], Citation] = {}

    def cite(self, passage: Passage, start: int, end: int) -> int:
        """Record the quote `[start, end)` (document offsets, inside `passage`) and return its number, 1 or more."""
        number = self._numbers.setdefault(passage.url or passage.doc_id, len(self._numbers) + 1)
        quote = passage.text[start - passage.start : end - passage.start]
        self._quotes.setdefault(
            (passage.doc_id, start, end),
            Citation(number, passage.doc_id, passage.chunk_id, start, end, quote, passage.url, passage.title),
        )
        return number

    def all(self) -> tuple[Citation, ...]:
        """Return the citations ordered by number, then by place."""
        return tuple(sorted(self._quotes.values(), key=lambda citation: (citation.number, citation.start)))
