"""The body of `POST /v1/chat/completions`, checked before any work begins.

Flow: JSON -> **here** -> `routes/chat.py`. What would change the kind of answer and is not on offer (tools, pictures,
several choices, a JSON form) is refused. What only tunes a language model is passed over, and the reply names it: the
settings decide how answers are written, and a quoted answer has no temperature.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from api.schemas.requests import Filters, QueryTime, SteeringBody
from errors import QuestionError
from query_engine.question.condense import Turn
from query_engine.question.validation import clean_question

MAX_MESSAGES = 1000
MAX_MODEL_CHARS = 200
MAX_IGNORED = 100
TEXT_PART = '{"type": "text", "text": "…"}'
# Sent by many clients with every request, with the only value that is on offer.
HARMLESS = {"n": 1, "logprobs": False, "modalities": ["text"], "tools": [], "functions": [], "tool_choice": "none"}
REFUSED = ("n", "logprobs", "modalities", "tools", "functions", "audio", "response_format", "prediction")


class Message(BaseModel):
    """One message of a conversation, its parts joined."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | None = None

    @field_validator("content", mode="before")
    @classmethod
    def _joined(cls, content: Any) -> Any:
        if not isinstance(content, list):
            return content
        texts = [part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)]
        if len(texts) < len(content) or any(part.get("type") != "text" for part in content):
            raise PydanticCustomError("not_text", "Only text can be read: every part is {form}.", {"form": TEXT_PART})
        return "\n".join(texts)

    @property
    def text(self) -> str:
        """Its text, in valid Unicode."""
        return (self.content or "").replace("\0", "\ufffd").encode("utf-8", "replace").decode()


class StreamOptions(BaseModel):
    """How a stream ends."""

    include_usage: bool | None = None


class ChatBody(BaseModel):
    """What `POST /v1/chat/completions` takes; unknown fields are passed over."""

    model_config = ConfigDict(extra="allow")

    model: Annotated[str, Field(max_length=MAX_MODEL_CHARS)]
    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    filters: Filters | None = None
    steering: SteeringBody | None = None
    top_k: Annotated[int, Field(strict=True, ge=1, le=200)] | None = None
    query_time: QueryTime | None = None

    @field_validator("messages")
    @classmethod
    def _end_in_a_question(cls, messages: list[Message]) -> list[Message]:
        if messages[-1].role != "user":
            raise PydanticCustomError("no_question", "The last message must be the user's: it is the question.")
        try:
            clean_question(messages[-1].text)
        except QuestionError as error:
            raise PydanticCustomError("bad_question", "{reason}", {"reason": str(error)}) from error
        return messages

    @model_validator(mode="after")
    def _is_on_offer(self) -> Self:
        for name in REFUSED:
            value = (self.model_extra or {}).get(name)
            plain_text = name == "response_format" and isinstance(value, dict) and value.get("type") == "text"
            if value is not None and value != HARMLESS.get(name) and not plain_text:
                raise PydanticCustomError(
                    "not_on_offer", "This service does not offer {name}; leave it out.", {"name": name}
                )
        return self

    @property
    def question(self) -> str:
        """The last message."""
        return clean_question(self.messages[-1].text)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """What the user and the assistant said before, without empty messages."""
        spoken = (message for message in self.messages[:-1] if message.text.strip())
        return tuple(
            Turn("user" if message.role == "user" else "assistant", message.text)
            for message in spoken
            if message.role in {"user", "assistant"}
        )

    @property
    def ignored(self) -> list[str]:
        """Names of what was sent and has no influence on the answer, sorted; the first hundred."""
        extra: dict[str, Any] = self.model_extra or {}
        names = {name for name, value in extra.items() if value is not None and name not in HARMLESS}
        roles = {f"messages with role {message.role}" for message in self.messages} - {
            "messages with role user",
            "messages with role assistant",
        }
        return sorted({*names - {"response_format"}, *roles})[:MAX_IGNORED]

    @property
    def prompt(self) -> str:
        """The text of all messages, for counting."""
        return "\n".join(message.text for message in self.messages)
