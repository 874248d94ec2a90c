"""Review passages without a language model: the gate judges each part, a gap is searched for in what was found.

Flow: `loop.py` -> **here** (`answerability/`) -> a `Review`. It also takes over when a language model fails.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from query_engine.answerability.classifier import Confidence
from query_engine.answerability.part_coverage import PartEvidence
from query_engine.retrieval.multi_part import SearchContext, judge_part, merge
from query_engine.schema.passage import Passage
from research.schema import Review
from research.wording import was_asked

# Of the passages of a part that is covered, those that are kept as useful.
KEPT = 3
# Documents in which a gap is searched for, one a round.
MOST_TITLES = 2


@dataclass(slots=True)
class Notes:
    """What a loop knows so far; it grows from round to round.

    Attributes:
        question: the whole one.
        parts: what it asks for; the question itself if it asks for one thing.
        asked: all queries, in order.
        found: query -> its passages, best first.
        fused: all passages, best first.
        useful: those that reviews kept, in the order in which they did.
        summaries: of reviews, in order.
    """

    question: str
    parts: tuple[str, ...]
    asked: list[str] = field(default_factory=list)
    found: dict[str, tuple[Passage, ...]] = field(default_factory=dict)
    fused: tuple[Passage, ...] = ()
    useful: list[Passage] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)


class RuleReviewer:
    """Reviews the rounds of one question; blocks.

    Args:
        notes: read, not changed.
        context: judges parts.
        sufficient_from: confidence of a question without parts from which no further round is worth it.

    Attributes:
        evidence: the best found for each part so far; empty before the first review.
    """

    def __init__(self, notes: Notes, context: SearchContext, sufficient_from: float) -> None:
        self._notes = notes
        self._context = context
        self._sufficient_from = sufficient_from
        self._for_part = [[part] for part in notes.parts]
        self.evidence: list[PartEvidence] = []

    def review(self, queries: Sequence[str], *, looking: bool = True) -> Review:
        """Judge what is known by now, and word what is missing for the next round.

        Args:
            queries: those of this round.
            looking: whether a further round may follow; otherwise nothing is reworded.
        """
        self.judge(queries)
        gaps = [at for at, one in enumerate(self.evidence) if not self._enough(one)]
        wordings = self._wordings(gaps) if looking else {}
        for at, wording in wordings.items():
            self._for_part[at].append(wording)
        useful = [passage for one in self.evidence if self._enough(one) for passage in one.passages[:KEPT]]
        return Review(
            useful=tuple({passage.node_id: passage for passage in useful}.values()) or self._notes.fused,
            summary="",
            sufficient=not gaps,
            missing=tuple(self._lacking(self.evidence[at]) for at in gaps),
            queries=tuple(wordings.values()),
        )

    def judge(self, queries: Sequence[str]) -> None:
        """Take into each part's evidence what this round's queries found for it, where that covers the part better."""
        parts, found = self._notes.parts, self._notes.found
        if not self.evidence:
            self.evidence = [self._judged(part, found.get(part) or self._notes.fused) for part in parts]
            return
        for at, one in enumerate(self.evidence):
            new = [found[query] for query in queries if query in found and query in self._for_part[at]]
            if self._enough(one) or not new:
                continue
            judged = self._judged(one.part, merge([one.passages, *new], self._context.options))
            if judged.confidence.value > one.confidence.value:
                self.evidence[at] = judged

    @property
    def covered(self) -> bool:
        """Whether all parts are covered, by the gate's own measure."""
        return bool(self.evidence) and all(one.sufficient for one in self.evidence)

    def _judged(self, part: str, passages: tuple[Passage, ...]) -> PartEvidence:
        return judge_part(part, self._notes.parts, passages, self._context)

    def _enough(self, one: PartEvidence) -> bool:
        if len(self.evidence) > 1:
            return one.sufficient
        return one.sufficient and one.confidence.value >= self._sufficient_from

    def _wordings(self, gaps: Sequence[int]) -> Mapping[int, str]:
        """Return each gap that has one a query that was not asked yet: behind the title of a document that was found.

        What the other parts found comes first: a part may ask about what they name.
        """
        wordings = {}
        for at in gaps:
            one = self.evidence[at]
            others = [other.passages[0] for other in self.evidence if other is not one and other.passages]
            titles = dict.fromkeys(passage.title for passage in (*others, *one.passages) if passage.title)
            queries = [f"{title}: {one.part}" for title in list(titles)[:MOST_TITLES]]
            new = [query for query in queries if not was_asked(query, self._notes.asked)]
            if new:
                wordings[at] = new[0]
        return wordings

    def _lacking(self, one: PartEvidence) -> str:
        return f"{one.part}{_words(one.confidence)}"


def _words(confidence: Confidence) -> str:
    return f" (no passage mentions: {', '.join(confidence.missing[:5])})" if confidence.missing else ""
