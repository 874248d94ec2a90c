"""What a search found, on its way from the engine's search to the caller, with the times that it took. A pure value."""

import time
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


def ms_since(started: float) -> float:
    """Milliseconds since a reading of `time.perf_counter`, as they stand in `timings_ms`."""
    return round((time.perf_counter() - started) * 1000, 1)
