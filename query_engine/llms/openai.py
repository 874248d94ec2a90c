"""Ask any server that speaks OpenAI's chat completions: vLLM, llama.cpp, Ollama, a hosted one.

Flow: `build.py` -> **here** -> a LlamaIndex `OpenAILike`. Its stream has a deadline for every token, is given up the
moment its reader closes it, and is retried only while nothing has arrived, so no text comes twice.
"""

import asyncio
import json
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import httpx
import openai
from llama_index.core.base.llms.types import ChatMessage, ChatResponseGen, MessageRole
from llama_index.llms.openai.utils import to_openai_message_dicts
from llama_index.llms.openai_like import OpenAILike
from openai import AsyncOpenAI
from pydantic import PrivateAttr
from tenacity import AsyncRetrying

from errors import LLMError, SettingsError
from query_engine.llms.base import HEARTBEAT_S, TOP_P, LoadedModel, chat_stream, without_system
from query_engine.llms.reply import LengthReached, Thought
from query_engine.llms.window import ASSUMED_TOKENS, ServedWindow
from query_engine.runtime.watching import ModelCall
from remote import SHOWN_CHARS, Remote, RemoteError, tried_again
from settings import LLMSettings

# A reader waits meanwhile, and the answer can be quoted from the passages at once: better soon than perfect.
MAX_RETRIES, MAX_PAUSE_S = 2, 5.0
# A chunk of one token takes 200 to 400 bytes on the wire; servers that send far more are broken.
MAX_BYTES_PER_TOKEN, MAX_EXTRA_BYTES = 4096, 256 * 1024
# Text of an unknown tokenizer: English runs at 4 bytes a token, figures and code at 2.5 or so.
BYTES_PER_TOKEN = 2.5
# The client insists on a key; servers without keys ignore it.
NO_KEY = "none"
UNBOUNDED = "Look at the server: it does not keep to the limit."
OLLAMA_URL = "http://127.0.0.1:11434/v1"


@dataclass(frozen=True, slots=True)
class _Asked:
    """One request: its messages, and the options in which it differs from the settings."""

    messages: Sequence[ChatMessage]
    wished: dict[str, Any]


class ServerLLM(OpenAILike):
    """An `OpenAILike` whose chat stream can be stopped and times out."""

    _has_system: bool = PrivateAttr(default=True)
    _counts: bool = PrivateAttr(default=True)
    _limit: str = PrivateAttr(default="max_tokens")  # what the server calls it
    _samples: bool = PrivateAttr(default=True)

    @property
    def _server(self) -> Remote:
        key = self.api_key if self.api_key and self.api_key != NO_KEY else ""
        return Remote.of_model(
            "language model server", self.api_base or "", "RAG_LLM__", "MODEL CONTEXT_TOKENS MAX_NEW_TOKENS", key
        )

    def stream_chat(
        self,
        messages: Sequence[ChatMessage],
        max_tokens: int | None = None,
        temperature: float | None = None,
        **_: Any,
    ) -> ChatResponseGen:
        """Stream an answer; closing the stream closes the connection.

        Raises:
            LLMError: one distinct fact for each way a server fails.
        """
        call = ModelCall("openai", self.model)
        wished: dict[str, Any] = {} if temperature is None else {"temperature": temperature}
        if max_tokens is not None:
            wished["max_tokens"] = min(max_tokens, self.max_tokens or max_tokens)
        asked = _Asked(messages, wished)
        return chat_stream(self, messages, self._pieces(asked, call), call)

    def _pieces(self, asked: _Asked, call: ModelCall) -> Generator[str, None, None]:
        """Drive the asynchronous client from this thread: only that one can be interrupted while it waits."""
        with asyncio.Runner() as runner:
            stream = self._receive(asked, call)
            waiting: asyncio.Task[str] | None = None
            started, received = time.monotonic(), 0
            try:
                while True:
                    waiting = waiting or runner.get_loop().create_task(_advance(stream))
                    runner.run(_rest(waiting))
                    if not waiting.done():
                        if time.monotonic() - started > self.timeout:
                            raise _stalled(self.timeout, received)
                        yield ""
                        continue
                    piece, waiting = waiting.result(), None
                    arrived = bool(piece) and not isinstance(piece, Thought)
                    started, received = time.monotonic(), received + arrived
                    yield piece
            except StopAsyncIteration:
                return
            except (RemoteError, openai.APIError, httpx.HTTPError, ValueError, RecursionError) as error:
                raise _translated(error, received, self.timeout) from error
            finally:
                if waiting is not None:
                    waiting.cancel()
                    runner.run(_rest(waiting))
                runner.run(stream.aclose())

    async def _receive(self, asked: _Asked, call: ModelCall) -> AsyncGenerator[str, None]:
        """Yield each piece of text and of reasoning; the server's count of tokens goes to `call`."""
        limit = (self.max_tokens or 0) * MAX_BYTES_PER_TOKEN + MAX_EXTRA_BYTES

        async def watch(response: httpx.Response) -> None:
            response.stream = _LimitedStream(response.stream, limit)

        chunks = pieces = 0
        finished = False
        async with AsyncOpenAI(
            api_key=self.api_key,
            base_url=self.api_base,
            max_retries=0,
            timeout=self.timeout,
            http_client=self._server.client(timeout=self.timeout, event_hooks={"response": [watch]}),
        ) as client:
            async for chunk in await self._open(client, asked):
                text, thought, reason = _read(chunk)
                _count(chunk, call)
                chunks += 1
                pieces += bool(text)
                finished = finished or bool(reason)
                if pieces > 2 * (self.max_tokens or math.inf):
                    sent = f"sent {pieces} pieces of text when asked for {self.max_tokens} tokens"
                    raise _failed("endless", sent, UNBOUNDED)
                if thought:
                    yield Thought(thought)
                if text:
                    yield text
                if reason == "length":
                    yield LengthReached()
        if not finished:
            raise _cut(pieces) if chunks else ValueError("no chunk")

    async def _open(self, client: AsyncOpenAI, asked: _Asked) -> Any:
        """Send the request, and again without what the server refuses of it."""
        while True:
            try:
                return await self._create(client, asked)
            except RemoteError as error:
                if not self._does_without(error.said.lower(), asked.messages):
                    raise

    def _does_without(self, refusal: str, messages: Sequence[ChatMessage]) -> bool:
        """Leave out from now on what the server's words say that it refuses; say whether that is anything."""
        if self._counts and "stream_options" in refusal:
            self._counts = False
            return True
        # Reasoning models of OpenAI: "Use 'max_completion_tokens' instead.", "'temperature' does not support 0.1".
        if self._limit == "max_tokens" and "max_completion_tokens" in refusal:
            self._limit = "max_completion_tokens"
            return True
        if self._samples and ("temperature" in refusal or "top_p" in refusal):
            self._samples = False
            return True
        # "System role not supported", "Only user and assistant roles are supported!": the words are the template's.
        if self._has_system and messages[0].role == MessageRole.SYSTEM and "role" in refusal:
            self._has_system = False
            return True
        return False

    async def _create(self, client: AsyncOpenAI, asked: _Asked) -> Any:
        """Send the request; try again after a refusal that may pass in time."""
        messages = asked.messages if self._has_system else without_system(asked.messages)
        until_s = time.monotonic() + self.timeout
        again = tried_again(MAX_RETRIES, lambda: min(MAX_PAUSE_S, until_s - time.monotonic()))
        return await AsyncRetrying(**again)(
            self._try,
            client,
            messages=cast(Any, to_openai_message_dicts(messages, model=self.model)),
            **self._options(asked.wished),
            **({"stream_options": {"include_usage": True}} if self._counts else {}),
        )

    async def _try(self, client: AsyncOpenAI, **request: Any) -> Any:
        try:
            return await client.chat.completions.create(**request)
        except openai.APIStatusError as error:
            body = error.body if isinstance(error.body, dict) else {}
            said = str(body.get("message") or error.message)
            raise self._server.refused(error.status_code, said, error.response.headers) from error
        except openai.APITimeoutError:
            raise  # there is no time for another try
        except openai.APIConnectionError as error:
            raise self._server.broken(error.__cause__ or error, self.timeout) from error

    def _options(self, wished: dict[str, Any]) -> dict[str, Any]:
        options = self._get_model_kwargs(stream=True) | wished
        options[self._limit] = options.pop("max_tokens", self.max_tokens)
        return options if self._samples else {name: options[name] for name in options.keys() - {"temperature", "top_p"}}


async def _advance(stream: AsyncIterator[str]) -> str:
    return await anext(stream)


async def _rest(task: "asyncio.Task[str]") -> None:
    await asyncio.wait({task}, timeout=HEARTBEAT_S)


class _LimitedStream(httpx.AsyncByteStream):
    def __init__(self, stream: Any, limit: int) -> None:
        self._stream = stream
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        received = 0
        async for part in self._stream:
            received += len(part)
            if received > self._limit:
                sent = f"sent more than {self._limit // 1024} KiB for one answer"
                raise _failed("too_large", sent, UNBOUNDED)
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def _read(chunk: Any) -> tuple[str, str, str]:
    """Return a chunk's text, its reasoning, and why it ends the answer; empty if it does not.

    The client library checks nothing of what a server sends: what is of another shape raises ValueError.
    """
    choices = getattr(chunk, "choices", None)
    first = choices[0] if isinstance(choices, list) and choices else None
    delta = getattr(first, "delta", None)
    text = getattr(delta, "content", None)
    thought = getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None)
    if not (isinstance(choices, list) and isinstance(text, str | None) and isinstance(thought, str | None)):
        raise ValueError("not a chunk of a chat completion")  # noqa: TRY004  # what a server sent, no mistake in types
    return text or "", thought or "", str(getattr(first, "finish_reason", None) or "")


def _count(chunk: Any, call: ModelCall) -> None:
    """Take over how many tokens the server counted, which the last chunk says if any does."""
    usage = getattr(chunk, "usage", None)
    counted = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    if all(isinstance(one, int) and one >= 0 for one in counted):
        call.input_tokens, call.output_tokens = counted


def _translated(error: Exception, received: int, timeout_s: float) -> LLMError:
    if isinstance(error, RemoteError):
        return LLMError(error.fact, error.remedy, f"llm_{error.kind}")
    if isinstance(error, openai.APITimeoutError | httpx.TimeoutException):
        return _stalled(timeout_s, received)
    if isinstance(error, openai.APIError):
        told = " ".join(error.message.split())[:SHOWN_CHARS].rstrip(".")
        return _failed("reported", f"reported an error while it answered: {told}", "Look at its log, then retry.")
    if isinstance(error, httpx.HTTPError):
        return _cut(received)
    # JSON that is nested too deeply is not JSON to its parser either.
    if isinstance(error, json.JSONDecodeError | RecursionError):
        remedy = "Look at the server's log, and at proxies before it."
        return _failed("bad_json", "sent broken JSON, which is not a chat completion stream", remedy)
    remedy = "Check that RAG_LLM__BASE_URL points at an OpenAI-compatible server and ends in /v1."
    return _failed("wrong_type", "sent something that is not a chat completion stream", remedy)


def _stalled(timeout_s: float, received: int) -> LLMError:
    """Nothing came for `timeout_s`; `received` pieces had come before."""
    code, what = ("stalled", "no further token") if received else ("slow", "no token")
    remedy = "Look whether it is overloaded, or raise RAG_LLM__TIMEOUT_S."
    return _failed(code, f"sent {what} for {timeout_s:g} s", remedy)


def _cut(received: int) -> LLMError:
    """The connection ended before the answer had; `received` pieces had come."""
    where = "in the middle of the answer" if received else "before the first word"
    return _failed("cut", f"ended its stream {where}", "Look at the server's log, then retry.")


def _failed(code: str, fact: str, remedy: str) -> LLMError:
    return LLMError(f"The language model server {fact}.", remedy, f"llm_{code}")


def connect_openai(settings: LLMSettings) -> LoadedModel:
    """Prepare to ask the server that the settings name; nothing is sent yet.

    Raises:
        SettingsError: the server or the model is not named.
    """
    base_url = settings.base_url or (OLLAMA_URL if settings.provider == "ollama" else None)
    if base_url is None or settings.model is None:
        missing = "RAG_LLM__BASE_URL" if base_url is None else "RAG_LLM__MODEL"
        raise SettingsError(
            f"RAG_LLM__PROVIDER={settings.provider} needs {missing}.",
            "Set it, for example to http://127.0.0.1:8001/v1 and a model's name.",
        )
    key = settings.api_key.get_secret_value() if settings.api_key else None
    window = ServedWindow(base_url, settings.model, key)
    llm = ServerLLM(
        model=settings.model,
        api_base=base_url,
        api_key=key or NO_KEY,
        context_window=settings.context_tokens or ASSUMED_TOKENS,
        max_tokens=settings.max_new_tokens,
        temperature=settings.temperature,
        additional_kwargs={"top_p": TOP_P},
        timeout=settings.timeout_s,
        max_retries=MAX_RETRIES,
        is_chat_model=True,
    )
    tokens = settings.context_tokens
    label = f"{settings.model} at {base_url}"
    return LoadedModel(llm, label, window.tokens if tokens is None else lambda: tokens, _estimated_tokens)


def _estimated_tokens(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", errors="replace")) / BYTES_PER_TOKEN)
