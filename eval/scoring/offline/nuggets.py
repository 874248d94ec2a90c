"""Score an answer by its case's nuggets and regions, without a model: which facts it holds, what it quotes besides.

Flow: `build.py` -> **here** -> `stage.py`. How is told in `eval/nuggets.py`; whether quotes lie in regions was looked
up when the question was asked, since that needs the documents.
"""

from eval.cases import Case
from eval.cells import Cell, not_applicable, scored
from eval.nuggets import is_helpful, precision, recalls
from eval.rows import Row
from eval.scoring.catalogue import names_of
from eval.scoring.stage import Cells, lacking


def score_nuggets(case: Case, row: Row) -> Cells:
    """Return the metrics of one row."""
    if lack := lacking(case, row, "nuggets"):
        return dict.fromkeys(names_of("nuggets"), lack)
    answer = row.answer or "" if row.outcome == "answered" else ""
    vital = every = not_applicable("a nugget has no phrasings: only a judge can tell")
    if all(nugget.any for nugget in case.nuggets):
        of_vital, of_all = recalls(case.nuggets, answer)
        vital = not_applicable("no nugget of the case is vital") if of_vital is None else scored(of_vital)
        every = scored(of_all)
    on_topic = _topic_precision(case, row, answer)
    if vital.score is None:
        helpful = vital
    elif not answer and case.regions:
        helpful = scored(0)
    else:
        helpful = on_topic if on_topic.score is None else scored(is_helpful(vital.score, on_topic.score))
    return {"vital_recall": vital, "nugget_recall": every, "topic_precision": on_topic, "helpful": helpful}


def _topic_precision(case: Case, row: Row, answer: str) -> Cell:
    if not case.regions:
        return not_applicable("the case has no regions")
    if lack := lacking(case, row, "answer", "quotes", is_empty=not answer):
        return lack
    if isinstance(row.on_topic, str):
        return not_applicable(row.on_topic)
    return scored(precision(answer, [citation.quote or "" for citation in row.citations], row.on_topic))
