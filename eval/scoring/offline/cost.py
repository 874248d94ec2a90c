"""Score what an answer costs: the text that was read for it and written.

Flow: `build.py` -> **here** -> `stage.py`. Characters, since services charge by tokens of their own counting, and a
model's work grows with both. Less is better, at the same quality: that is another verdict.
"""

from eval.cases import Case
from eval.cells import Metric, not_applicable, scored
from eval.rows import Row
from eval.scoring.stage import Cells, all_of, failed_for

FAMILY = "cost"
METRICS = (
    Metric("passage_chars", FAMILY, "lower", "Characters of the passages that the answer was written from."),
    Metric("answer_chars", FAMILY, "lower", "Characters of the answer."),
)


def score_cost(_case: Case, row: Row) -> Cells:
    """Return the sizes of one row."""
    if row.outcome == "failed":
        return all_of(METRICS, not_applicable(failed_for(row)))
    told = row.passages or row.fingerprint  # a service with a fingerprint also sends passages: there were none
    return {
        "passage_chars": scored(sum(len(passage.text) for passage in row.passages))
        if told
        else not_applicable("the service tells no passages"),
        "answer_chars": scored(len(row.answer or "")),
    }
