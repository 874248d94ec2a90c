"""Read a test set that RAGAS generated, as JSON lines or CSV: `user_input`, `reference`, `reference_contexts`.

Flow: a row -> **here** -> a `Case`; the synthesizer that made the question is its category. In CSV a list is text in
Python's spelling. Columns that hold someone's answers (`response`, `retrieved_contexts`) are not used: answers are
what is measured here.
"""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from eval.cases import Case, Text
from eval.questions.formats import Format, known, row_id, texts


def _single(value: object) -> object:
    if isinstance(value, list):
        raise ValueError("is a conversation; only single questions can be asked")  # noqa: TRY004  # pydantic's rule
    return value


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)

    id: Text | None = None
    user_input: Annotated[Text, BeforeValidator(_single)]
    reference: str | None = None
    reference_contexts: Annotated[list[str] | None, BeforeValidator(texts)] = None
    synthesizer_name: str | None = None


def _to_case(row_json: str, number: int) -> Case:
    row = _Row.model_validate_json(row_json)
    contexts = tuple(text for text in row.reference_contexts or () if text.strip())
    about = known(answer=row.reference, reference_contexts=contexts, category=row.synthesizer_name)
    return Case(id=row_id(row.id, number), question=row.user_input, **about)


RAGAS = Format("ragas", "test set of RAGAS", frozenset({"user_input"}), frozenset(_Row.model_fields), _to_case)
