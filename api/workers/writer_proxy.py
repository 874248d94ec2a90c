"""Send on to the process that writes what a reader does not do: ingestions, deletions, jobs, tasks.

Flow: server -> keys, hosts and sizes -> **here** -> this process's routes, or the writer's and back, where they are
checked again. Where no writer is known, such a request is refused.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from api.errors import send_error
from api.telemetry.middleware import HANDED_OVER, HEADER, REQUEST_ID
from errors import CorpusError, RagError
from loopback import may_use_proxy

# Jobs and tasks live in one process; documents are written by one.
ALWAYS = re.compile(r"/(ingest|task|pipeline)(/.*)?")
WRITES = re.compile(r"/(documents|corpora)(/.*)?")
# Of one connection only, see RFC 9110; the server writes its own.
HOP_BY_HOP = frozenset(
    (b"connection", b"keep-alive", b"te", b"trailer", b"transfer-encoding", b"upgrade", b"date", b"proxy-connection")
)
# What this process knows, and the writer believes: the client's own word stays here.
TOLD = frozenset((HEADER.lower().encode(), b"x-forwarded-for", b"x-forwarded-proto"))
# A reply may take as long as an ingestion.
TIMEOUT = httpx.Timeout(None, connect=10)
# Idle connections are dropped before the writer's server does so, after 5 s.
LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=2)


class WriterProxy:
    """ASGI middleware of a process that only reads.

    Args:
        app: what stands behind it.
        writer_url: of the process that writes; None if it is not known.
    """

    def __init__(self, app: ASGIApp, writer_url: str | None) -> None:
        self._app = app
        self._client = writer_url and httpx.AsyncClient(
            base_url=writer_url,
            timeout=TIMEOUT,
            limits=LIMITS,
            trust_env=may_use_proxy(writer_url),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),  # one client's are not for the next
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the routes, or to the writer."""
        if scope["type"] == "lifespan" and self._client:
            async with self._client:
                await self._app(scope, receive, send)
            return
        if scope["type"] != "http" or not self._is_for_writer(scope["method"], scope["path"]):
            await self._app(scope, receive, send)
            return
        try:
            if not self._client:
                raise CorpusError(
                    "This service only reads: it takes no documents, jobs and tasks.",
                    "Ask the one that runs with RAG_SERVE__ROLE=writer, or set RAG_SERVE__WRITER_URL to its address.",
                    "read_only",
                )
            await _hand_over(self._client, scope, receive, send)
        except (RagError, HTTPException) as error:  # the latter is `BodyLimit`'s
            await send_error(error, scope, receive, send)

    def _is_for_writer(self, method: str, path: str) -> bool:
        if method != "GET" and WRITES.fullmatch(path):
            return True
        return bool(ALWAYS.fullmatch(path))


async def _hand_over(client: httpx.AsyncClient, scope: Scope, receive: Receive, send: Send) -> None:
    headers = [(name, value) for name, value in scope["headers"] if name.lower() not in HOP_BY_HOP | TOLD]
    headers += [(b"x-request-id", scope[REQUEST_ID].encode()), (b"x-forwarded-proto", scope["scheme"].encode())]
    if scope.get("client"):
        headers.append((b"x-forwarded-for", scope["client"][0].encode()))
    taken = asyncio.Event()  # the whole body: what comes then is the client's end
    has_body = any(name.lower() in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])
    if not has_body:
        taken.set()
    path = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
    request = client.build_request(
        scope["method"],
        client.base_url.copy_with(raw_path=client.base_url.raw_path.rstrip(b"/") + path),
        headers=headers,
        content=_body(receive, taken) if has_body else None,
    )
    leaving = asyncio.ensure_future(_left(receive, taken))
    sending = asyncio.ensure_future(client.send(request, stream=True))
    try:
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not sending.done():
            return
        taken.set()  # a writer that refuses a body replies before its end
        await _reply(scope, await sending, send, leaving)
    except httpx.TransportError as error:
        raise CorpusError(
            f"The process that writes did not answer: {str(error) or type(error).__name__}.",
            "Ask again in some seconds: it is replaced when it ends. What it had committed stays.",
            "writer_unavailable",
        ) from error
    except ClientDisconnect:
        return
    finally:
        leaving.cancel()
        sending.cancel()
        await asyncio.wait({leaving, sending})


async def _reply(scope: Scope, reply: httpx.Response, send: Send, leaving: asyncio.Future[None]) -> None:
    try:
        scope[HANDED_OVER] = True
        kept = [(name, value) for name, value in reply.headers.raw if name.lower() not in HOP_BY_HOP]
        await send({"type": "http.response.start", "status": reply.status_code, "headers": kept})
        async for chunk in reply.aiter_raw():
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
            if leaving.done():
                return
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    except httpx.TransportError:
        return  # without an end: the server cuts the reply, as the writer's was
    finally:
        await reply.aclose()


async def _body(receive: Receive, taken: asyncio.Event) -> AsyncIterator[bytes]:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        yield message.get("body", b"")
        if not message.get("more_body", False):
            taken.set()
            return


async def _left(receive: Receive, taken: asyncio.Event) -> None:
    await taken.wait()
    while (await receive())["type"] != "http.disconnect":
        pass
