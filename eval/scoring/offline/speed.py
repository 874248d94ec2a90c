"""Score how long an answer took, as the asker saw it and as the service tells it.

Flow: `build.py` -> **here** -> `stage.py`. How fast questions that fail do so says nothing of how fast answers are, so
rows without a reply are not scored.
"""

from eval.cases import Case
from eval.cells import Cell, Metric, not_applicable, scored
from eval.rows import Row
from eval.scoring.stage import Cells, all_of, failed_for

FAMILY = "speed"
METRICS = (
    Metric("seconds", FAMILY, "lower", "Seconds from the question to the whole answer, as the asker saw it."),
    Metric("first_record_s", FAMILY, "lower", "Seconds from the question to the first sign of life of a stream."),
    Metric("retrieve_ms", FAMILY, "lower", "Milliseconds of retrieval, as the service tells them."),
    Metric("write_ms", FAMILY, "lower", "Milliseconds in which the answer was written, as the service tells them."),
)


def score_speed(_case: Case, row: Row) -> Cells:
    """Return the times of one row."""
    if row.outcome == "failed":
        return all_of(METRICS, not_applicable(failed_for(row)))
    return {
        "seconds": scored(row.seconds),
        "first_record_s": _told(row.first_record_s, "the reply came whole"),
        "retrieve_ms": _told(row.timings_ms.get("retrieve"), "the service tells no time of retrieval"),
        "write_ms": _told(row.timings_ms.get("write"), "the service tells no time of writing"),
    }


def _told(time: float | None, otherwise: str) -> Cell:
    return not_applicable(otherwise) if time is None else scored(time)
