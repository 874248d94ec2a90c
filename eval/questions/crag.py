"""Read questions of CRAG, the comprehensive RAG benchmark: each comes with the web pages a search engine found.

Flow: a row -> **here** -> a `Case`. Two answers are special in CRAG. "invalid question" (the premise is false) is a
right answer as any other: who says so is right, who says "I don't know" is not. "i don't know" itself means that there
is nothing to know: the case is unanswerable.
"""

from typing import Annotated

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from eval.cases import Case, GivenPage, Text
from eval.questions.formats import Format, known, texts

UNKNOWN = frozenset({"i don't know", "i don’t know"})
ALTERNATIVES = AliasChoices("alternative_answers", "alt_ans")


class _Page(BaseModel):
    model_config = ConfigDict(strict=True)

    page_url: str
    page_result: str


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)

    interaction_id: Text
    query: Text
    answer: Text | None = None
    alternatives: Annotated[list[str], BeforeValidator(texts)] = Field([], validation_alias=ALTERNATIVES)
    question_type: str | None = None
    search_results: tuple[_Page, ...] = ()


def _to_case(row_json: str, _number: int) -> Case:
    row = _Row.model_validate_json(row_json)
    unknown = row.answer is not None and row.answer.lower().rstrip(".") in UNKNOWN
    answer = {"answer": None} if unknown else known(answer=row.answer)
    about = known(
        alternatives=tuple(text for text in row.alternatives if text.strip()),
        category=row.question_type,
        pages=tuple(GivenPage(url=page.page_url, html=page.page_result) for page in row.search_results),
    )
    return Case(id=row.interaction_id, question=row.query, **answer, **about)


CRAG = Format(
    "crag",
    "questions of CRAG",
    frozenset({"interaction_id", "query"}),
    frozenset(_Row.model_fields) - {"alternatives"} | {"alternative_answers", "alt_ans"},
    _to_case,
)
