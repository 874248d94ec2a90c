"""What was found for one part of a question, and whether that covers it.

Flow: `retrieval/multi_part.py` judges it, with the gate's own `classifier.py`, so that what counts as sufficient for a
question counts for its parts too -> steps and synthesizers. A pure value.
"""

from dataclasses import dataclass

from query_engine.answerability.classifier import Confidence
from query_engine.schema.passage import Passage


@dataclass(frozen=True, slots=True)
class PartEvidence:
    """What was found for one part.

    Attributes:
        part: what was searched for.
        passages: best first.
        confidence: the gate's judgement of them.
        sufficient: whether it is high enough.
    """

    part: str
    passages: tuple[Passage, ...]
    confidence: Confidence
    sufficient: bool
