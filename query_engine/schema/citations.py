"""Number the sources of an answer while it is written.

Flow: a synthesizer asks for a number for what it is about to yield -> **here** -> `Done.citations`.

A number stands for one link: a document's own address, or a quoted place of a document that has none, since that is
shown by a page on which the place is marked. It is given at its first use, so numbers rise through the text, none is
unused, and what was streamed never has to be renumbered. Which sentence deserves a citation is the
synthesizers' business.
"""

from dataclasses import dataclass
from itertools import islice

from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Citation
from query_engine.schema.passage import DocumentKey, Passage

_Place = tuple[DocumentKey, int, int]


@dataclass(slots=True)
class Checked:
    """How many sentences of a language model were supported, replaced and dropped.

    Attributes:
        supported: shown as they were.
        replaced: by the quote that is nearest in meaning.
        dropped: left out.
    """

    supported: int = 0
    replaced: int = 0
    dropped: int = 0

    def warning(self) -> AnswerWarning | None:
        """What a reader must know about it."""
        lost = self.replaced + self.dropped
        if not lost:
            return None
        return AnswerWarning(
            "unsupported_sentences",
            f"{lost} of {lost + self.supported} generated sentences had no support in the passages: {self.replaced} "
            f"replaced by a quote, {self.dropped} left out.",
        )


@dataclass(slots=True)
class Shown:
    """What of the passages a language model was shown.

    Attributes:
        left_out: which it was not, and why, as a sentence; empty if it was shown all.
        out_of_context: they do not fit the model's own context; otherwise the operator's limit keeps them out.
        calls: how often the model was asked, the answer included, where it read the passages in groups; otherwise 0.
        lost: sentences that it noted from them and that had no room.
    """

    left_out: str = ""
    out_of_context: bool = False
    calls: int = 0
    lost: int = 0

    def warning(self) -> AnswerWarning | None:
        """What a reader must know about it; the configured limit does not warn."""
        if self.lost:
            text = f"{self.lost} of the sentences that the model noted from the passages had no room."
            return AnswerWarning("notes_left_out", text)
        return AnswerWarning("passages_left_out", self.left_out) if self.left_out and self.out_of_context else None


class Citations:
    """The growing list of an answer's citations; one instance for one answer.

    Attributes:
        checked: counted by a synthesizer that checks what a model writes.
        shown: told by a synthesizer that shows the passages to a model.
    """

    def __init__(self) -> None:
        self.checked = Checked()
        self.shown = Shown()
        self._numbers: dict[str | _Place, int] = {}
        # In the order in which they were recorded.
        self._quotes: dict[_Place, Citation] = {}

    @property
    def recorded(self) -> int:
        """How many quotes are recorded so far."""
        return len(self._quotes)

    def cite(self, passage: Passage, start: int, end: int, marks: tuple[tuple[int, int], ...] = ()) -> int:
        """Record a quote with its marks (document offsets, inside `passage`) and return its number, 1 or more."""
        place = passage.document, start, end
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
            ),
        )
        return number

    def between(self, first: int, last: int) -> tuple[Citation, ...]:
        """Return the quotes that were recorded after the first `first`, up to `last` of them all, in that order."""
        return tuple(list(self._quotes.values())[first:last])

    def all(self, recorded: int | None = None) -> tuple[Citation, ...]:
        """Return the citations ordered by number, then by place.

        Args:
            recorded: only so many of the quotes, those recorded first; all of them if None.
        """
        first = islice(list(self._quotes.values()), recorded)
        return tuple(sorted(first, key=lambda citation: (citation.number, citation.start)))
