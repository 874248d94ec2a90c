"""Score an answer by its case's nuggets and regions, without a model: which facts it holds, what it quotes besides.

Flow: `build.py` -> **here** -> `stage.py`. How is told in `eval/nuggets.py`; whether quotes lie in regions was looked
up when the question was asked, since that needs the documents.
"""

from eval.cases import Case
from eval.cells import Cell, Metric, failed, not_applicable, scored
from eval.nuggets import is_helpful, precision, recalls
from eval.rows import Row
from eval.scoring.stage import Cells, all_of, failed_for

FAMILY = "nuggets"
METRICS = (
    Metric("vital_recall", FAMILY, "higher", "Share of the vital nuggets that stand in the answer, 0 to 1."),
    Metric("nugget_recall", FAMILY, "higher", "Share of all nuggets that stand in the answer, 0 to 1."),
    Metric(
        "topic_precision",
        FAMILY,
        "higher",
        "Share of the quoted characters whose quote lies in the question's regions, 0 to 1.",
    ),
    Metric(
        "helpful", FAMILY, "higher", "1 if `vital_recall` is at least 0.5 and `topic_precision` at least 0.67, else 0."
    ),
)


def score_nuggets(case: Case, row: Row) -> Cells:
    """Return the metrics of one row."""
    if case.unanswerable:
        return all_of(METRICS, not_applicable("the corpus does not answer the question"))
    if not case.nuggets:
        return all_of(METRICS, not_applicable("the case has no nuggets"))
    if row.outcome == "failed":
        return all_of(METRICS, failed(failed_for(row)))
    answer = row.answer or "" if row.outcome == "answered" else ""
    vital: Cell | float | None
    every: Cell | float
    if all(nugget.any for nugget in case.nuggets):
        vital, every = recalls(case.nuggets, answer)
    else:
        vital = every = not_applicable("a nugget has no phrasings: only a judge can tell")
    on_topic = _topic_precision(case, row, answer)
    return {
        "vital_recall": _cell(vital),
        "nugget_recall": _cell(every),
        "topic_precision": _cell(on_topic),
        "helpful": _helpful(case, vital, on_topic, declined=not answer),
    }


def _cell(value: Cell | float | None) -> Cell:
    if value is None:
        return not_applicable("no nugget of the case is vital")
    return value if isinstance(value, Cell) else scored(value)


def _topic_precision(case: Case, row: Row, answer: str) -> Cell | float:
    if not case.regions:
        return not_applicable("the case has no regions")
    if not answer:
        return not_applicable("the service declined")
    if not row.citations and not row.fingerprint:  # a service with a fingerprint also sends citations: none
        return not_applicable("the service tells no citations")
    if row.citations and not any(citation.quote for citation in row.citations):
        return not_applicable("the service tells no quotes")
    if isinstance(row.on_topic, str):
        return not_applicable(row.on_topic)
    return precision(answer, [citation.quote or "" for citation in row.citations], row.on_topic)


def _helpful(case: Case, vital: Cell | float | None, on_topic: Cell | float, *, declined: bool) -> Cell:
    if not isinstance(vital, float):
        return _cell(vital)
    if declined and case.regions:
        return scored(0)
    return on_topic if isinstance(on_topic, Cell) else scored(is_helpful(vital, on_topic))
