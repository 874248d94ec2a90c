"""Leave out what a conversation's answers have quoted before, so that a follow-up does not repeat them.

Flow: engine, for a question that leans on the turns before it -> **here** around the quoting synthesizer -> new quotes,
or none, which the engine tells. A quote that stresses other words than before is new: it answers something else.
"""

import threading
from collections.abc import Iterator, Sequence

from query_engine.schema.passage import Passage
from query_engine.synthesis.base import Synthesizer
from query_engine.synthesis.fallback_chain import Answer
from query_engine.synthesis.quoting import Quote, QuotingSynthesizer
from query_engine.text.markdown_escape import REFERENCE
from query_engine.text.markdown_table import table_row


def unsaid(synthesizers: Sequence[Synthesizer], answer: Answer) -> Sequence[Synthesizer]:
    """Return the synthesizers; the last one, if it quotes, repeats nothing of what was said."""
    *models, quoting = synthesizers
    if answer.said and isinstance(quoting, QuotingSynthesizer):
        return [*models, UnsaidSynthesizer(quoting, answer)]
    return synthesizers


class UnsaidSynthesizer(QuotingSynthesizer):
    """Asks for quotes and passes on those that were not shown yet.

    Args:
        quoting: quotes whole sentences, the best one first.
        answer: knows what was said; noted in it is whether a quote was left out.
    """

    def __init__(self, quoting: QuotingSynthesizer, answer: Answer) -> None:
        self._quoting = quoting
        self._answer = answer
        self._said = [_plain(text) for text in answer.said]
        self.separator = quoting.separator

    def quotes(self, question: str, passages: Sequence[Passage], stop: threading.Event) -> Iterator[Quote]:
        """Yield what is new."""
        for quote in self._quoting.quotes(question, passages, stop):
            rows = [_plain(table_row(cells)) for cells in quote.rows.rows] if quote.rows else ()
            if any(_plain(quote.shown) in said or (rows and all(row in said for row in rows)) for said in self._said):
                self._answer.repeated = True
            else:
                yield quote


def _plain(text: str) -> str:
    return " ".join(REFERENCE.sub("", text).split())
