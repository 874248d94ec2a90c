"""Quote an answer for each part of a question, one after the other.

Flow: `retrieval/multi_part.py`'s parts and the merged passages -> **here** asks for quotes once a part. A language
model answers all parts in one text; a synthesizer that quotes looks for one thing, and would quote about the part that
is easiest to find.
"""

import threading
from collections.abc import Iterator, Sequence

from query_engine.answerability.part_coverage import PartEvidence
from query_engine.schema.passage import Passage
from query_engine.synthesis.quoting import Quote, QuotingSynthesizer


class PerPartSynthesizer(QuotingSynthesizer):
    """Asks for quotes once for each covered part.

    Args:
        quoting: quotes whole sentences, the best one first.
        parts: of the question; those that nothing covers are not asked for, unless nothing covers any.
        max_words: of all parts together; each gets an equal share, and one sentence at least.
    """

    def __init__(self, quoting: QuotingSynthesizer, parts: Sequence[PartEvidence], max_words: int) -> None:
        self._quoting = quoting
        self._parts = [part for part in parts if part.sufficient] or list(parts)
        self._share = max_words // len(self._parts)

    def quotes(
        self,
        question: str,  # noqa: ARG002  # its parts are asked
        passages: Sequence[Passage],
        stop: threading.Event,
    ) -> Iterator[Quote]:
        """Yield quotes for each part in turn, none twice; of each part its own passages are read."""
        said: set[str] = set()
        for part in self._parts:
            room = self._share
            for quote in self._quoting.quotes(part.part.query, _own(passages, part), stop):
                length = len(quote.words.split())
                repeated = any(f" {quote.words} " in f" {one} " for one in said)
                if not repeated and room < self._share and length > room:
                    break
                room -= length
                if not repeated:
                    said.add(quote.words)
                    yield quote


def _own(passages: Sequence[Passage], part: PartEvidence) -> list[Passage]:
    """Return the passages that hold a part's own evidence, in its order; all of them if none does.

    Scores of different searches cannot be compared: read together, one part's leaves would crowd out another's.
    """
    own = {passage.node_id: passage for found in part.passages for passage in passages if passage.overlaps(found)}
    return list(own.values() or passages)
