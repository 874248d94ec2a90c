"""Ask the judge, or remember what it said; count what that took, and give up on one that is down.

Flow: `judged/`, `ragas_calls.py`, `drafting/` -> **here** -> the server of `RAG_JUDGE__BASE_URL`, which
speaks OpenAI's chat completions, and a small JSON file for each reply below `RAG_JUDGE__CACHE_DIR`.

Three failures, because three things follow: a judge that is down fails every further question too, one that refuses a
request may take the next, and one that replies badly has at least replied. Only what may pass in time is tried again.

What was paid for once is not asked again after a kill, or for another run. A reply is kept only once it was read: an
unusable one is requested again the next time. The number of the repetition is part of the cache key, so that repeats,
and metrics that ask one thing three times, get a new reply each time. Nothing is ever removed: delete the folder to
judge again.
"""

import hashlib
import json
import logging
import os
import re
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx
from pydantic import AliasPath, BaseModel, Field, ValidationError
from tenacity import AsyncRetrying, RetryCallState

from errors import RagError
from eval.questions.files import first_fault
from eval.tables import cut
from remote import Remote, RemoteError, tried_again
from settings import JudgeSettings

logger = logging.getLogger(__name__)

# Retries after the first attempt, if the judge is unreachable or busy.
RETRIES = 3
PATH = "/chat/completions"
DOWN_AFTER_ROWS = 5
SHOWN_CHARS = 100

Value = TypeVar("Value")
Shape = TypeVar("Shape", bound=BaseModel)


class JudgeError(RagError):
    """A judge gave no judgement."""

    code = "judge_failed"


class JudgeDownError(JudgeError):
    """No reply came, or one that every further question would get as well."""

    code = "judge_down"


class JudgeRefusedError(JudgeError):
    """The server does not take this request."""

    code = "judge_refused"


class JudgeUnusableError(JudgeError):
    """The reply is not a judgement."""

    code = "judge_unusable"

    @classmethod
    def of(cls, what: str, text: str) -> "JudgeUnusableError":
        """Say what is wrong with a reply, and show its beginning."""
        return cls(f"{what}: {cut(text, SHOWN_CHARS)!r}.", "Take another model, or another RAG_JUDGE__RESPONSE_FORMAT.")


@dataclass
class Tally:
    """What judging took.

    Attributes:
        replies: what the server sent and was paid for.
        remembered: replies that came from the cache.
        failed: questions without a usable reply.
        tried_again: requests that were sent again.
        prompt_tokens, completion_tokens: as the server reports them; 0 if it does not.
    """

    replies: int = 0
    remembered: int = 0
    failed: int = 0
    tried_again: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Completion(BaseModel):
    """The fields that are read from a chat completion."""

    message: dict[str, Any] = Field(validation_alias=AliasPath("choices", 0, "message"))
    text: str | None = Field(None, validation_alias=AliasPath("choices", 0, "message", "content"))
    finish_reason: str | None = Field(None, validation_alias=AliasPath("choices", 0, "finish_reason"))
    prompt_tokens: int | None = Field(None, validation_alias=AliasPath("usage", "prompt_tokens"))
    completion_tokens: int | None = Field(None, validation_alias=AliasPath("usage", "completion_tokens"))


class Judge:
    """A language model that judges answers, and the folder of its replies, which many processes may share.

    Attributes:
        settings: who judges, how long a reply may take, and how many things are judged at once.
        tally: what it took so far.
        given_up: why nothing is asked any more; None while all is well.
        tell: takes a line about what will be asked.

    Raises:
        RagError: the folder cannot be made.
    """

    def __init__(self, settings: JudgeSettings, tell: Callable[[str], object] = logger.info) -> None:
        self.tally = Tally()
        self.given_up: JudgeError | None = None
        self.tell = tell
        self.settings = settings
        key = settings.api_key.get_secret_value() if settings.api_key else ""
        url, limits = settings.base_url or "", "MODEL RESPONSE_FORMAT CONCURRENCY TIMEOUT_S"
        self._server = Remote.of_model(f"judge at {place_of(url)}", url, "RAG_JUDGE__", limits, key)
        self._client: httpx.AsyncClient | None = None
        self._in_vain: list[JudgeError] = []
        self._useful = False
        with self._refusals_named():
            settings.cache_dir.mkdir(parents=True, exist_ok=True)

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Keep connections open meanwhile; `ask` works only in here."""
        async with self._server.client(timeout=None) as client:
            self._client = client
            yield

    async def ask(self, prompt: str, schema: Mapping[str, Any], nth: str, read: Callable[[str], Value]) -> Value:
        """Return what `read` makes of the judge's reply; it may raise JudgeUnusableError.

        The reply follows the JSON `schema`. `nth` says which time this is asked: equal prompts of equal `nth` are asked
        once and remembered.

        Raises:
            JudgeDownError: no reply came within the limit and the tries, or the server takes no request at all.
            JudgeRefusedError: the server does not take this one.
            JudgeUnusableError: the reply is not a judgement.
            RagError: the reply cannot be kept.
        """
        request = self._request(prompt, schema)
        key = hashlib.sha256(b"\0".join((f"{self._server.url}{PATH}".encode(), nth.encode(), request))).hexdigest()
        path = self.settings.cache_dir / key[:2] / f"{key[2:]}.json"
        kept = _kept(path)
        if kept is not None:
            with suppress(JudgeUnusableError):  # an earlier version may have been less strict
                value = read(kept)
                self.tally.remembered += 1
                return value
        try:
            text = await self._complete(request)
            value = read(text)
        except JudgeError:
            self.tally.failed += 1
            raise
        self._keep(path, text)
        return value

    def row_done(self, in_vain: JudgeError | None) -> None:
        """Take note of a row that was judged, or why it was not; too many in a row and the judge is given up."""
        self._in_vain = [*self._in_vain, in_vain] if in_vain else []
        self._useful = self._useful or in_vain is None
        if len(self._in_vain) >= DOWN_AFTER_ROWS:
            self.given_up = in_vain

    def rows_done(self) -> None:
        """Take note that these were all rows: a judge that was of use to none is given up, however few they were."""
        if self._in_vain and not self._useful:
            self.given_up = self._in_vain[-1]

    def _keep(self, path: Path, text: str) -> None:
        """Write a reply; its file appears whole or not at all."""
        with self._refusals_named():
            path.parent.mkdir(exist_ok=True)
            descriptor, draft = tempfile.mkstemp(dir=path.parent, suffix=".part")
            with os.fdopen(descriptor, "wb") as file:
                file.write(json.dumps({"text": text}).encode())
            os.replace(draft, path)

    @contextmanager
    def _refusals_named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RagError(
                f"The judge's replies cannot be kept in {self.settings.cache_dir}: {error.strerror or error}.",
                "Make room there, or set RAG_JUDGE__CACHE_DIR to a folder that can be written.",
                "judge_cache_failed",
            ) from error

    def _request(self, prompt: str, schema: Mapping[str, Any]) -> bytes:
        body: dict[str, Any] = {
            "model": self.settings.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": self.settings.temperature,
        }
        if self.settings.response_format == "json_schema":
            named = {"name": "judgement", "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif self.settings.response_format == "json_object":
            body["response_format"] = {"type": "json_object"}
        return json.dumps(body).encode()

    async def _complete(self, request: bytes) -> str:
        until_s = time.monotonic() + self.settings.timeout_s

        def left_s() -> float:
            return until_s - time.monotonic()

        async def once() -> bytes:
            assert self._client is not None
            headers = {"Content-Type": "application/json"}
            return await self._server.send(
                self._client, "POST", PATH, limit_s=left_s(), content=request, headers=headers
            )

        def count(_: RetryCallState) -> None:
            self.tally.tried_again += 1

        try:
            return self._read(await AsyncRetrying(**tried_again(RETRIES, left_s), before_sleep=count)(once))
        except RemoteError as error:
            if error.kind == "rejected":
                remedy = "Try another RAG_JUDGE__RESPONSE_FORMAT, or a model with a larger context window."
                raise JudgeRefusedError(error.fact, remedy) from error
            raise JudgeDownError(error.fact, error.remedy) from error

    def _read(self, body: bytes) -> str:
        try:
            completion = _Completion.model_validate_json(body)
        except ValidationError as error:
            said = cut(body.decode(errors="replace"), SHOWN_CHARS)
            remedy = "Correct RAG_JUDGE__BASE_URL: it names an OpenAI-compatible server and ends in /v1."
            raise self._server.error("bad_reply", f"sent no chat completion: {said!r}", remedy) from error
        self.tally.replies += 1
        self.tally.prompt_tokens += completion.prompt_tokens or 0
        self.tally.completion_tokens += completion.completion_tokens or 0
        text = completion.text or ""
        if completion.finish_reason == "length":
            raise JudgeUnusableError.of("The judge's reply was cut off at the server's limit of tokens", text)
        if not text.strip():
            raise JudgeUnusableError("The judge's reply is empty.", "Take another model.")
        return text


def _kept(path: Path) -> str | None:
    """Return the reply in a file; one that cannot be read counts as absent."""
    try:  # here, not in a thread: handing over takes longer than a small file
        return str(json.loads(path.read_bytes())["text"])
    except (OSError, ValueError, LookupError, TypeError):
        return None


def place_of(url: str) -> str:
    """Return host and port, without the name and password that may stand before them."""
    return re.sub(r"^\w+://", "", url).partition("/")[0].rpartition("@")[2]


def json_in(text: str) -> str:
    """Return the JSON object in a reply, without reasoning before it and fences or words around it.

    Raises:
        JudgeUnusableError: there is none.
    """
    said = re.sub(r"^\s*<think>.*?</think>", "", text, flags=re.DOTALL)
    found = said[said.find("{") : said.rfind("}") + 1]
    with suppress(ValueError, RecursionError):
        if isinstance(json.loads(found, parse_constant=_not_a_number), dict):
            return found
    raise JudgeUnusableError.of("The judge's reply is not a JSON object", text)


def model_in(kind: type[Shape], text: str) -> Shape:
    """Return the object in a reply as a model; raise JudgeUnusableError if it is of another shape."""
    try:
        return kind.model_validate_json(json_in(text))
    except ValidationError as error:
        what = f"The judge's reply is not what was asked for ({first_fault(error)})"
        raise JudgeUnusableError.of(what, text) from error


def _not_a_number(name: str) -> float:
    raise ValueError(f"{name} is not a number")
