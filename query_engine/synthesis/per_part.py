"""Quote an answer for each part of a question, one after the other, and name the parts that nothing was found for.

A synthesizer that quotes looks for one thing, and would quote about the part that is easiest to find; a language model
answers all parts in one text and needs none of this. `retrieval/multi_part.py` finds the parts and their evidence.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

from index.lexical.language import question_language
from query_engine import steps
from query_engine.answerability.classifier import PartEvidence
from query_engine.schema.citations import Citations
from query_engine.schema.passage import Passage
from query_engine.synthesis.quoting import BETWEEN_QUOTES, Quote, QuotingSynthesizer
from query_engine.text.markdown_escape import as_text
from query_engine.text.words import WORD
from query_engine.translations import in_language


class PerPartSynthesizer(QuotingSynthesizer):
    """Asks for quotes once for each covered part.

    Args:
        quoting: quotes, the best first.
        parts: of the question; if nothing covers any of them, all are asked for.
    """

    def __init__(self, quoting: QuotingSynthesizer, parts: Sequence[PartEvidence]) -> None:
        self._quoting = quoting
        covered = [part for part in parts if part.sufficient]
        self._parts = covered or list(parts)
        self._missing = [part for part in parts if covered and not part.sufficient]

    def write(
        self, question: str, passages: Sequence[Passage], citations: Citations, stop: threading.Event
    ) -> Iterator[str]:
        """Yield the quotes, then a line for each part without any."""
        yield from super().write(question, passages, citations, stop)
        shown = citations.all()
        for part in self._missing:
            nearest = next(self._quoting.quotes(part.part, _own(passages, part), stop), None)
            if nearest is None or not any(nearest.overlaps(one) for one in shown):
                line = in_language(steps.PART_NOT_FOUND, question_language(question), part=as_text(part.part))
                yield f"{BETWEEN_QUOTES}{line}"

    def quotes(
        self,
        question: str,  # noqa: ARG002  # its parts are asked
        passages: Sequence[Passage],
        stop: threading.Event,
    ) -> Iterator[Quote]:
        """Yield quotes for each part in turn, none twice; of each part its own passages are read."""
        said: list[str] = []
        for part in self._parts:
            for quote in self._quoting.quotes(part.part, _own(passages, part), stop):
                words = f" {' '.join(quote.text.split())} "
                if not any(words in one for one in said):
                    said.append(words)
                    yield self._under_its_name(quote, part.part)

    def _under_its_name(self, quote: Quote, part: str) -> Quote:
        """Return a quote below the heading or title with what its part alone asks about, if it does not say that."""
        others = {word for one in self._parts if one.part != part for word in _words(one.part)}
        own = _words(part) - others
        if not own or not own.isdisjoint(_words(quote.text)):
            return quote
        above = (*reversed(quote.headings), quote.passage.title)
        name = next((one for one in above if not own.isdisjoint(_words(one))), "")
        return replace(quote, shown=f"**{as_text(name)}**{BETWEEN_QUOTES}{quote.shown}") if name else quote


def _words(text: str) -> set[str]:
    return set(WORD.findall(text.casefold()))


def _own(passages: Sequence[Passage], part: PartEvidence) -> list[Passage]:
    """Return the passages that hold a part's own evidence, in its order; all of them if none does.

    Scores of different searches cannot be compared: read together, one part's leaves would crowd out another's.
    """
    own = {passage.node_id: passage for found in part.passages for passage in passages if passage.overlaps(found)}
    return list(own.values() or passages)
