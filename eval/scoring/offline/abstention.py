"""Score when the service declines: wrongly, where there is an answer, and rightly, where there is none.

Flow: `build.py` -> **here** -> `stage.py`. Answers themselves are scored by `answer.py`.
"""

from eval.cases import Case
from eval.cells import Cell, Metric, failed, not_applicable, scored
from eval.rows import Row
from eval.scoring.stage import Cells, all_of, failed_for

FAMILY = "abstention"
METRICS = (
    Metric("declined", FAMILY, "lower", "1 if a question that has an answer was declined, else 0."),
    Metric("abstention_recall", FAMILY, "higher", "1 if a question without an answer was declined, else 0."),
    Metric("abstention_precision", FAMILY, "higher", "Of a declined question: 1 if it has no answer, else 0."),
)
# Of the questions with an answer, and of those without: two numbers that trade against each other.
DECLINED = ("declined", "abstention_recall")
_UNKNOWN = "the case does not tell whether there is an answer"


def score_abstention(case: Case, row: Row) -> Cells:
    """Return when one row was declined and whether that was right."""
    answerable = bool(case.answer or case.relevant_docs or case.relevance or case.references)
    if not answerable and not case.unanswerable:
        return all_of(METRICS, not_applicable(_UNKNOWN))
    declined = row.outcome == "declined"

    def cell(score: float) -> Cell:
        return failed(failed_for(row)) if row.outcome == "failed" else scored(score)

    known = declined or row.outcome == "failed"
    return {
        "declined": not_applicable("the question has no answer") if case.unanswerable else cell(declined),
        "abstention_recall": cell(declined) if case.unanswerable else not_applicable("the question has an answer"),
        "abstention_precision": cell(case.unanswerable) if known else not_applicable("the question was not declined"),
    }
