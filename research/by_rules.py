"""Review passages without a language model: the gate judges them, a gap is searched for in what was found.

Flow: `loop.py` -> **here** (`answerability/`) -> a `Review`. It also takes over when a language model fails.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from query_engine.answerability.classifier import Confidence
from query_engine.answerability.part_coverage import PartEvidence
from query_engine.retrieval.multi_part import SearchContext, judge_part, merge
from query_engine.schema.passage import Passage
from research.schema import Review
from research.wording import was_asked

# Of the passages that are sufficient, those that are kept as useful.
KEPT = 3
# Documents in which a gap is searched for, one a round.
MOST_TITLES = 2


@dataclass(slots=True)
class Notes:
    """What a loop knows so far; it grows from round to round.

    Attributes:
        question: the whole one.
        asked: all queries, in order.
        found: query -> its passages, best first.
        merged: all passages, the first of each query first.
        useful: those that reviews kept, in the order in which they did.
        summaries: of reviews, in order.
    """

    question: str
    asked: list[str] = field(default_factory=list)
    found: dict[str, tuple[Passage, ...]] = field(default_factory=dict)
    merged: tuple[Passage, ...] = ()
    useful: list[Passage] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)


class RuleReviewer:
    """Reviews the rounds of one question; blocks.

    Args:
        notes: read, not changed.
        context: judges passages.
        sufficient_from: confidence from which no further round is worth it.

    Attributes:
        evidence: the best found so far; None before the first review.
    """

    def __init__(self, notes: Notes, context: SearchContext, sufficient_from: float) -> None:
        self._notes = notes
        self._context = context
        self._sufficient_from = sufficient_from
        self._wordings = [notes.question]
        self.evidence: PartEvidence | None = None

    def review(self, queries: Sequence[str], *, looking: bool = True) -> Review:
        """Judge what is known by now, and word what is missing for the next round.

        Args:
            queries: those of this round.
            looking: whether a further round may follow; otherwise nothing is reworded.
        """
        self.evidence = one = self._best(queries)
        if self._enough(one):
            return Review(one.passages[:KEPT] or self._notes.merged, "", True, (), ())
        next_queries = self._reworded(one) if looking else ()
        self._wordings += next_queries
        missing = f"{self._notes.question}{_words(one.confidence)}"
        return Review(self._notes.merged, "", False, (missing,), next_queries)

    @property
    def covered(self) -> Confidence | None:
        """The judgement of the best found so far if it covers the question by the gate's own measure; else None."""
        return self.evidence.confidence if self.evidence and self.evidence.sufficient else None

    def _best(self, queries: Sequence[str]) -> PartEvidence:
        """Return the evidence with what this round's queries found, if that covers the question better."""
        found, before = self._notes.found, self.evidence
        if before is None:
            return self._judged(found.get(self._notes.question) or self._notes.merged)
        new = [found[query] for query in queries if query in found and query in self._wordings]
        if self._enough(before) or not new:
            return before
        judged = self._judged(merge([before.passages, *new], self._context.options))
        return max(before, judged, key=lambda one: one.confidence.value)

    def _judged(self, passages: tuple[Passage, ...]) -> PartEvidence:
        return judge_part(self._notes.question, (), passages, self._context)

    def _enough(self, one: PartEvidence) -> bool:
        return one.sufficient and one.confidence.value >= self._sufficient_from

    def _reworded(self, one: PartEvidence) -> tuple[str, ...]:
        """Return a query that was not asked yet, behind the title of a document that was found; none if all were."""
        titles = dict.fromkeys(passage.title for passage in one.passages if passage.title)
        queries = (f"{title}: {self._notes.question}" for title in list(titles)[:MOST_TITLES])
        return tuple(query for query in queries if not was_asked(query, self._notes.asked))[:1]


def _words(confidence: Confidence) -> str:
    return f" (no passage mentions: {', '.join(confidence.missing[:5])})" if confidence.missing else ""
