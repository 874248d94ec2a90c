"""Quote what answers the question as it is asked of the documents that it names.

Flow: `retrieval/multi_part.py` narrowed the question -> **here** asks for quotes -> `quoting.py` writes them. A
language model that writes is asked the whole question: names do not mislead it, and its answer repeats them.
"""

import threading
from collections.abc import Iterator, Sequence

from query_engine.schema.passage import Passage
from query_engine.synthesis.quoting import Quote, QuotingSynthesizer


class NarrowedSynthesizer(QuotingSynthesizer):
    """Asks for quotes with a narrower question than the one it is given.

    Args:
        quoting: quotes whole sentences, the best one first.
        question: without the names of documents.
    """

    def __init__(self, quoting: QuotingSynthesizer, question: str) -> None:
        self._quoting = quoting
        self._question = question

    def quotes(
        self,
        question: str,  # noqa: ARG002  # it was narrowed
        passages: Sequence[Passage],
        stop: threading.Event,
    ) -> Iterator[Quote]:
        """Yield what answers the narrower question."""
        return self._quoting.quotes(self._question, passages, stop)
