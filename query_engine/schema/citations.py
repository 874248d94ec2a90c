"""Number the sources of an answer while it is written.

Flow: a synthesizer asks for a number for what it is about to yield -> **here** -> `Done.citations`.

A number stands for one link: a document's own address, or a quoted place of a document that has none, since that is
shown by a page on which the place is marked. It is given at its first use, so numbers rise through the text, none is
unused, and what was streamed never has to be renumbered. Which sentence deserves a citation is the
synthesizers' business.
"""

from itertools import islice
from operator import attrgetter

from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Citation
from query_engine.schema.passage import DocumentKey, Passage

ADDED = AnswerWarning("citations_added", "The model cited no source; those nearest to its words are listed.")
CUT = AnswerWarning(
    "answer_cut", "The model was stopped at the length limit of its answer, which RAG_LLM__MAX_NEW_TOKENS raises."
)

_Place = tuple[DocumentKey, int, int]


class Citations:
    """The growing list of an answer's citations; one instance for one answer.

    Attributes:
        left_out: what of the sources a model's context had no room for, as a sentence; empty if it was shown all.
        cut: the model was stopped at its limit.
        added: the model cited nothing, and the sources nearest to its words stand in.
    """

    def __init__(self) -> None:
        self.left_out = ""
        self.added = self.cut = False
        self._numbers: dict[str | _Place, int] = {}
        self._passages: dict[int, Passage] = {}
        # In the order in which they were recorded.
        self._quotes: dict[_Place, Citation] = {}

    @property
    def recorded(self) -> int:
        """How many quotes are recorded so far."""
        return len(self._quotes)

    def number(self, passage: Passage) -> int:
        """Return the number of a passage that a model cites as a whole, before it is known which place; 1 or more."""
        place = passage.document, passage.start, passage.end
        number = self._numbers.setdefault(passage.url or place, len(self._numbers) + 1)
        self._passages.setdefault(number, passage)
        return number

    def passage(self, number: int) -> Passage | None:
        """Return the passage that `number` was asked for; None if this is not its number."""
        return self._passages.get(number)

    def cite(
        self,
        passage: Passage,
        start: int,
        end: int,
        marks: tuple[tuple[int, int], ...] = (),
        number: int | None = None,
    ) -> int:
        """Record a quote with its marks (document offsets, inside `passage`) and return its number, 1 or more.

        Args:
            passage: holds the quote.
            start: of the quote in the document.
            end: likewise.
            marks: stretches of the document, inside the quote, that answer.
            number: that was given to the passage; the quote's own if None.
        """
        place = passage.document, start, end
        if number is None:
            number = self._numbers.setdefault(passage.url or place, len(self._numbers) + 1)
        quote = passage.text[start - passage.start : end - passage.start]
        self._quotes.setdefault(
            place,
            Citation(
                number,
                passage.doc_id,
                passage.chunk_id,
                start,
                end,
                quote,
                passage.url,
                passage.title,
                marks,
                passage.corpus,
                passage.edition.date,
                str(passage.metadata.get("language") or ""),
            ),
        )
        return number

    def clear(self) -> None:
        """Forget everything: the text that cited was withdrawn."""
        self._numbers.clear()
        self._passages.clear()
        self._quotes.clear()

    def warnings(self) -> list[AnswerWarning]:
        """Return what a reader must know about the sources."""
        found = [AnswerWarning("passages_left_out", self.left_out)] if self.left_out else []
        return [*found, *([CUT] if self.cut else []), *([ADDED] if self.added else [])]

    def between(self, first: int, last: int) -> tuple[Citation, ...]:
        """Return the quotes that were recorded after the first `first`, up to `last` of them all, in that order."""
        return tuple(list(self._quotes.values())[first:last])

    def all(self, recorded: int | None = None) -> tuple[Citation, ...]:
        """Return the citations ordered by number, then by place.

        Args:
            recorded: only so many of the quotes, those recorded first; all of them if None.
        """
        first = islice(list(self._quotes.values()), recorded)
        return tuple(sorted(first, key=attrgetter("number", "start")))
