"""Talk to a service and keep what it said, byte by byte and with times.

Flow: questions -> **here** (HTTP) -> `run_rules.py` and `evaluate_rules.py`, which judge; nothing is judged here. A
connection that breaks is something the service did, so it is kept like a reply and never raised.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

# More than any answer of ten minutes; a stream without an end must not fill the memory.
MAX_STREAM_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a body, without its end, and when it was whole: seconds since the request."""

    text: bytes
    at_s: float


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one request.

    Attributes:
        sent: the JSON body of the request; None for a GET.
        status: 0 if no response began.
        content_type: without its parameters, lower case.
        lines: of the body.
        seconds: from the request to the end of the body.
        broken: why the body is not whole; None if it is.
    """

    sent: Mapping[str, Any] | None
    status: int
    content_type: str
    lines: tuple[Line, ...]
    seconds: float
    broken: str | None = None

    @property
    def body(self) -> bytes:
        """The whole body, with LF as the end of lines."""
        return b"\n".join(line.text for line in self.lines)


class Exchange:
    """A service under test.

    Args:
        client: its base URL is the service's.
        timeout_s: for each whole reply.
    """

    def __init__(self, client: httpx.Client, timeout_s: float) -> None:
        self._client = client
        self._timeout_s = timeout_s

    def get(self, path: str) -> Reply:
        """Return the reply to a GET."""
        return self._exchange("GET", path, None)

    def post(self, path: str, body: Mapping[str, Any]) -> Reply:
        """Return the reply to a POST of JSON."""
        return self._exchange("POST", path, body)

    def _exchange(self, method: str, path: str, sent: Mapping[str, Any] | None) -> Reply:
        begun = time.monotonic()
        lines: list[Line] = []
        status, content_type, broken = 0, "", None
        try:
            with self._client.stream(method, path, json=sent, timeout=self._timeout_s) as response:
                status = response.status_code
                content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
                lines.extend(_lines(self._in_time(response.iter_bytes(), begun), begun))
        except _NotWholeError as error:
            broken = str(error)
        except httpx.HTTPError as error:
            broken = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return Reply(sent, status, content_type, tuple(lines), time.monotonic() - begun, broken)

    def _in_time(self, chunks: Iterable[bytes], begun: float) -> Iterator[bytes]:
        size = 0
        for chunk in chunks:
            size += len(chunk)
            if size > MAX_STREAM_BYTES:
                raise _NotWholeError(f"the body is larger than {MAX_STREAM_BYTES} bytes")
            yield chunk
            if time.monotonic() - begun > self._timeout_s:
                raise _NotWholeError(f"the body had not ended after {self._timeout_s:g} s")


class _NotWholeError(Exception):
    """Reading was given up."""


def _lines(chunks: Iterable[bytes], begun: float) -> Iterator[Line]:
    """Split at LF and drop a CR before it, as server-sent events are read."""
    rest: list[bytes] = []
    for chunk in chunks:
        *whole, last = chunk.split(b"\n")
        for piece in whole:
            yield Line(b"".join([*rest, piece]).removesuffix(b"\r"), time.monotonic() - begun)
            rest.clear()
        rest.append(last)
    if any(rest):
        yield Line(b"".join(rest), time.monotonic() - begun)
