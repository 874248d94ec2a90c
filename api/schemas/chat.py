"""The body of `POST /v1/chat/completions`, checked before any work begins.

Flow: JSON -> **here** -> `routes/chat.py`. One rule for fields: a value that demands another kind of answer (a forced
tool, a JSON form, several choices) is refused, since its client could not read ours. Everything else that has no
influence is passed over unread, and the reply names it: clients offer tools by default, the settings decide how answers
are written, and a quoted answer has no temperature. `top_k` is a sampling option here, as with other servers that take
it, and 0 or -1 switches it off there; how many passages are read is `max_passages`.
"""

import json
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, ValidationInfo, WithJsonSchema, field_validator
from pydantic_core import PydanticCustomError

from api.schemas.requests import AskedAt, Body, Filtered, Passages, Steered, Writer
from errors import QuestionError
from query_engine.question.validation import clean_question
from query_engine.schema.turn import Turn
from query_engine.text.well_formed import well_formed

MAX_MESSAGES = 1000
MAX_MODEL_CHARS = 200
MAX_IGNORED = 100
TEXT_PART = '{"type": "text", "text": "…"}'
TEXT_PART_SCHEMA = {
    "type": "object",
    "properties": {
        "type": {"const": "text", "description": "The only type that can be read."},
        "text": {"type": "string", "description": "The text of the part."},
    },
    "required": ["type", "text"],
}
# What is done anyway: a client that sends these values gets what it asks for, so they are not named as passed over.
DONE_ANYWAY: dict[str, Any] = {
    "n": 1,
    "logprobs": False,
    "modalities": ["text"],
    "response_format": {"type": "text"},
    "tool_choice": "none",
    "function_call": "none",
    "tools": [],
    "functions": [],
}
# The fields that can demand another kind of answer, with the values that do not.
ACCEPTED: dict[str, tuple[Any, ...]] = {
    "n": (1,),
    "logprobs": (False,),
    "modalities": (["text"],),
    "audio": (),
    "response_format": ({"type": "text"},),
    "tool_choice": ("none", "auto"),
    "function_call": ("none", "auto"),
}


class Message(Body):
    """One message of a conversation, its parts joined."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    """Who said it; only what `user` and `assistant` say is read."""
    content: Annotated[
        str | None,
        Field(examples=["How do wind turbines work?"]),
        WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": TEXT_PART_SCHEMA}, {"type": "null"}]}),
    ] = None
    """What was said: a string, or a list of parts of type `text`."""
    tool_calls: Any = None
    """Passed over; the reply names it."""
    function_call: Any = None
    """Passed over; the reply names it."""

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
        return well_formed((self.content or "").replace("\0", "\ufffd"))


class StreamOptions(Body):
    """How a stream ends."""

    include_usage: bool | None = None
    """Whether a last chunk tells the estimated numbers of tokens."""


class ChatBody(Body):
    """What `POST /v1/chat/completions` takes; unknown fields are passed over."""

    model_config = ConfigDict(extra="allow")

    model: Annotated[str, Field(max_length=MAX_MODEL_CHARS, examples=["default", "papers:agent", "*"])]
    """The corpus to ask, as `/v1/models` lists it: a name, several as `a+b`, or `*`, each perhaps with a mode behind a
    colon; up to 200 characters."""
    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)]
    """The conversation, oldest first, 1 to 1,000 messages; the last one is the user's and is the question."""
    stream: Annotated[bool | None, Field(examples=[False])] = None
    """Whether the answer comes in chunks, as server-sent events."""
    stream_options: StreamOptions | None = None
    """How a stream ends."""
    filters: Filtered = None
    steering: Steered = None
    max_passages: Passages = None
    query_time: AskedAt = None
    writer: Writer = None
    n: Annotated[Any, Field(examples=[1])] = None
    """Choices; only 1 is offered."""
    logprobs: Annotated[Any, Field(examples=[False])] = None
    """Only `false` is offered."""
    modalities: Annotated[Any, Field(examples=[["text"]])] = None
    """Only `["text"]` is offered."""
    audio: Any = None
    """Not offered: null, or left out."""
    response_format: Annotated[Any, Field(examples=[{"type": "text"}])] = None
    """Only `{"type": "text"}` is offered."""
    tool_choice: Annotated[Any, Field(examples=["none"])] = None
    """`none` or `auto`; no tool is called."""
    function_call: Annotated[Any, Field(examples=["none"])] = None
    """`none` or `auto`; no function is called."""

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

    @field_validator(*ACCEPTED)
    @classmethod
    def _is_on_offer(cls, value: Any, info: ValidationInfo) -> Any:
        name = str(info.field_name)
        if value is None or value in ACCEPTED[name]:
            return value
        but = " or ".join(map(json.dumps, ACCEPTED[name]))
        told = f"{name} other than {but}" if but else name
        raise PydanticCustomError("not_on_offer", "This service does not offer {told}; leave it out.", {"told": told})

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
        sent: dict[str, Any] = {name: getattr(self, name) for name in ACCEPTED} | (self.model_extra or {})
        names = {name for name, value in sent.items() if value is not None and value != DONE_ANYWAY.get(name)}
        roles = {message.role for message in self.messages} - {"user", "assistant"}
        names |= {f"messages with role {role}" for role in roles}
        if any(message.tool_calls or message.function_call for message in self.messages):
            names.add("messages with tool calls")
        return sorted(names)[:MAX_IGNORED]

    @property
    def prompt(self) -> str:
        """The text of all messages, for counting."""
        return "\n".join(message.text for message in self.messages)
