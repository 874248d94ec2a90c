"""Talk to a service and keep what it said, byte by byte and with times.

Flow: questions -> **here** (HTTP) -> `rules.py` judges replies, `asking/` and `rehearsal/` read answers from them. A
connection that breaks is something the service did, so it is kept like a reply and never raised.
"""

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import httpx

from loopback import may_use_proxy

# More than any answer of ten minutes; a stream without an end must not fill the memory.
MAX_STREAM_BYTES = 64 * 1024 * 1024
SHOWN_CHARS = 300


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a body, without its end, and when it was whole: seconds since the request."""

    text: bytes
    at_s: float


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a stream: its number from 1, its line, and the JSON object on it."""

    number: int
    line: Line
    value: dict[str, Any]

    @property
    def steps(self) -> str | None:
        """The steps so far; None if the record changes nothing or says nonsense."""
        return self._text("intermediate_steps")

    @property
    def report(self) -> str | None:
        """The answer so far; None if the record changes nothing or says nonsense."""
        return self._text("final_report")

    @property
    def has_error(self) -> bool:
        """Whether there is the key `error`, with any value."""
        return "error" in self.value

    @property
    def is_complete(self) -> bool:
        """Whether it says that it is the last one."""
        return self.value.get("complete") is True

    @property
    def thinks(self) -> bool:
        """Whether it says that the answer has not begun."""
        return self.value.get("is_intermediate") is True

    @property
    def answers(self) -> bool:
        """Whether it says that the answer has begun, and not failed."""
        return self.value.get("is_intermediate") is False and not self.has_error

    def is_blank(self, key: str) -> bool:
        """Whether a key has no text, or one of white space."""
        return not (self._text(key) or "").strip()

    def _text(self, key: str) -> str | None:
        found = self.value.get(key)
        return found if isinstance(found, str) else None


@dataclass(frozen=True)
class Reply:
    """What came back for one request.

    Attributes:
        sent: the JSON body of the request; None for a GET.
        status: 0 if no response began.
        content_type: without its parameters, lower case.
        lines: of the body.
        seconds: from the request to the end of the body.
        broken: why the body is not whole; None if it is.
        retry_after: the header of this name.
    """

    sent: Mapping[str, Any] | None
    status: int
    content_type: str
    lines: tuple[Line, ...]
    seconds: float
    broken: str | None = None
    retry_after: str = ""

    @property
    def body(self) -> bytes:
        """The whole body, with LF as the end of lines."""
        return b"\n".join(line.text for line in self.lines)

    @cached_property
    def value(self) -> dict[str, Any] | None:
        """The JSON object that the body is; None if it is something else."""
        return object_in(self.body)

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """The JSON objects on the lines that begin with `data:`; other lines are passed over."""
        data = [line for line in self.lines if line.text.startswith(b"data:")]
        found = [(line, value) for line in data if (value := object_in(line.text.removeprefix(b"data:"))) is not None]
        return tuple(Record(number, line, value) for number, (line, value) in enumerate(found, start=1))

    @property
    def first_record_s(self) -> float | None:
        """From the request to the first line that is not a ping; None if there was none."""
        return next((line.at_s for line in self.lines if line.text.strip() and not line.text.startswith(b":")), None)

    @property
    def detail(self) -> str | None:
        """What went wrong, as Treeline's services tell it; None if it is not told so."""
        error = (self.value or {}).get("error")
        told = error.get("detail") if isinstance(error, dict) else error
        return told if isinstance(told, str) else None

    def outcome(self) -> str:
        """Say as one sentence what came back in place of a good reply."""
        why = f" ({self.broken})" if self.broken else ""
        return f"The status is {self.status}{why}." if self.status else f"There is no reply{why}."

    def shown(self) -> str:
        """Return the body for one line of a terminal."""
        return shortened(self.body)


def client_of(url: str, headers: Sequence[tuple[str, str]]) -> httpx.AsyncClient:
    """Return a client of the service at a URL, which sends these headers with each request.

    It limits neither times nor connections: the caller limits how long a question takes, and how many run at a time.
    """
    return httpx.AsyncClient(
        base_url=url,
        headers=headers,
        timeout=None,  # noqa: S113
        limits=httpx.Limits(),
        trust_env=may_use_proxy(url),
    )


def _never(_: Line) -> bool:
    return False


class Exchange:
    """A service that is asked by a client, see `client_of`; each whole reply may take `timeout_s`."""

    def __init__(self, client: httpx.AsyncClient, timeout_s: float = math.inf) -> None:
        self._client = client
        self._timeout_s = timeout_s

    async def get(self, path: str, **options: Any) -> Reply:
        """Return the reply to a GET; `options` are httpx's."""
        return await self._reply(self._client.stream("GET", path, **options), None, _never)

    async def post(self, path: str, body: Mapping[str, Any], is_last: Callable[[Line], bool] = _never) -> Reply:
        """Return the reply to a POST of JSON; reading ends with the line that `is_last`."""
        return await self._reply(self._client.stream("POST", path, json=body), body, is_last)

    async def _reply(
        self,
        opening: AbstractAsyncContextManager[httpx.Response],
        sent: Mapping[str, Any] | None,
        is_last: Callable[[Line], bool],
    ) -> Reply:
        begun, lines = time.monotonic(), list[Line]()
        status, headers, broken = 0, httpx.Headers(), None
        try:
            async with asyncio.timeout(self._timeout_s), opening as response:
                status, headers = response.status_code, response.headers
                async for line in _lines(response, begun):
                    lines.append(line)
                    if is_last(line):
                        break
        except TimeoutError:
            broken = f"the body had not ended after {self._timeout_s:g} s"
        except httpx.HTTPError as error:
            broken = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        seconds = time.monotonic() - begun
        return Reply(sent, status, kind, tuple(lines), seconds, broken, headers.get("retry-after", ""))


async def _lines(response: httpx.Response, begun: float) -> AsyncIterator[Line]:
    """Split at LF and drop a CR before it, as server-sent events are read."""
    rest, size = list[bytes](), 0
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > MAX_STREAM_BYTES:
            raise httpx.ReadError(f"the body is larger than {MAX_STREAM_BYTES} bytes")
        *whole, last = chunk.split(b"\n")
        for piece in whole:
            yield Line(b"".join([*rest, piece]).removesuffix(b"\r"), time.monotonic() - begun)
            rest.clear()
        rest.append(last)
    if any(rest):
        yield Line(b"".join(rest), time.monotonic() - begun)


def object_in(text: bytes | str) -> dict[str, Any] | None:
    """Return the JSON object that a text is; None if it is something else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def shortened(text: str | bytes) -> str:
    """Return a text for one line of a terminal: control characters written out, the middle left out."""
    whole = text.decode("utf-8", "backslashreplace") if isinstance(text, bytes) else text
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in whole[: 100 * SHOWN_CHARS])
    if len(plain) <= SHOWN_CHARS:
        return plain
    half = SHOWN_CHARS // 2
    return f"{plain[:half]} … {plain[-half:]}"
