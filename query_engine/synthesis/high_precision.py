"""Say nothing rather than something doubtful, for uses in which a wrong answer costs as much as a right one gains.

Flow: `build.py` puts this around the quoting synthesizer where it is set -> its quotes, or nothing, which the engine
tells as "no answer was found". A quote is taken for sure if it holds most of the question's words itself, and shows the
date, number or name where the question asks for one. Questions that a quote cannot answer get none: whether, why, which
of several, which ones, and how things stand today.
"""

import re
import threading
from collections.abc import Iterator, Sequence

from query_engine.schema.passage import Passage
from query_engine.synthesis.quoting import Quote, QuotingSynthesizer
from query_engine.text.short_answers import asks_for_little, short_answer
from query_engine.text.term_weights import CorpusWords

# Share of the question's words, weighted by rarity, in the first quote and its title.
MIN_SHARE = 0.6
_ASKS_FOR_ONE_THING = re.compile(r"\b(?:what|which|who|whom|whose|where|when)\b", re.IGNORECASE)
_NOT_QUOTABLE = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)\b"
    r"|\b(?:or|why|explain|describe|compare|differences?)\b"
    # The parts of a comparison come one by one and without "or".
    r"|\b(?:what|which)\b.*\b(?:more|less|fewer|better|worse|(?:larg|bigg|small|high|low|tall|long|short|old|young|fast|slow|"
    r"great|deep|heavi|light|strong|rich|cheap|near|wid)er)\b"
    r"|^\W*(?:list|name)\b"
    r"|\b(?:what|which)(?: \w+){0,3} \w+s (?:are|were|do|did|have|had|can)\b"
    r"|\b(?:today|tonight|now|current|currently|latest|most recent|this (?:week|month|year))\b",
    re.IGNORECASE,
)


class HighPrecisionSynthesizer(QuotingSynthesizer):
    """Quotes nothing unless the first quote is sure.

    Args:
        quoting: quotes whole sentences, the best one first.
        words: the corpus's terms and their rarity.
    """

    def __init__(self, quoting: QuotingSynthesizer, words: CorpusWords) -> None:
        self._quoting = quoting
        self._words = words

    def quotes(self, question: str, passages: Sequence[Passage], stop: threading.Event) -> Iterator[Quote]:
        """Yield all quotes, or none."""
        quotes = self._quoting.quotes(question, passages, stop)
        first = next(quotes, None)
        if first is not None and self._is_sure(question, first.words, first.passage.title):
            yield first
            yield from quotes

    def _is_sure(self, question: str, quote: str, title: str) -> bool:
        little = asks_for_little(question)
        if _NOT_QUOTABLE.search(question) or not (little or _ASKS_FOR_ONE_THING.search(question)):
            return False
        if little and short_answer(question, quote) is None:
            return False
        words = self._words.words_of(question)
        weights = {term: words.weight(term) for term in words.query_terms(question)}
        held = set(words.terms(f"{title} {quote}"))
        share = sum(weight for term, weight in weights.items() if term in held) / (sum(weights.values()) or 1.0)
        return share >= MIN_SHARE
