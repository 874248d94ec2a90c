"""Clients that send half of something, or take nothing: whom the service cuts off, when, and whom not."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import MagicMock

import pytest
import uvicorn
from uvicorn.server import ServerState

from api import connections
from api.connections import BODY_S, HEADERS_S, MAX_OWING_PER_ADDRESS, READER_S, STOPPING_S, TimedProtocol
from api.server import private_options, uvicorn_options
from settings import ServeSettings

HEAD = b"POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
WHOLE = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"


@dataclass
class Timer:
    at_s: float
    act: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


class Loop:
    """An event loop whose time passes when a test says so; it runs no tasks."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.timers: list[Timer] = []

    def time(self) -> float:
        return self.now_s

    def call_at(self, at_s: float, act: Callable[[], None]) -> Timer:
        self.timers.append(Timer(at_s, act))
        return self.timers[-1]

    def call_later(self, after_s: float, act: Callable[[], None]) -> Timer:
        return self.call_at(self.now_s + after_s, act)

    def create_task(self, work: Coroutine[Any, Any, None]) -> MagicMock:
        work.close()
        return MagicMock()

    def passes(self, seconds: float) -> None:
        until_s = self.now_s + seconds
        while due := sorted((one for one in self.timers if one.at_s <= until_s), key=lambda one: one.at_s):
            self.timers.remove(due[0])
            self.now_s = max(self.now_s, due[0].at_s)
            if not due[0].cancelled:
                due[0].act()
        self.now_s = until_s


@dataclass
class Transport:
    host: str
    untaken_bytes: int = 0
    closed: bool = False
    written: list[bytes] = field(default_factory=list)

    def get_extra_info(self, name: str) -> Any:
        return (self.host, 5) if name in {"peername", "sockname"} else None

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    abort = close

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def get_write_buffer_size(self) -> int:
        return self.untaken_bytes

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


class Server:
    """Makes connections of one server."""

    def __init__(self, **options: Any) -> None:
        self.loop = Loop()
        self._state = ServerState()
        self._config = uvicorn.Config(lambda *_: None, **{"lifespan": "off", "log_config": None, **options})

    def connect(self, host: str = "10.0.0.1") -> tuple[TimedProtocol, Transport]:
        transport = Transport(host)
        made = TimedProtocol(self._config, self._state, {}, _loop=self.loop)  # type: ignore[arg-type]
        made.connection_made(transport)  # type: ignore[arg-type]
        return made, transport


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.mark.fault("B7")
@pytest.mark.parametrize("sent", [b"", b"GET /health HTTP/1.1\r\nHost:"])
def test_headers_have_to_come_in_time_however_they_drip(server: Server, sent: bytes) -> None:
    client, transport = server.connect()
    if sent:
        client.data_received(sent)
    for _ in range(int(HEADERS_S) - 1):
        server.loop.passes(1)
        if sent:
            client.data_received(b" ")
    assert not transport.closed

    server.loop.passes(1.1)

    assert transport.closed


@pytest.mark.fault("B5")
def test_a_body_may_be_silent_for_a_while_and_no_longer(server: Server) -> None:
    client, transport = server.connect()
    client.data_received(HEAD)
    server.loop.passes(BODY_S - 1)
    client.data_received(b"x" * 50_000)
    server.loop.passes(BODY_S - 1)
    assert not transport.closed

    server.loop.passes(1.1)

    assert transport.closed


@pytest.mark.fault("B5")
def test_single_bytes_keep_no_body_alive(server: Server) -> None:
    client, transport = server.connect()
    client.data_received(HEAD)
    for _ in range(int(BODY_S) + 1):
        server.loop.passes(1)
        if not transport.closed:
            client.data_received(b"x")

    assert transport.closed


def test_a_body_that_the_service_does_not_take_yet_is_not_late(server: Server) -> None:
    client, transport = server.connect()
    client.data_received(HEAD)
    client.data_received(b"x" * 70_000)
    assert client.flow.read_paused

    server.loop.passes(10 * BODY_S)

    assert not transport.closed


def test_a_client_that_waits_for_a_word_before_its_body_is_not_late(server: Server) -> None:
    client, transport = server.connect()
    client.data_received(HEAD.replace(b"Host: x", b"Host: x\r\nExpect: 100-continue"))

    server.loop.passes(10 * BODY_S)

    assert not transport.closed


def test_an_answer_may_take_its_time(server: Server) -> None:
    client, transport = server.connect()
    client.data_received(WHOLE)

    server.loop.passes(3600)

    assert not transport.closed


def test_a_service_that_stops_waits_for_no_stalled_body(server: Server) -> None:
    client, transport = server.connect()
    client.data_received(HEAD)
    client.shutdown()
    server.loop.passes(STOPPING_S - 1)
    assert not transport.closed

    server.loop.passes(1.1)

    assert transport.closed


@pytest.mark.fault("B5")
def test_a_reader_that_takes_nothing_is_cut_off_and_a_slow_one_is_not(server: Server) -> None:
    (still, still_line), (slow, slow_line) = server.connect(), server.connect()
    for client, transport in ((still, still_line), (slow, slow_line)):
        client.data_received(WHOLE)
        transport.untaken_bytes = 20_000_000
        client.pause_writing()
    for _ in range(4):
        slow_line.untaken_bytes -= 100_000
        server.loop.passes(READER_S)

    assert still_line.closed
    assert not slow_line.closed


@pytest.mark.fault("B7")
def test_one_too_many_of_an_address_costs_its_most_silent_one_the_connection(server: Server) -> None:
    answered = server.connect()
    answered[0].data_received(WHOLE)
    elsewhere = server.connect("10.0.0.2")
    server.loop.passes(1)
    first, second = server.connect(), server.connect()
    server.loop.passes(1)
    first[0].data_received(b"GET /")
    rest = [server.connect() for _ in range(MAX_OWING_PER_ADDRESS - 2)]
    assert not any(line.closed for _, line in (answered, elsewhere, first, second, *rest))

    newcomer = server.connect()

    assert second[1].closed
    assert not any(line.closed for _, line in (answered, elsewhere, first, newcomer, *rest))


@pytest.mark.parametrize("options", [uvicorn_options(ServeSettings(proxies="10.0.0.0/24")), private_options()])
def test_a_proxy_speaks_for_more_clients_than_an_address_has(options: dict[str, Any]) -> None:
    server = Server(**options)
    host = "127.0.0.1" if options == private_options() else "10.0.0.7"

    made = [server.connect(host)[1] for _ in range(MAX_OWING_PER_ADDRESS + 1)]
    others = [server.connect("10.1.1.1")[1] for _ in range(MAX_OWING_PER_ADDRESS + 1)]

    assert not any(one.closed for one in made)
    assert sum(one.closed for one in others) == 1


def test_so_it_is_with_one_too_many_of_all(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "max_owing", lambda: 3)
    lines = []
    for last in range(4):
        lines.append(server.connect(f"10.0.0.{last}")[1])
        server.loop.passes(1)

    assert [line.closed for line in lines] == [True, False, False, False]
