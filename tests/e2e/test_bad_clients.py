"""What a real socket can do that an in-process client cannot."""

import socket
from urllib.parse import urlsplit

import httpx
import pytest

from tests.e2e.program import Program

JSON_TYPE = {"content-type": "application/json"}


@pytest.mark.fault("D2")
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{", 422),
        (b'{"question": "\\ud800"}', 422),
        (b'{"question": NaN}', 422),
        (b'{"question": "\\u0000"}', 422),
        (b'{"question": "\xff"}', 422),
        (b"[" * 100_000, 422),
        (b'{"question": "' + b"a" * 1_500_000 + b'"}', 413),
    ],
    ids=["empty", "cut", "half a surrogate pair", "NaN", "NUL", "not UTF-8", "deep", "1.5 MB"],
)
def test_a_bad_body_is_refused_in_few_words(service: Program, body: bytes, status: int) -> None:
    reply = httpx.post(f"{service.url}/run", content=body, headers=JSON_TYPE)

    assert reply.status_code == status
    assert len(reply.content) < 1000
    assert set(reply.json()) >= {"code", "error"}


@pytest.mark.fault("E4")
@pytest.mark.parametrize("host", ["[", "evil.example/x?", "a b", ""])
def test_a_malformed_host_header_makes_no_server_error(service: Program, host: str) -> None:
    address = urlsplit(service.url)
    body = b'{"query": "What is the Betz limit?", "iid": "1"}'
    head = (
        f"POST /evaluate HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=30) as client:
        client.sendall(head.encode() + body)
        status = client.makefile("rb").readline()

    assert b" 200 " in status or b" 4" in status
