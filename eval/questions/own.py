"""Treeline's own questions: one JSON object a line, whose keys are the fields of `Case`."""

from eval.cases import Case
from eval.questions.formats import Format


def _to_case(row_json: str, _number: int) -> Case:
    return Case.model_validate_json(row_json)


OWN = Format(
    "treeline", "Treeline's own questions", frozenset({"id", "question"}), frozenset(Case.model_fields), _to_case
)
