"""Crowds of clients that leave, wait or say nothing: others are answered, and nothing of them stays behind."""

import asyncio
import random
import socket
import struct
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from tests.e2e.program import Program
from tests.e2e.test_workers import eventually
from tests.servers.proxy import reverse_proxy

SCRIPTED = str(Path(__file__).parent / "scripted_service.py")
Record = Callable[[str, object], None]
BODY = b'{"question": "What?"}'
ASKED = b"POST /run HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
    len(BODY),
    BODY,
)
CLIENTS = 200
WARM_UP, REQUESTS = 1000, 5000
WAITING = 1000
MB = 1_000_000
# Of an allocator that has not settled yet; 5,000 requests that each kept a kilobyte would cost as much.
MAX_GROWTH_MB = 32  # what each client left would be a multiple: the allocator keeps some pages for itself
TIMEOUT_S = 60

pytestmark = pytest.mark.slow


class Crowded(Program):
    """A service of slow answers, seen from outside."""

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.url)
        return parts.hostname or "", parts.port or 0

    def questions(self) -> dict[str, int]:
        found: dict[str, int] = self.get("/ready")["questions"]
        return found

    def get(self, path: str) -> dict[str, Any]:
        return dict(httpx.get(self.url + path, timeout=TIMEOUT_S).json())

    def idle(self) -> bool:
        return self.questions() == {"running": 0, "waiting": 0}

    def process(self) -> psutil.Process:
        return psutil.Process(self._process.pid)


async def come_and_go(address: tuple[str, int], requests: int, chance: random.Random) -> None:
    """Ask with 200 clients at a time; each leaves after up to half a second, every second one by a reset."""
    left = iter(range(requests))

    async def client() -> None:
        for number in left:
            reader, writer = await asyncio.open_connection(*address)
            if number % 2:
                resets = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, resets)
            writer.write(ASKED)
            try:
                async with asyncio.timeout(chance.uniform(0, 0.5)):
                    while await reader.read(65_536):
                        pass
            except (TimeoutError, ConnectionError):
                pass
            writer.transport.abort() if number % 2 else writer.close()

    await asyncio.gather(*(client() for _ in range(CLIENTS)))


@pytest.mark.fault("B14", "B2", "B4")
@pytest.mark.timeout(1200)
def test_clients_that_leave_at_random_moments_leave_nothing_behind(tmp_path: Path, record_property: Record) -> None:
    chance = random.Random(7)
    with Crowded([SCRIPTED, "--seconds", "0.2", "--slots", "8", "--queue", "64"], {}, tmp_path) as program:
        seen = []
        for requests in (WARM_UP, REQUESTS):
            asyncio.run(come_and_go(program.address, requests, chance))
            eventually(program.idle)
            eventually(lambda: len(program.process().net_connections()) <= 2)  # it listens, and is asked for this
            process = program.process()
            seen.append((process.num_threads(), process.num_fds(), process.memory_info().rss))
        answered = httpx.post(f"{program.url}/run", json={"question": "What?"}, timeout=TIMEOUT_S)

    (threads, descriptors, memory), (threads_after, descriptors_after, memory_after) = seen
    assert answered.text.count('"complete":true') == 1
    assert threads_after <= threads
    assert descriptors_after <= descriptors
    assert memory_after - memory < MAX_GROWTH_MB * MB
    record_property(
        "figure",
        f"{REQUESTS:,} requests of {CLIENTS} clients: 0 slots, {threads_after - threads} threads, "
        f"{descriptors_after - descriptors} descriptors and {(memory_after - memory) / MB:.1f} MB more than before",
    )


@pytest.mark.fault("B6")
@pytest.mark.timeout(300)
def test_a_thousand_clients_wait_and_others_are_answered(tmp_path: Path, record_property: Record) -> None:
    with Crowded([SCRIPTED, "--seconds", "600", "--slots", "2", "--queue", str(WAITING)], {}, tmp_path) as program:
        program.get("/ready")
        before, memory = program.process().num_fds(), program.process().memory_info().rss
        with ExitStack() as crowd:
            for _ in range(WAITING):
                client = crowd.enter_context(socket.create_connection(program.address, timeout=TIMEOUT_S))
                client.sendall(ASKED)
                client.recv(1)
            eventually(lambda: program.questions() == {"running": 2, "waiting": WAITING - 2})
            each_kb = (program.process().memory_info().rss - memory) / WAITING / 1000
            assert program.get("/health")["status"]
        eventually(program.idle)
        eventually(lambda: program.process().num_fds() <= before)

    assert each_kb < 200
    record_property("figure", f"{WAITING:,} clients, {each_kb:.0f} kB each; 0 descriptors and slots kept")


@pytest.mark.fault("B7")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("sent", [b"", b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: "], ids=["silent", "half"])
def test_a_thousand_connections_that_owe_their_headers_shut_nobody_out(
    tmp_path: Path, record_property: Record, sent: bytes
) -> None:
    with Crowded([SCRIPTED], {}, tmp_path) as program, ExitStack() as crowd:
        url = crowd.enter_context(reverse_proxy(tmp_path, [program.address[1]]))
        proxy = urlsplit(url)
        for _ in range(WAITING):
            client = socket.create_connection((proxy.hostname or "", proxy.port or 0), timeout=TIMEOUT_S)
            crowd.enter_context(client).sendall(sent)
        assert httpx.get(f"{url}/health", timeout=TIMEOUT_S).is_success
        kept = len(program.process().net_connections())

    assert kept < WAITING / 100
    record_property("figure", f"of {WAITING:,} connections {kept} reach the service; a new client is answered")


@pytest.mark.fault("B8")
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ", b"a" * 16_384),
        (b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"X-Many: 1\r\n" * 1000),
        (
            b"POST /run HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n",
            b"4000\r\n" + b" " * 0x4000 + b"\r\n",
        ),
    ],
    ids=["one header", "many headers", "a body in pieces"],
)
def test_what_has_no_end_is_cut_off_and_costs_no_memory(
    tmp_path: Path, record_property: Record, head: bytes, piece: bytes
) -> None:
    with Crowded([SCRIPTED], {}, tmp_path) as program:
        program.get("/health")
        memory = program.process().memory_info().rss
        sent = 0
        for _ in range(8):
            with socket.create_connection(program.address, timeout=TIMEOUT_S) as client:
                client.sendall(head)
                try:
                    for _ in range(640):  # 10 MB
                        client.sendall(piece)
                        sent += len(piece)
                    reply = client.recv(1000)
                except ConnectionError:
                    reply = b""
            assert reply == b"" or reply.startswith(b"HTTP/1.1 4")
        growth_mb = (program.process().memory_info().rss - memory) / MB
        assert program.get("/health")["status"]

    assert growth_mb < 15
    record_property("figure", f"{sent / MB:.0f} MB sent before the cuts: {growth_mb:.1f} MB of memory")
