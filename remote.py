"""Ask a server of another program over HTTP: one client, one table of failures with their remedies, one way to retry.

Flow: embeddings, rerankers, the judge and the search services send their requests by **this**; language models, whose
replies are streams, have their failures named here. A failure is a `RemoteError`; the caller makes its own class of it.

Only the address of the settings is asked: redirects are not followed, and no proxy stands before this machine.
"""

import asyncio
import json
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import httpx
from tenacity import RetryCallState, retry_if_exception, wait_exponential_jitter

from errors import ModelError, ModelServerError
from loopback import may_use_proxy

Kind = Literal[
    "bad_reply",
    "busy",
    "cut",
    "key_refused",
    "not_found",
    "rejected",
    "server_error",
    "slow",
    "too_large",
    "unavailable",
    "unreachable",
]
# What may be over at the next try.
PASSING = frozenset({"busy", "cut", "server_error", "slow", "unavailable", "unreachable"})
# The first pause before another try; each further one is twice as long.
PAUSE_S = 0.5
# How soon a request is given up that nobody waits for any more.
CHECK_S = 0.1
MAX_REPLY_BYTES = 100_000_000
SHOWN_CHARS = 200

T = TypeVar("T")


class RemoteError(Exception):
    """A server gave no usable reply. It reaches no edge: the caller makes a `RagError` of its own of it.

    Attributes:
        fact, remedy: as of `RagError`.
        kind: which of the ways to fail this is.
        passing: a later try may succeed.
        said: the server's own words; empty if it had none.
        pause_s: how long it asks to wait before the next try; 0 if it does not.
    """

    def __init__(self, fact: str, remedy: str, kind: Kind, *, passing: bool | None = None) -> None:
        super().__init__(f"{fact} {remedy}")
        self.fact, self.remedy, self.kind = fact, remedy, kind
        self.passing = kind in PASSING if passing is None else passing
        self.said = ""
        self.pause_s = 0.0

    def of_model(self) -> ModelError:
        """Return it as the failure of a model."""
        return (ModelServerError if self.passing else ModelError)(self.fact, self.remedy)


@dataclass(frozen=True, slots=True)
class Remote:
    """One server, and how its failures name it.

    Attributes:
        name: what it is, for example `embedding server`.
        url: its base URL.
        url_setting: names the URL.
        key_setting: names the key.
        limits: settings that a request may be too large or too slow by.
        key: its API key, which no error shows; empty if it has none.
        key_header: carries the key; `authorization` does so as a bearer's.
    """

    name: str
    url: str
    url_setting: str
    key_setting: str
    limits: str = ""
    key: str = field(default="", repr=False)
    key_header: str = "authorization"

    @classmethod
    def of_model(cls, name: str, url: str, prefix: str, limits: str, key: str) -> "Remote":
        """Return the server of a model, whose settings begin with `prefix`; `limits` are the rest of their names."""
        names = ", ".join(f"{prefix}{limit}" for limit in limits.split())
        return cls(name, url.rstrip("/"), f"{prefix}BASE_URL", f"{prefix}API_KEY", names, key)

    def client(self, **options: Any) -> httpx.AsyncClient:
        """Return a client that shows the key; `options` are httpx's."""
        key = f"Bearer {self.key}" if self.key_header == "authorization" else self.key
        return httpx.AsyncClient(
            headers={self.key_header.encode(): key.encode()} if self.key else None,
            trust_env=may_use_proxy(self.url),
            verify=self.url.startswith("https"),  # loading certificates takes longer than many a reply
            **options,
        )

    async def send(
        self,
        client: httpx.AsyncClient,
        method: str,
        path: str,
        *,
        limit_s: float,
        most_bytes: int | None = None,
        **request: Any,
    ) -> bytes:
        """Return the body of the reply to one request.

        Args:
            client: of `client`.
            method: GET or POST.
            path: below `url`.
            limit_s: seconds until the whole reply must be there.
            most_bytes: length of a reply; `MAX_REPLY_BYTES` if None.
            request: httpx's description of what is sent.

        Raises:
            RemoteError: it cannot be reached, refuses, or does not reply in time or in full.
        """
        body = bytearray()
        try:
            # The client's own limits are for each read: a server that drips would never reach them.
            async with asyncio.timeout(limit_s), client.stream(method, f"{self.url}{path}", **request) as reply:
                async for part in reply.aiter_bytes():
                    body += part
                    if len(body) > (most_bytes or MAX_REPLY_BYTES):
                        raise self.error("too_large", f"sent more than {len(body):,} bytes")
        except (TimeoutError, httpx.HTTPError, httpx.InvalidURL) as error:
            raise self.broken(error, limit_s) from error
        if not reply.is_success:
            raise self.refused(reply.status_code, said_in(bytes(body)), reply.headers)
        return bytes(body)

    def broken(self, error: BaseException, limit_s: float) -> RemoteError:
        """Name what a client raised while it connected or read, within `limit_s`."""
        match error:
            case TimeoutError() | httpx.ReadTimeout() | httpx.WriteTimeout() | httpx.PoolTimeout():
                remedy = f"Look whether it is overloaded{f', or change {self.limits}' if self.limits else ''}."
                return self.error("slow", f"did not answer within {limit_s:.3g} s", remedy)
            case httpx.ReadError() | httpx.WriteError() | httpx.CloseError() | httpx.RemoteProtocolError():
                return self.error("cut", "ended its reply in the middle")
            case httpx.DecodingError():
                return self.error("bad_reply", "sent a reply that cannot be decoded")
            case _:
                cause = self._shown(str(error) or type(error).__name__)
                return self.error(
                    "unreachable", f"cannot be reached ({cause})", f"Start it, or correct {self.url_setting}."
                )

    def refused(self, status: int, said: str, headers: Mapping[str, str]) -> RemoteError:
        """Name an error status; `said` are the server's own words, which may repeat the key."""
        shown = self._shown(said)
        code = f"(HTTP {status}){f': {shown}' if shown else ''}"
        if status in {401, 403}:
            error = self.error("key_refused", f"refused the key (HTTP {status})", f"Set {self.key_setting}.")
        elif status < 400 or status in {404, 405, 410}:
            error = self.error("not_found", f"has nothing by this name or address {code}")
        elif status in {408, 409, 425, 429}:
            error = self.error("busy", f"takes no more requests for now {code}", "Wait, or raise the server's limits.")
        elif status == 503:
            error = self.error(
                "unavailable", f"is not available for now {code}", "Wait until it has started, or look at its log."
            )
        elif status >= 500:
            error = self.error("server_error", f"failed {code}", "Look at the server's log, then try again.")
        else:
            error = self.error("rejected", f"rejected the request {code}")
        asked = headers.get("retry-after", "")
        error.said = said
        error.pause_s = float(asked) if asked.isascii() and asked.isdecimal() else 0.0
        return error

    def unusable(self, what: str) -> RemoteError:
        """Name a reply of the right form that cannot be used; `what` the server answered with."""
        return self.error("bad_reply", f"answered with {what}")

    def error(self, kind: Kind, fact: str, remedy: str = "", *, passing: bool | None = None) -> RemoteError:
        """Return a failure.

        Args:
            kind: of it.
            fact: what the server did, to follow its name; without a full stop.
            remedy: where it is another than to check settings and log.
            passing: see `RemoteError`; as its kind usually is if None.
        """
        settings = ", ".join(filter(None, (self.url_setting, self.limits)))
        return RemoteError(
            f"The {self.name} {fact}.", remedy or f"Check {settings}, and the server's log.", kind, passing=passing
        )

    def _shown(self, said: str) -> str:
        if self.key:
            said = said.replace(self.key, "…")
        return " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", said).split())[:SHOWN_CHARS].rstrip(".")


def said_in(body: bytes) -> str:
    """Return the message of an error's body, in any of the forms that servers use; all of it if it has none."""
    try:
        found: Any = json.loads(body)
    except (ValueError, RecursionError):
        return body[: 4 * SHOWN_CHARS].decode(errors="replace")
    for name in ("error", "message", "detail"):
        found = found.get(name, found) if isinstance(found, dict) else found
    return found if isinstance(found, str) else ""


def tried_again(retries: int, most_s: Callable[[], float]) -> dict[str, Any]:
    """Return how tenacity tries again what raises a `RemoteError` that may pass.

    Pauses double, with some chance, so that what failed together does not come back together. A server that asks for a
    longer one gets it.

    Args:
        retries: after the first try.
        most_s: returns the longest pause that there is time for; for a longer one nobody waits.
    """
    doubled = wait_exponential_jitter(PAUSE_S, jitter=PAUSE_S)

    def pause_s(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        return max(error.pause_s if isinstance(error, RemoteError) else 0.0, doubled(state))

    return {
        "retry": retry_if_exception(lambda error: isinstance(error, RemoteError) and error.passing),
        "wait": pause_s,
        "stop": lambda state: state.attempt_number > retries or state.upcoming_sleep > most_s(),
        "reraise": True,
    }


async def while_wanted(work: Coroutine[Any, Any, T], check: Callable[[], object]) -> T:
    """Return what `work` returns; `check` is called several times a second, and what it raises ends the work."""
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            check()
            await asyncio.wait({task}, timeout=CHECK_S)
        return task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def together(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Return what each work returns; the first that fails ends the others, and its error is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]
