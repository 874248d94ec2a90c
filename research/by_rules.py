"""Review passages without a language model: the gate judges what the question itself found.

Flow: `loop.py` -> **here** (`answerability/`) -> a `Review`. It also takes over when a language model fails. It writes
no further query: rules know no other words for a question.
"""

from dataclasses import dataclass, field

from query_engine.retrieval.multi_part import SearchContext, judge_part
from query_engine.schema.passage import Passage
from research.schema import Review

# Of the passages that are sufficient, those that are kept as useful.
KEPT = 3


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


def review_by_rules(notes: Notes, context: SearchContext, sufficient_from: float) -> Review:
    """Judge what is known by now; blocks.

    Args:
        notes: read, not changed.
        context: judges passages.
        sufficient_from: confidence from which no further round is worth it.
    """
    one = judge_part(notes.question, (), notes.found.get(notes.question) or notes.merged, context)
    if one.sufficient and one.confidence.value >= sufficient_from:
        return Review(one.passages[:KEPT], "", sufficient=True)
    words = ", ".join(one.confidence.missing[:5])
    missing = f"{notes.question} (no passage mentions: {words})" if words else notes.question
    return Review(notes.merged, "", sufficient=False, missing=(missing,))
