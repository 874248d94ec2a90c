"""Read the validation file of the MMU-RAG competition's text-to-text track: `query`, `iid`, `reference`.

Flow: a row -> **here** -> a `Case`. A row without a reference is a question with an unknown answer.
"""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from eval.cases import Case, Text
from eval.questions.formats import Format, known


def _unchanged(iid: str) -> str:
    # Replies are matched by this id, byte for byte, while the ids of cases are stripped.
    if iid != iid.strip():
        raise ValueError("begins or ends with white space")
    return iid


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)

    query: Text
    iid: Annotated[str, AfterValidator(_unchanged)]
    reference: str | None = None


def _to_case(row_json: str, _number: int) -> Case:
    row = _Row.model_validate_json(row_json)
    return Case(id=row.iid, question=row.query, **known(answer=row.reference))


MMU_RAG = Format(
    "mmu-rag", "validation rows of MMU-RAG", frozenset({"query", "iid"}), frozenset(_Row.model_fields), _to_case
)
