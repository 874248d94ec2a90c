"""The bodies that clients send, checked before any work begins.

Flow: JSON -> **here** -> routes. What is wrong becomes a 422 in `errors.py`; messages never repeat the input.

`/run` and `/evaluate` ignore unknown fields, because strangers' clients send extras; elsewhere an unknown field is a
mistake and refused.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, model_validator
from pydantic_core import PydanticCustomError

from errors import QuestionError
from query_engine.question import clean_question
from settings import CORPUS_NAME


def _question(text: str) -> str:
    try:
        return clean_question(text)
    except QuestionError as error:
        raise PydanticCustomError("bad_question", "{reason}", {"reason": str(error)}) from error


Question = Annotated[str, AfterValidator(_question)]
CorpusName = Annotated[str, Field(pattern=CORPUS_NAME)]


class StrictBody(BaseModel):
    """A body in which an unknown field is refused."""

    @model_validator(mode="before")
    @classmethod
    def _only_known_fields(cls, body: Any) -> Any:
        # `extra="forbid"` would name the unknown field, and that is the client's text.
        if isinstance(body, dict) and not body.keys() <= cls.model_fields.keys():
            known = {"known": ", ".join(cls.model_fields)}
            raise PydanticCustomError("unknown_field", "There is an unknown field; known are {known}.", known)
        return body


class RunBody(BaseModel):
    """What `POST /run` takes."""

    question: Question
    corpus: CorpusName | None = None


class EvaluateBody(BaseModel):
    """What `POST /evaluate` takes."""

    query: Question
    iid: str
    corpus: CorpusName | None = None


class RetrieveBody(StrictBody):
    """What `POST /retrieve` takes; what is left out comes from the settings."""

    question: Question
    corpus: CorpusName | None = None
    top_k: Annotated[int, Field(strict=True, ge=1, le=200)] | None = None
    budget_chars: Annotated[int, Field(strict=True, ge=200, le=200_000)] | None = None
    mode: Literal["hybrid", "dense", "lexical"] | None = None
    merge: Annotated[bool, Field(strict=True)] | None = None
