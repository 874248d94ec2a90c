"""Ask a service: one `POST /evaluate` a question, or one `POST /run` where its stream is wanted.

Flow: `build.py` -> **here** -> `reply.py` or `stream_reply.py` reads what comes. Asking again is `retry_policy.py`'s.
"""

import time
from collections.abc import AsyncIterator
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
from pydantic_core import from_json

from eval.asking.reply import read_reply
from eval.asking.stream_reply import StreamReply
from eval.asking.target import NoReplyError, in_time
from eval.cases import Case
from eval.rows import Row

SHOWN_CHARS = 200


class HttpTarget:
    """A service.

    Args:
        client: with the service's base URL, and without a time limit.
        options: `corpus`, `filters`, `top_k`, sent with each question; those that are None are left out.
    """

    def __init__(self, client: httpx.AsyncClient, **options: Any) -> None:
        self._client = client
        self._extra = {name: value for name, value in options.items() if value is not None}

    async def ask(self, case: Case) -> Row:
        """Ask once.

        Raises:
            NoReplyError: the service cannot be reached, refuses, fails, or replies with something else.
        """
        started = time.perf_counter()
        try:
            reply = await self._client.post("/evaluate", json={"query": case.question, "iid": case.id, **self._extra})
        except httpx.TransportError as error:
            raise NoReplyError(_unreachable(error), "Start the service, or mend the connection.") from error
        seconds = time.perf_counter() - started
        if reply.status_code != httpx.codes.OK:
            raise _failure(reply)
        return in_time(read_reply(reply.content, case.id, seconds))


class StreamTarget(HttpTarget):
    """A service that is asked by `POST /run`."""

    async def ask(self, case: Case) -> Row:
        """Ask once, and read until a record is complete or the stream ends; raises as `HttpTarget.ask`."""
        started = time.perf_counter()
        read, first_record_s = StreamReply(), None
        try:
            async with self._client.stream("POST", "/run", json={"question": case.question, **self._extra}) as reply:
                if reply.status_code != httpx.codes.OK:
                    await reply.aread()
                    raise _failure(reply, "/run")
                async for line in _lines(reply):
                    if first_record_s is None and line.strip() and not line.startswith(":"):
                        first_record_s = time.perf_counter() - started
                    read.take(line)
                    if read.complete:
                        break
        except httpx.TransportError as error:
            raise NoReplyError(_unreachable(error), "Start the service, or mend the connection.") from error
        return read.row(case.id, time.perf_counter() - started, first_record_s)


async def _lines(reply: httpx.Response) -> AsyncIterator[str]:
    """Yield the lines of a stream, split at LF alone: JSON may hold what `str.splitlines` takes for line ends."""
    rest = b""
    async for chunk in reply.aiter_bytes():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.decode(errors="replace").removesuffix("\r")
    if rest:
        yield rest.decode(errors="replace")


def _failure(reply: httpx.Response, route: str = "/evaluate") -> NoReplyError:
    fact = f"The service replied with status {reply.status_code}: {_detail(reply)}"
    if reply.status_code in {408, 425, 429} or reply.is_server_error:
        return NoReplyError(fact, "Ask it again later.", retry_after_s=retry_after_s(reply.headers.get("Retry-After")))
    refused = reply.status_code in {413, 414, 422}
    remedy = "Change the question." if refused else f"Name the base URL of a service that has POST {route}."
    return NoReplyError(fact, remedy, refused=refused, lasting=True)


def _detail(reply: httpx.Response) -> str:
    """Return what the service says, by our envelope or as it begins."""
    try:
        return str(from_json(reply.content)["error"]["detail"])[:SHOWN_CHARS]
    except (ValueError, KeyError, TypeError, IndexError):
        text = " ".join(reply.content[: SHOWN_CHARS * 4].decode(errors="replace").split())
        return text[:SHOWN_CHARS] or "without a word."


def retry_after_s(value: str | None) -> float | None:
    """Read the header `Retry-After`, seconds or a date; None if it is absent or neither."""
    if value is None:
        return None
    try:
        if value.strip().isdecimal():
            return float(value)
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _unreachable(error: httpx.TransportError) -> str:
    return f"The service cannot be reached, or broke off ({type(error).__name__}{f': {error}' if str(error) else ''})."
