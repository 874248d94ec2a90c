"""Score an answer by the facts it should hold and by what it quotes besides; how is told in `eval/nuggets.py`.

Flow: `sets.py` (questions) and `sources.py` (documents) -> **here** -> `command.py`. Pure.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from pydantic import model_validator

from bench.quality.helpful.asking import NaturalCase, said
from eval.cases import BadCasesError, Text
from eval.metrics import Scores, file_name
from eval.nuggets import HELPFUL_RECALL, find_region, is_on_topic, recalls, regions_of
from eval.rows import Quote, Row
from eval.scoring.offline.nuggets import score_nuggets

SHOWN = {
    "helpful": "helpful",
    "vital_recall": "vital recall",
    "nugget_recall": "all recall",
    "topic_precision": "precision",
}
# Quotes with no more between them are one run.
MAX_GAP_CHARS = 5


class NuggetCase(NaturalCase):
    """A question with its nuggets and regions; without them it is a near miss, which nothing in the corpus answers.

    Attributes:
        form: of the question, e.g. `define` or `near_miss`.
    """

    MEASURES: ClassVar[Mapping[str, int]] = {
        **dict.fromkeys(SHOWN.values(), 3),
        "words": 1,
        "runs": 1,
        "first screen": 3,
        "declined answerable": 3,
        "declined near misses": 3,
    }

    corpus: Text
    form: Text

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if not any(nugget.vital for nugget in self.nuggets) == bool(self.nuggets) == bool(self.regions):
            raise ValueError("a question needs a vital nugget and a region, or neither")
        return self

    def score(self, row: Row, documents: Mapping[str, str]) -> Scores:
        """Return the metrics of the evaluation, and what an answer costs its reader.

        `first screen`: 1 if the answer and the places below it hold half of the vital facts. `words`: of the answer.
        `runs`: separate places quoted. Both only of an answer that was given, as `precision`.
        `declined answerable`, `declined near misses`: 1 if nothing was answered.
        """
        text = (said(row) or "").strip()
        if not self.nuggets:
            return {"declined near misses": float(not text)}
        on_topic = [
            place
            for place, one in enumerate(row.citations)
            if is_on_topic(
                one.quote or "", documents.get(file_name(one.doc_id or "")), regions_of(one.doc_id or "", self.regions)
            )
        ]
        cells = score_nuggets(self, row.model_copy(update={"on_topic": tuple(on_topic)}))
        scores = {SHOWN[name]: cell.score for name, cell in cells.items() if cell.score is not None}
        seen = recalls(self.nuggets, "\n".join((text, *row.nearest)))[0]
        scores["first screen"] = float((seen or 0.0) >= HELPFUL_RECALL)
        scores["declined answerable"] = float(not text)
        return scores | ({"words": float(len(text.split())), "runs": float(_runs(row.citations))} if text else {})


def check_regions(cases: Sequence[NuggetCase], documents: Mapping[str, str]) -> None:
    """Make sure that every region can be compared with quotes.

    Args:
        cases: about one corpus.
        documents: file name -> folded text; without those whose regions have their own text.

    Raises:
        BadCasesError: a region is not in its document.
    """
    for case in cases:
        for region in case.regions:
            document = documents.get(file_name(region.doc))
            if not region.text if document is None else find_region(document, region) is None:
                raise BadCasesError(
                    f"Question {case.id!r} has a region in {region.doc} that is not there: {region.quote_start!r}.",
                    f"Use the documents of the corpus {case.corpus!r} that the questions were written for.",
                )


def _runs(citations: Sequence[Quote]) -> int:
    runs, doc_id, last = 0, None, 0
    placed = [(one.doc_id or "", -1 if one.start is None else one.start, one.end or -1) for one in citations]
    for name, start, end in sorted(placed):
        joins = name == doc_id and start <= last + MAX_GAP_CHARS
        runs += not joins
        doc_id, last = name, max(end, last) if joins else end
    return runs
