"""Hand the calls of a client on stdio to the service that holds the corpus: one process at a time may open it.

Flow: `treeline mcp` -> **here** -> the service's `/mcp`, by the SDK's own client. Each call opens a new connection, so
that it finds a restarted service. A call that is cancelled here is cancelled there.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.types import (
    INTERNAL_ERROR,
    CallToolRequestParams,
    CallToolResult,
    PaginatedRequestParams,
    TextContent,
)

from api.mcp.server import INSTRUCTIONS, NAME
from errors import RagError
from settings import VERSION

Listed = TypeVar("Listed")
CONNECT_S = 10.0
# What a refusal or a lost connection raises: one of these, or a group of them from the SDK's tasks.
_FAILURES = (MCPError, httpx2.HTTPError, OSError)


class BridgeError(RagError):
    """The service that holds the corpus refuses, or does not answer."""

    code = "service_error"


def build_bridge(url: str, headers: Mapping[str, str], timeout_s: float) -> Server[Any]:
    """Return a server whose tools are those of the service at `url`.

    Args:
        url: base address of the service, as the corpus's lock names it.
        headers: sent with every request: the key, if the service asks for one.
        timeout_s: longest silence of the service within one call.
    """

    def lists(listed: Callable[..., Awaitable[Listed]]) -> Callable[..., Awaitable[Listed]]:
        async def ask(_: ServerRequestContext[Any], params: PaginatedRequestParams | None) -> Listed:
            try:
                async with _connected(url, headers, timeout_s) as client:
                    return await listed(client, cursor=params.cursor if params else None)
            except BridgeError as error:
                raise MCPError(INTERNAL_ERROR, str(error)) from error

        return ask

    async def call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        try:
            async with _connected(url, headers, timeout_s) as client:
                return await client.call_tool(
                    params.name, params.arguments, progress_callback=context.session.report_progress
                )
        except BridgeError as error:
            return CallToolResult(content=[TextContent(text=str(error))], is_error=True)

    return Server(
        NAME,
        title="Treeline",
        version=VERSION,
        instructions=INSTRUCTIONS,
        on_list_tools=lists(Client.list_tools),
        on_list_resources=lists(Client.list_resources),
        on_list_resource_templates=lists(Client.list_resource_templates),
        on_list_prompts=lists(Client.list_prompts),
        on_call_tool=call_tool,
    )


async def run_on_stdio(bridge: Server[Any]) -> None:
    """Serve one client until its input ends; calls that run then are cancelled."""
    async with stdio_server() as (incoming, outgoing):
        await bridge.run(incoming, outgoing, bridge.create_initialization_options())


@asynccontextmanager
async def _connected(url: str, headers: Mapping[str, str], timeout_s: float) -> AsyncIterator[Client]:
    refusals: list[str] = []

    async def note(response: httpx2.Response) -> None:
        if response.is_error:
            refusals.append(_detail(response.status_code, await response.aread()))

    http = httpx2.AsyncClient(
        headers=dict(headers),
        timeout=httpx2.Timeout(CONNECT_S, read=timeout_s),
        # Not through a proxy: the service is on this machine.
        trust_env=False,
        event_hooks={"response": [note]},
    )
    try:
        async with http, Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client:
            yield client
    except (*_FAILURES, ExceptionGroup) as error:
        # Not `except*`: Python 3.11.2 wraps what is raised there in a group if the SDK raised one.
        if isinstance(error, ExceptionGroup) and error.split(_FAILURES)[1]:
            raise
        if refusals:
            raise BridgeError(
                f"The service at {url}, which holds the corpus, refuses: {refusals[-1]}.",
                "Run this command with the service's RAG_SERVE__KEYS; RAG_MCP__ENABLED must be true there.",
            ) from None
        raise BridgeError(
            f"The service at {url}, which holds the corpus, did not answer: {_innermost(error)}.",
            "Start it again if it has stopped; otherwise see its log.",
        ) from None


def _innermost(error: BaseException) -> BaseException:
    return _innermost(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def _detail(status: int, body: bytes) -> str:
    try:
        return str(json.loads(body)["error"]["detail"]).rstrip(".")
    except (ValueError, LookupError, TypeError):
        return f"HTTP status {status}"
