"""What a search found, on its way from the engine's search to the caller. A pure value."""

from dataclasses import dataclass

from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.passage import Passage


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What a search found.

    Attributes:
        passages: best first.
        timings_ms: `retrieve`, and of it `expand` and `rerank` where they are set; `fetch` before it where pages came
            from sources.
        warnings: for each stage that was left out.
        left_out: the best leaves that were found and stand in no passage, best first: there was no room for them.
    """

    passages: tuple[Passage, ...]
    timings_ms: dict[str, float]
    warnings: tuple[AnswerWarning, ...] = ()
    left_out: tuple[Passage, ...] = ()
