"""Read the data set of bedrock-rag-eval: `question`, `ground_truth_answer`, `ground_truth_context`, `category`.

Flow: a row -> **here** -> a `Case`. A `ground_truth_answer` of null says that the corpus does not answer the question.
"""

from pydantic import BaseModel, ConfigDict

from eval.cases import Case, Text
from eval.questions.formats import Format, known, row_id


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)

    id: Text | None = None
    question: Text
    ground_truth_answer: Text | None
    ground_truth_context: str | None = None
    category: str | None = None


def _to_case(row_json: str, number: int) -> Case:
    row = _Row.model_validate_json(row_json)
    about = known(reference_context=row.ground_truth_context, category=row.category)
    return Case(id=row_id(row.id, number), question=row.question, answer=row.ground_truth_answer, **about)


BEDROCK = Format(
    "bedrock",
    "rows of bedrock-rag-eval",
    frozenset({"question", "ground_truth_answer"}),
    frozenset(_Row.model_fields),
    _to_case,
)
