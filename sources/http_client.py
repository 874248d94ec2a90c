"""Ask a search service over HTTP for JSON: bounded in time and bytes, and stopped when the client leaves.

Flow: `organisers.py`, `meilisearch.py`, `mosaic.py` -> **here** -> the service named in the settings, and no other
address: redirects are not followed. Every failure becomes a `SourceError` with a distinct code.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from errors import SourceError
from loopback import may_use_proxy
from query_engine.runtime.deadline import Deadline
from sources.tries import TIMEOUT_S, PassingError, try_often

# A hundred pages of a million characters.
MAX_REPLY_BYTES = 100_000_000
# How soon a request is given up when the client has left.
POLL_S = 0.1
MAX_SHOWN_CHARS = 200


@dataclass(frozen=True, slots=True)
class JsonClient:
    """A search service. Safe to use from several threads at once.

    Attributes:
        source: its name, for messages.
        base_url: the service's address, before the path of a request.
        headers: sent with each request; they may hold the key.
    """

    source: str
    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def get(self, path: str, params: Mapping[str, str], deadline: Deadline) -> Any:
        """Return the JSON reply to a GET; blocks.

        Raises:
            SourceError: the service cannot be reached, refuses, fails or replies with something else.
            OutOfTimeError: the client has left, or the time was over before the first try.
        """
        return self._ask("GET", path, deadline, params=params)

    def post(self, path: str, body: Mapping[str, Any], deadline: Deadline) -> Any:
        """Return the JSON reply to a POST of JSON; see `get`."""
        return self._ask("POST", path, deadline, json=body)

    def _ask(self, method: str, path: str, deadline: Deadline, **request: Any) -> Any:
        url = f"{self.base_url.rstrip('/')}{path}"
        return try_often(lambda: asyncio.run(self._while_wanted(method, url, deadline, request)), deadline)

    async def _while_wanted(self, method: str, url: str, deadline: Deadline, request: Mapping[str, Any]) -> Any:
        """Try once; only an asynchronous request can be given up while it waits."""
        trying = asyncio.ensure_future(self._once(method, url, min(TIMEOUT_S, deadline.left_s()), request))
        try:
            while not trying.done():
                deadline.check_wanted(f"while the source {self.source!r} was asked")
                await asyncio.wait({trying}, timeout=POLL_S)
            return trying.result()
        finally:
            trying.cancel()

    async def _once(self, method: str, url: str, timeout_s: float, request: Mapping[str, Any]) -> Any:
        try:
            async with (
                asyncio.timeout(timeout_s),
                httpx.AsyncClient(
                    timeout=timeout_s, headers=dict(self.headers), trust_env=may_use_proxy(url), follow_redirects=False
                ) as client,
                client.stream(method, url, **request) as reply,
            ):
                body = await self._read(reply)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise self._passing(f"did not answer within {timeout_s:.3g} s", "source_slow") from error
        except httpx.ConnectError as error:
            raise self._passing("cannot be reached", "source_unreachable") from error
        except httpx.TransportError as error:
            raise self._passing("ended its reply in the middle", "source_cut") from error
        except httpx.InvalidURL as error:
            raise self._error("has an address that cannot be asked", "source_unreachable") from error
        self._check_status(reply, body)
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise self._passing("sent a reply that is not JSON", "source_bad_reply") from error

    async def _read(self, reply: httpx.Response) -> bytes:
        body = bytearray()
        async for part in reply.aiter_bytes():
            body += part
            if len(body) > MAX_REPLY_BYTES:
                raise self._error(f"sent more than {MAX_REPLY_BYTES // 1_000_000} MB", "source_too_large")
        return bytes(body)

    def _check_status(self, reply: httpx.Response, body: bytes) -> None:
        status = reply.status_code
        if status == 200:
            return
        if status in {401, 403}:
            # The service's own words may repeat the key.
            raise SourceError(
                f"The source {self.source!r} refused the key (HTTP {status}).",
                f"Set RAG_SOURCES__{self.source.upper()}_KEY to a key that it takes.",
                "source_key_refused",
            )
        if status == 429:
            asked = reply.headers.get("retry-after", "")
            raise self._passing(
                "takes no more requests for now (HTTP 429)",
                "source_busy",
                float(asked) if asked.isascii() and asked.isdecimal() else 0.0,
            )
        if status >= 500:
            raise self._passing(f"failed (HTTP {status})", "source_server_error")
        if status in {400, 422}:
            said = " ".join(body[: 4 * MAX_SHOWN_CHARS].decode(errors="replace").split())[:MAX_SHOWN_CHARS]
            raise self._error(f"rejected the query (HTTP {status}): {said}", "source_rejected")
        raise self._error(f"has nothing to search at this address (HTTP {status})", "source_not_found")

    def _error(self, fact: str, code: str) -> SourceError:
        return SourceError(
            f"The source {self.source!r} {fact.rstrip('.')}.",
            f"Check RAG_SOURCES__{self.source.upper()}_URL and the service behind it.",
            code,
        )

    def _passing(self, fact: str, code: str, wait_s: float = 0.0) -> PassingError:
        return PassingError(self._error(fact, code), wait_s)
