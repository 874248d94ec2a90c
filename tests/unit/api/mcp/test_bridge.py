"""The bridge to a service: what it says when the service refuses or is gone, however the SDK raises it."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import INTERNAL_ERROR

from api.mcp import bridge

GONE = "The service at http://127.0.0.1:1, which holds the corpus, did not answer: reset. Start it again"


def raising(error: Exception) -> Any:
    @asynccontextmanager
    async def connect(*_: object) -> AsyncIterator[Client]:
        raise error
        yield

    return connect


@pytest.mark.parametrize(
    "error",
    [
        OSError("reset"),
        ExceptionGroup("tasks", [OSError("reset")]),
        ExceptionGroup("tasks", [ExceptionGroup("tasks", [MCPError(INTERNAL_ERROR, "reset")])]),
    ],
)
async def test_a_lost_connection_is_a_tools_error(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Client(bridge.build_bridge("http://127.0.0.1:1", {}, 1.0)) as client:
        monkeypatch.setattr(bridge, "Client", raising(error))
        lost = await client.call_tool("ask", {"question": "Who?"})

    assert lost.is_error
    assert GONE in str(lost.content)


async def test_a_fault_of_ours_is_not_taken_for_a_lost_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Client(bridge.build_bridge("http://127.0.0.1:1", {}, 1.0)) as client:
        monkeypatch.setattr(bridge, "Client", raising(ExceptionGroup("tasks", [OSError("reset"), ValueError("ours")])))
        with pytest.raises(Exception) as caught:  # noqa: PT011  # the SDK decides how it tells of a server's fault
            await client.call_tool("ask", {"question": "Who?"})

    assert "did not answer" not in str(caught.value)


async def test_a_port_without_a_service_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    async with Client(bridge.build_bridge(url, {}, 1.0)) as client:
        lost = await client.call_tool("ask", {"question": "Who?"})

    assert lost.is_error
    assert f"The service at {url}, which holds the corpus, did not answer" in str(lost.content)
