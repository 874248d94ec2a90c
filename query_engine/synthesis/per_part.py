"""Quote an answer for each part of a question, one after the other.

Flow: `retrieval/multi_part.py`'s parts and the merged passages -> **here** asks the quoting synthesizer once a part ->
pieces, as from one synthesizer. A language model answers all parts in one text; a synthesizer that quotes looks for one
thing, and would quote about the part that is easiest to find.
"""

import re
import threading
from collections.abc import Iterator, Sequence

from query_engine.answerability.part_coverage import PartEvidence
from query_engine.schema.citations import Citations
from query_engine.schema.passage import Passage
from query_engine.synthesis.base import Synthesizer

_MARK = re.compile(r"(?<!\s)\s*+\[\d++\]\s*+$")


class PerPartSynthesizer:
    """A synthesizer of sentences, asked once for each covered part.

    Args:
        synthesizer: writes whole sentences, best first, one a piece.
        parts: of the question; those that nothing covers are not asked for, unless nothing covers any.
        max_words: of all parts together; each gets an equal share, and one sentence at least.
    """

    def __init__(self, synthesizer: Synthesizer, parts: Sequence[PartEvidence], max_words: int) -> None:
        self.name = synthesizer.name
        self._synthesizer = synthesizer
        self._parts = [part for part in parts if part.sufficient] or list(parts)
        self._share = max_words // len(self._parts)

    def write(
        self,
        question: str,  # noqa: ARG002  # its parts are asked
        passages: Sequence[Passage],
        citations: Citations,
        stop: threading.Event,
    ) -> Iterator[str]:
        """Yield sentences for each part in turn, none twice; each part's own passages are read first.

        A piece was cited when it was written; one that is left out gives its number back.
        """
        said: set[str] = set()
        for part in self._parts:
            room = self._share
            shown = citations.recorded
            for piece in self._synthesizer.write(part.part.query, _in_order(passages, part), citations, stop):
                text = _MARK.sub("", piece).strip().replace("**", "")
                length = len(text.split())
                if text in said:
                    room -= length
                    citations.forget(shown)
                    continue
                if room < self._share and length > room:
                    citations.forget(shown)
                    break
                room -= length
                separator = " " if said else ""
                said.add(text)
                yield separator + piece.strip()
                shown = citations.recorded


def _in_order(passages: Sequence[Passage], part: PartEvidence) -> list[Passage]:
    """Return the passages that stand in a part's own evidence first, in its order."""
    own = {passage.node_id: rank for rank, passage in enumerate(part.passages)}
    return sorted(passages, key=lambda passage: own.get(passage.node_id, len(own)))
