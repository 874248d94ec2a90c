"""How the server is set up: whose word about a client's address counts."""

import asyncio
from typing import Any

import pytest
import uvicorn

from api.server import private_options, uvicorn_options
from settings import ServeSettings


async def seen_client(peer: str, options: dict[str, Any]) -> str:
    """Return the client's address as the application sees it when `peer` says that it speaks for 10.9.9.9."""
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG001
        seen.append(scope["client"][0])

    config = uvicorn.Config(app, lifespan="off", **options)
    config.load()
    headers = [(b"x-forwarded-for", b"10.9.9.9")]
    await config.loaded_app({"type": "http", "client": (peer, 5), "headers": headers}, None, None)
    return seen[0]


@pytest.mark.parametrize(
    ("peer", "proxies", "seen"),
    [
        ("127.0.0.1", None, "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1", "10.9.9.9"),
        ("127.0.0.1", "10.0.0.0/8", "127.0.0.1"),
        ("10.1.2.3", "192.168.0.1,10.0.0.0/8", "10.9.9.9"),
    ],
)
def test_only_a_proxy_of_the_settings_speaks_for_others(
    peer: str, proxies: str | None, seen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")

    assert asyncio.run(seen_client(peer, uvicorn_options(ServeSettings(proxies=proxies)))) == seen


def test_a_worker_speaks_for_its_clients() -> None:
    assert asyncio.run(seen_client("127.0.0.1", private_options())) == "10.9.9.9"
