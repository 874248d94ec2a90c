"""Say nothing rather than something doubtful: for whom a wrong answer costs as much as a right one gains.

Flow: `build.py` puts this around the quoting author where it is set -> its quotes, or nothing, which the engine tells
as "no answer was found". A quote is taken for sure if it shows the date, number or name that the question asks for, and
holds most of the question's words itself. Questions that ask for anything else (whether, why, which of many) get none.
"""

import re
import threading
from collections.abc import Iterator, Sequence

from query_engine.candidates import TermWeights
from query_engine.citing import Citations
from query_engine.passages import Passage
from query_engine.short_answers import short_answer
from query_engine.synthesizer import Synthesizer

# Share of the question's words, weighted by rarity, in the first quote and its title.
MIN_SHARE = 0.6
_MARK = re.compile(r"\s*\[\d+\]\s*$")


class SureSynthesizer:
    """An author of quotes who is silent unless the first one is sure.

    Args:
        author: quotes whole sentences, the best one first, one a piece.
        words: the corpus's terms and their rarity.
    """

    def __init__(self, author: Synthesizer, words: TermWeights) -> None:
        self.name = author.name
        self._author = author
        self._words = words

    def write(
        self, question: str, passages: Sequence[Passage], citations: Citations, stop: threading.Event
    ) -> Iterator[str]:
        """Yield what the author yields, or nothing."""
        tried = Citations()
        first = next(iter(self._author.write(question, passages, tried, stop)), "")
        titles = " ".join(citation.title for citation in tried.all())
        if self._is_sure(question, _MARK.sub("", first).replace("**", ""), titles):
            yield from self._author.write(question, passages, citations, stop)

    def _is_sure(self, question: str, quote: str, titles: str) -> bool:
        weights = {term: self._words.weight(term) for term in self._words.query_terms(question)}
        held = set(self._words.terms(f"{titles} {quote}"))
        share = sum(weight for term, weight in weights.items() if term in held) / (sum(weights.values()) or 1.0)
        return share >= MIN_SHARE and short_answer(question, quote) is not None
