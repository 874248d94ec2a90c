"""Answer from passages that were found before, without another search.

Flow: `topic/` (a summary of what findings cite), `react.py` (another try of a model that failed) -> **here** ->
`Engine.stream`, whose gate the passages have passed already. Pure.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from query_engine.answerability.classifier import Confidence, PartEvidence
from query_engine.retrieval.multi_part import Evidence, SearchContext
from query_engine.schema.events import Step
from query_engine.schema.passage import Passage
from query_engine.schema.retrieval_result import Retrieval


class GivenPassages:
    """An `Evidence` that is at hand.

    Attributes:
        retrieval: the passages.
        parts: the question is taken as one.
    """

    parts: Sequence[PartEvidence] = ()

    def __init__(self, passages: tuple[Passage, ...]) -> None:
        self.retrieval = Retrieval(passages, {})

    def steps(self) -> Iterator[Step]:
        """Do nothing."""
        return iter(())

    def confidence(self, merged: Confidence) -> Confidence:
        """Return full confidence: these passages were judged for what they were found for."""
        return replace(merged, value=1.0)


def given(passages: Sequence[Passage]) -> Callable[[str, SearchContext], Evidence]:
    """Return what `Engine.stream` takes as `gather`."""
    return lambda _question, _context: GivenPassages(tuple(passages))
