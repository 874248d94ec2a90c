"""Score how a service behaves: when it declines, how long an answer took, and what it costs.

Flow: `build.py` -> **here** -> `stage.py`. Answers themselves are scored by `answer.py`.

How fast questions that fail do so says nothing of how fast answers are, so rows without a reply have neither speed nor
cost. Cost is characters that were read and written, since services charge by tokens of their own counting, and a
model's work grows with both. Less is better, at the same quality: that is another verdict.
"""

from eval.cases import Case
from eval.cells import Cell, failed, not_applicable, scored
from eval.rows import Row
from eval.scoring.catalogue import COST, SPEED, names_of
from eval.scoring.stage import Cells, failed_for


def score_abstention(case: Case, row: Row) -> Cells:
    """Return when one row was declined and whether that was right."""
    if not (case.unanswerable or case.answer or case.relevant_docs or case.relevance or case.references):
        return dict.fromkeys(
            names_of("abstention"), not_applicable("the case does not tell whether there is an answer")
        )
    declined = row.outcome == "declined"

    def cell(score: float) -> Cell:
        return failed(failed_for(row)) if row.outcome == "failed" else scored(score)

    known = declined or row.outcome == "failed"
    return {
        "declined": not_applicable("the question has no answer") if case.unanswerable else cell(declined),
        "abstention_recall": cell(declined) if case.unanswerable else not_applicable("the question has an answer"),
        "abstention_precision": cell(case.unanswerable) if known else not_applicable("the question was not declined"),
    }


def score_speed(_case: Case, row: Row) -> Cells:
    """Return the times of one row, as the asker saw them and as the service reports them."""
    if row.outcome == "failed":
        return dict.fromkeys(names_of(SPEED), not_applicable(failed_for(row)))
    return {
        "seconds": scored(row.seconds),
        "first_record_s": _told(row.first_record_s, "the reply came whole"),
        "retrieve_ms": _told(row.timings_ms.get("retrieve"), "the service reports no time of retrieval"),
        "write_ms": _told(row.timings_ms.get("write"), "the service reports no time of writing"),
    }


def _told(time: float | None, otherwise: str) -> Cell:
    return not_applicable(otherwise) if time is None else scored(time)


def score_cost(_case: Case, row: Row) -> Cells:
    """Return the sizes of one row."""
    if row.outcome == "failed":
        return dict.fromkeys(names_of(COST), not_applicable(failed_for(row)))
    untold = not (row.passages or row.fingerprint)  # a service with a fingerprint also sends passages: there were none
    read = sum(len(passage.text) for passage in row.passages)
    return {
        "passage_chars": not_applicable("the service reports no passages") if untold else scored(read),
        "answer_chars": scored(len(row.answer or "")),
    }
