"""The formats with one question a row, and how their rows become cases.

Flow: a row as JSON -> **here** -> a `Case`; `reading.py` chooses the format. Pure.

The fields of a row are named as `Case` names them, their aliases as the format names its columns.
"""

import ast
import json
import tokenize
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from eval.cases import Case, Text
from eval.rows import UNKNOWN


def _texts(value: object) -> object:
    """Return a list that was written as text, in JSON or in Python's spelling, as a list; anything else as it is.

    Lists that numpy printed have no commas: Python would join their texts to one long text, so they are refused.
    """
    if not isinstance(value, str):
        return [] if value is None else value
    with suppress(ValueError, RecursionError):
        return json.loads(value or "[]")
    with suppress(ValueError, TypeError, SyntaxError, tokenize.TokenError, RecursionError):
        found = ast.literal_eval(value.strip() or "[]")
        tokens = [token.type for token in tokenize.generate_tokens(StringIO(value).readline)]
        if tokens.count(tokenize.STRING) == len(found):
            return found
    raise ValueError('should be a list of texts, e.g. ["one", "two"]')


def _single(value: object) -> object:
    if isinstance(value, list):
        raise ValueError("is a conversation; only single questions can be asked")  # noqa: TRY004  # pydantic's rule
    return value


def _unchanged(iid: str) -> str:
    if iid != iid.strip():
        raise ValueError("begins or ends with white space")
    return iid


_WITHOUT_BLANKS = AfterValidator(lambda texts: [text for text in texts if text.strip()])
Texts = Annotated[list[str], BeforeValidator(_texts), _WITHOUT_BLANKS]


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)

    id: Text | None = None

    def special(self) -> dict[str, Any]:
        """Return the fields of the case that no column holds as they are."""
        return {}

    def to_case(self, number: int) -> Case:
        """Return the case. Empty fields are left out: an answer of None would mean that the question has none."""
        told = {name: value for name, value in self.model_dump().items() if _says_something(value)}
        return Case.model_validate({"id": f"row-{number}"} | told | self.special(), strict=False)


def _says_something(value: object) -> bool:
    return bool(value.strip() if isinstance(value, str) else value)


class _MmuRag(_Row):
    """The validation file of the MMU-RAG competition. A row without a reference has an unknown answer."""

    # Replies are matched by this id, byte for byte, while the ids of cases are stripped.
    id: Annotated[str, Field(min_length=1), AfterValidator(_unchanged)] = Field(alias="iid")
    question: Text = Field(alias="query")
    answer: str | None = Field(None, alias="reference")


class _CragPage(BaseModel):
    model_config = ConfigDict(strict=True)

    url: str = Field(alias="page_url")
    html: str = Field(alias="page_result")


class _Crag(_Row):
    """CRAG, the comprehensive RAG benchmark: questions with the web pages that a search engine found.

    Two answers are special. "invalid question" (the premise is false) is a right answer as any other: who says so is
    right, who says "I don't know" is not. "i don't know" itself means that there is nothing to know.
    """

    id: Text = Field(alias="interaction_id")
    question: Text = Field(alias="query")
    answer: Text | None = None
    alternatives: Texts = Field([], validation_alias=AliasChoices("alternative_answers", "alt_ans"))
    category: str | None = Field(None, alias="question_type")
    pages: tuple[_CragPage, ...] = Field((), alias="search_results")
    query_time: str | None = None

    def special(self) -> dict[str, Any]:
        return {"answer": None} if (self.answer or "").lower().rstrip(".") in UNKNOWN else {}


class _Bedrock(_Row):
    """The data set of bedrock-rag-eval. An answer of null says that the corpus does not answer the question."""

    question: Text
    answer: Text | None = Field(alias="ground_truth_answer")
    reference_context: str | None = Field(None, alias="ground_truth_context")
    category: str | None = None

    def special(self) -> dict[str, Any]:
        return {"answer": self.answer}


class _Ragas(_Row):
    """A test set that RAGAS generated, as JSON lines or CSV. In CSV a list is text in Python's spelling.

    Columns that hold someone's answers (`response`, `retrieved_contexts`) are not used: answers are what is measured.
    """

    question: Annotated[Text, BeforeValidator(_single)] = Field(alias="user_input")
    answer: str | None = Field(None, alias="reference")
    reference_contexts: Texts = []
    category: str | None = Field(None, alias="synthesizer_name")


@dataclass(frozen=True)
class Format:
    """How questions are written down, one a row.

    Attributes:
        name: as `--format` wants it.
        title: as people know it.
    """

    name: str
    title: str
    row: type[Case] | type[_Row]

    @cached_property
    def marks(self) -> frozenset[str]:
        """The columns by which a file is recognised: those that a row needs."""
        return frozenset(field.alias or name for name, field in self.row.model_fields.items() if field.is_required())

    @cached_property
    def reads(self) -> frozenset[str]:
        """The columns that are used."""
        aliases = [field.validation_alias or name for name, field in self.row.model_fields.items()]
        names = [one.choices if isinstance(one, AliasChoices) else [one] for one in aliases]
        return frozenset(str(name) for choices in names for name in choices)

    def to_case(self, row_json: str, number: int) -> Case:
        """Return the case of a row; its number, from 1, names it where nothing else does.

        Raises:
            ValidationError: of pydantic: the row is wrong.
        """
        row = self.row.model_validate_json(row_json)
        return row if isinstance(row, Case) else row.to_case(number)


OWN = Format("treeline", "Treeline's own questions", Case)
# The first one whose marks are there is taken.
FORMATS = (
    Format("mmu-rag", "validation rows of MMU-RAG", _MmuRag),
    Format("crag", "questions of CRAG", _Crag),
    Format("bedrock", "rows of bedrock-rag-eval", _Bedrock),
    Format("ragas", "test set of RAGAS", _Ragas),
    OWN,
)
