"""The bodies of `POST /v1/chat/completions` and `POST /v1/responses`, checked before any work begins.

Flow: JSON -> **here** -> `routes/chat.py`. One rule for fields: a value that demands another kind of answer (a forced
tool, a JSON form, several choices) is refused, since its client could not read ours. Everything else that has no
influence is passed over unread, and the reply names it: clients offer tools by default, and a quoted answer has neither
temperature nor instructions, which only a language model is given (`Manner`). `top_k` is a sampling option here, as
with other servers that take it, and 0 or -1 switches it off there; how many passages are read is `max_passages`.
"""

import json
from collections.abc import Collection
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from api.schemas.requests import AskedAt, Body, Filtered, Passages, Steered, Writer, checked_question
from query_engine.question.validation import clean_question
from query_engine.schema.manner import Manner
from query_engine.schema.turn import Turn
from query_engine.text.well_formed import well_formed

MAX_MESSAGES = 1000
MAX_MODEL_CHARS = 200
MAX_IGNORED = 100
# Who gives instructions: OpenAI's newer models call the first one by the second name.
INSTRUCTING = frozenset({"system", "developer"})
TEXT_PART = '{"type": "text", "text": "…"}'
TEXT_PART_SCHEMA = {
    "type": "object",
    "properties": {
        "type": {"const": "text", "description": "The only type that can be read."},
        "text": {"type": "string", "description": "The text of the part."},
    },
    "required": ["type", "text"],
}
ITEM_SCHEMA = {
    "type": "object",
    "properties": {
        "type": {"const": "message"},
        "role": {"enum": ["system", "developer", "user", "assistant"]},
        "content": {"type": "string"},
    },
    "required": ["role", "content"],
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
    "background": False,
    "text": {"format": {"type": "text"}},
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
    "background": (False,),
    "conversation": (),
    "prompt": (),
}


class Message(Body):
    """One message of a conversation, its parts joined."""

    text_types: ClassVar[tuple[str, ...]] = ("text",)

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    """Who said it. What `system` and `developer` say goes to the language model that writes; `tool` and `function` are
    passed over."""
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
        if len(texts) < len(content) or any(part.get("type") not in cls.text_types for part in content):
            raise PydanticCustomError("not_text", "Only text can be read: every part is {form}.", {"form": TEXT_PART})
        return "\n".join(texts)

    @property
    def text(self) -> str:
        """Its text, in valid Unicode."""
        return well_formed((self.content or "").replace("\0", "\ufffd"))

    def ignored(self, read: Collection[str]) -> set[str]:
        """Return names of what in it has no influence on the answer; what these roles say is read."""
        called = {"messages with tool calls"} if self.tool_calls or self.function_call else set()
        return called if self.role in read else called | {f"messages with role {self.role}"}


class StreamOptions(Body):
    """How a stream ends."""

    include_usage: bool | None = None
    """Whether a last chunk tells the estimated numbers of tokens."""


def _ending_in_a_question(messages: list[Message]) -> list[Message]:
    if messages[-1].role != "user":
        raise PydanticCustomError("no_question", "The last message must be the user's: it is the question.")
    checked_question(messages[-1].text)
    return messages


Messages = Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES), AfterValidator(_ending_in_a_question)]


class OpenAIBody(Body):
    """What the bodies of OpenAI's forms have in common; unknown fields are passed over."""

    model_config = ConfigDict(extra="allow")
    manner_fields: ClassVar[tuple[str, ...]] = ("temperature",)

    model: Annotated[str, Field(max_length=MAX_MODEL_CHARS, examples=["default", "papers:agent", "*"])]
    """The corpus to ask, as `/v1/models` lists it: a name, several as `a+b`, or `*`, each perhaps with a mode behind a
    colon; up to 200 characters."""
    stream: Annotated[bool | None, Field(examples=[False])] = None
    """Whether the answer comes in pieces, as server-sent events."""
    filters: Filtered = None
    steering: Steered = None
    max_passages: Passages = None
    query_time: AskedAt = None
    writer: Writer = None
    temperature: Annotated[float | None, Field(ge=0, le=2, examples=[0.2])] = None
    """Of the language model that writes, 0 to 2; the settings' if left out."""
    tool_choice: Annotated[Any, Field(examples=["none"])] = None
    """`none` or `auto`; no tool is called."""

    @field_validator(*ACCEPTED, check_fields=False)
    @classmethod
    def _is_on_offer(cls, value: Any, info: ValidationInfo) -> Any:
        name = str(info.field_name)
        if value is None or value in ACCEPTED[name]:
            return value
        raise _not_on_offer(name, *ACCEPTED[name])

    @property
    def conversation_sent(self) -> list[Message]:
        """The messages, oldest first; the last one is the question."""
        raise NotImplementedError

    @property
    def question(self) -> str:
        """The last message."""
        return clean_question(self.conversation_sent[-1].text)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """What the user and the assistant said before, without empty messages."""
        spoken = (message for message in self.conversation_sent[:-1] if message.text.strip())
        return tuple(
            Turn("user" if message.role == "user" else "assistant", message.text)
            for message in spoken
            if message.role in {"user", "assistant"}
        )

    @property
    def manner(self) -> Manner:
        """What a language model is asked for; a limit below 1 means none, as with other servers."""
        said = (message.text.strip() for message in self.conversation_sent if message.role in INSTRUCTING)
        wished = {name: getattr(self, name, None) for name in self.manner_fields}
        instructions = "\n\n".join(filter(None, (wished.pop("instructions", None), *said)))
        temperature = wished.pop("temperature")
        limits = [limit for limit in wished.values() if limit and limit > 0]
        return Manner(instructions, min(limits, default=None), temperature)

    def ignored(self, *, by_model: bool) -> list[str]:
        """Return names of what was sent and has no influence on the answer, sorted; the first hundred.

        Args:
            by_model: whether a language model writes the answer.
        """
        unread = () if by_model else self.manner_fields
        read = {"user", "assistant"} | (INSTRUCTING if by_model else set())
        known = [name for name in (*ACCEPTED, *DONE_ANYWAY, *unread) if name in type(self).model_fields]
        sent: dict[str, Any] = {name: getattr(self, name) for name in known} | (self.model_extra or {})
        names = {name for name, value in sent.items() if value is not None and value != DONE_ANYWAY.get(name)}
        return sorted(names | {name for message in self.conversation_sent for name in message.ignored(read)})[
            :MAX_IGNORED
        ]

    @property
    def prompt_text(self) -> str:
        """The text of all messages, for counting."""
        return "\n".join(message.text for message in self.conversation_sent)


class ChatBody(OpenAIBody):
    """What `POST /v1/chat/completions` takes; unknown fields are passed over."""

    manner_fields: ClassVar[tuple[str, ...]] = ("temperature", "max_tokens", "max_completion_tokens")

    messages: Messages
    """The conversation, oldest first, 1 to 1,000 messages; the last one is the user's and is the question."""
    max_tokens: Annotated[int | None, Field(examples=[200])] = None
    """Most tokens that a language model writes, up to `RAG_LLM__MAX_NEW_TOKENS`; below 1: that many."""
    max_completion_tokens: int | None = None
    """Another name of `max_tokens`; the smaller of the two counts."""
    stream_options: StreamOptions | None = None
    """How a stream ends."""
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
    function_call: Annotated[Any, Field(examples=["none"])] = None
    """`none` or `auto`; no function is called."""

    @property
    def conversation_sent(self) -> list[Message]:
        """The messages."""
        return self.messages


class Item(Message):
    """One item of the input; what is not a message is passed over."""

    text_types: ClassVar[tuple[str, ...]] = ("input_text", "output_text", "text")

    type: Annotated[str, Field(pattern="^[a-z_]{1,60}$")] = "message"
    """`message`; the reply names other types as ignored."""
    role: Literal["system", "developer", "user", "assistant", "tool"] = "tool"
    """Who said it. What `system` and `developer` say goes to the language model that writes; `tool` is passed over."""

    @model_validator(mode="before")
    @classmethod
    def _without_foreign_content(cls, item: Any) -> Any:
        known = not isinstance(item, dict) or item.get("type", "message") == "message"
        return item if known else {"type": item["type"]}

    def ignored(self, read: Collection[str]) -> set[str]:
        """Return names of what in it has no influence on the answer; what these roles say is read."""
        return super().ignored(read) if self.type == "message" else {f"items of type {self.type}"}


def _as_items(given: Any) -> Any:
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


class ResponsesBody(OpenAIBody):
    """What `POST /v1/responses` takes; unknown fields are passed over."""

    manner_fields: ClassVar[tuple[str, ...]] = ("temperature", "max_output_tokens", "instructions")

    input: Annotated[
        list[Item],
        Field(min_length=1, max_length=MAX_MESSAGES, examples=["How do wind turbines work?"]),
        BeforeValidator(_as_items),
        AfterValidator(_ending_in_a_question),
        WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": ITEM_SCHEMA, "minItems": 1}]}),
    ]
    """The question; or a conversation, oldest first, 1 to 1,000 items, that ends in it."""
    instructions: Annotated[str | None, Field(examples=["Answer in one sentence."])] = None
    """For the language model that writes, beside its own: form, tone, readers. Of long ones the beginning is read."""
    max_output_tokens: Annotated[int | None, Field(examples=[200])] = None
    """Most tokens that a language model writes, up to `RAG_LLM__MAX_NEW_TOKENS`; below 1: that many."""
    previous_response_id: Annotated[str | None, Field(max_length=100)] = None
    """A response that this one follows; known for 30 minutes, to the key that asked for it."""
    store: bool | None = None
    """Whether a later response may follow this one; `true` if left out."""
    text: dict[str, Any] | None = None
    """Only the format `{"type": "text"}` is offered."""
    background: Annotated[Any, Field(examples=[False])] = None
    """Only `false` is offered."""
    conversation: Any = None
    """Not offered: null, or left out."""
    prompt: Any = None
    """Not offered: null, or left out."""

    @field_validator("text")
    @classmethod
    def _plain(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if value is not None and value.get("format") not in (None, {"type": "text"}):
            raise _not_on_offer("text.format", {"type": "text"})
        return value

    @property
    def conversation_sent(self) -> list[Message]:
        """The items."""
        return [*self.input]


def _not_on_offer(name: str, *accepted: Any) -> PydanticCustomError:
    but = " or ".join(map(json.dumps, accepted))
    told = f"{name} other than {but}" if but else name
    return PydanticCustomError("not_on_offer", "This service does not offer {told}; leave it out.", {"told": told})
