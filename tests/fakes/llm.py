"""A LlamaIndex LLM that says what it is told to, piece by piece."""

from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms import CustomLLM
from pydantic import Field

from query_engine.llms.base import THINKING, LoadedModel
from query_engine.llms.helper import PromptHelper
from query_engine.llms.reply import Thought
from query_engine.schema.passage import Passage


class FakeLLM(CustomLLM):
    """Streams `says`; an exception among the pieces is raised in its turn, a function is called.

    Attributes:
        asked: the messages of each call.
        given: pieces handed out.
        closed: streams that ended or were closed.
    """

    says: list[Any]
    asked: list[list[ChatMessage]] = Field(default_factory=list)
    given: int = 0
    closed: int = 0

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="fake", is_chat_model=True)

    def stream_chat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponseGen:
        self.asked.append(list(messages))
        try:
            for piece in self.says:
                if isinstance(piece, Exception):
                    raise piece
                if callable(piece):
                    piece()
                    continue
                self.given += 1
                thought = isinstance(piece, Thought)
                yield ChatResponse(
                    message=ChatMessage(),
                    delta="" if thought else piece,
                    additional_kwargs={THINKING: str(piece)} if thought else {},
                )
        finally:
            self.closed += 1

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        raise NotImplementedError

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponseGen:
        raise NotImplementedError


class ReplyingLLM(FakeLLM):
    """Replies to each prompt with what a function makes of it."""

    says: list[Any] = Field(default_factory=list)
    reply: Callable[[str], str]

    def stream_chat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponseGen:
        self.says = [self.reply(messages[-1].content or "")]
        return super().stream_chat(messages)


def asker(llm: FakeLLM, context_tokens: int = 4096, max_new_tokens: int = 320) -> PromptHelper:
    """Return an asker of a model whose tokens are words."""
    return PromptHelper(
        LoadedModel(llm, "fake", lambda: context_tokens, lambda text: len(text.split())), max_new_tokens
    )


def passage(
    text: str, doc_id: str = "wind.md", *, start: int = 0, title: str = "Wind", url: str | None = None
) -> Passage:
    """Return a passage that begins at `start` of its document."""
    return Passage(
        node_id=f"{doc_id}.{start}",
        chunk_id=f"{doc_id}#00000",
        doc_id=doc_id,
        title=title,
        url=url,
        level="leaf",
        start=start,
        end=start + len(text),
        pages=(),
        score=1.0,
        scores={},
        text=text,
    )
