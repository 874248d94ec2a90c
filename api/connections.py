"""Cut off clients that owe the service something and do not send or take it: headers, a body, a reply.

Flow: uvicorn accepts a connection -> **here**, around its protocol for HTTP/1.1 -> the application. uvicorn closes idle
connections between two requests, and nothing else: half a header would keep its file descriptor for ever, and a
process has few of them.

Connections whose client owes something are bounded in number, by address and in all. One too many does not keep the
newcomer out, who may be honest: it costs the one that has been silent longest its connection. Proxies of the settings,
and workers that hand over, speak for many clients: only the bound of all holds for them.
"""

import asyncio
import resource
from collections.abc import Iterable

import h11
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS_S = 15.0
"""For the headers of a request, from the end of the request before."""
BODY_S = 20.0
"""Longest pause within a body."""
READER_S = 30.0
"""Longest time in which a client reads nothing of its reply."""
STOPPING_S = 5.0
"""The same for bodies once the service is being stopped."""
MIN_BYTES_PER_S = 1000
"""A body that comes more slowly uses up its `BODY_S`, so that single bytes keep no connection."""
MAX_OWING_PER_ADDRESS = 100


def max_owing() -> int:
    """Return how many clients may owe something at once: a quarter of the files that the process may open."""
    return max(1, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4)


class TimedProtocol(H11Protocol):
    """uvicorn's protocol with time limits.

    Attributes:
        owing: the client has to send something: headers, or the rest of a body.
        heard_s: when it last sent something, on the loop's clock.
    """

    owing = False
    heard_s = 0.0
    _due_s = 0.0
    _body_s = BODY_S
    _state: type[h11.IDLE] | type[h11.SEND_BODY] | None = None
    _timer: asyncio.TimerHandle | None = None
    _untaken_bytes = 0
    _reader_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for headers; make room if too many clients owe theirs."""
        super().connection_made(transport)
        self._note()
        _make_room(self, (one for one in self.connections if isinstance(one, TimedProtocol) and one.owing))

    def data_received(self, data: bytes) -> None:
        """Count what came towards what the client owes."""
        super().data_received(data)
        self._note(len(data))

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        super().on_response_complete()
        self._note()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timers."""
        super().connection_lost(exc)
        self.owing = False
        for timer in (self._timer, self._reader_timer):
            if timer is not None:
                timer.cancel()

    def shutdown(self) -> None:
        """Let a running answer end, but wait for no body that has stalled."""
        super().shutdown()
        self._body_s = STOPPING_S
        if self._state is h11.SEND_BODY:
            self._expect_by(min(self._due_s, self.loop.time() + STOPPING_S))

    def pause_writing(self) -> None:
        """Begin to look whether the client takes its reply."""
        super().pause_writing()
        self._untaken_bytes = self.transport.get_write_buffer_size()
        self._reader_timer = self.loop.call_later(READER_S, self._look_at_reader)

    def resume_writing(self) -> None:
        """Stop looking."""
        super().resume_writing()
        if self._reader_timer is not None:
            self._reader_timer.cancel()

    def cut_off(self) -> None:
        """Close the connection at once."""
        self.owing = False
        self.transport.abort()

    def _note(self, received: int = 0) -> None:
        """Note what the client owes now, and until when."""
        now, before = self.loop.time(), self._state
        owed = self.conn.their_state
        self._state = owed if owed in (h11.IDLE, h11.SEND_BODY) else None
        self.owing = self._state is not None and not self.transport.is_closing()
        self.heard_s = now
        if self._state is not before:
            self._expect_by(now + (HEADERS_S if self._state is h11.IDLE else self._body_s))
        elif self._state is h11.SEND_BODY:
            self._expect_by(min(now + self._body_s, self._due_s + received / MIN_BYTES_PER_S))

    def _expect_by(self, due_s: float) -> None:
        earlier, self._due_s = due_s < self._due_s, due_s
        if self._timer is not None and earlier:
            self._timer.cancel()
            self._timer = None
        if self._timer is None and self.owing:
            self._timer = self.loop.call_at(due_s, self._look)

    def _look(self) -> None:
        """Cut the client off if it is late; a body that the service itself does not take yet is not late."""
        self._timer = None
        if not self.owing:
            return
        now = self.loop.time()
        if self.flow.read_paused or self._awaits_a_word():
            self._due_s = now + self._body_s
        if now < self._due_s:
            self._timer = self.loop.call_at(self._due_s, self._look)
        else:
            self.cut_off()

    def _awaits_a_word(self) -> bool:
        """Say whether the client sends its body only when the service says that it may: `Expect: 100-continue`."""
        running = self.cycle is not None and not self.cycle.response_complete
        return running and self.cycle.waiting_for_100_continue

    def _look_at_reader(self) -> None:
        untaken = self.transport.get_write_buffer_size()
        if untaken >= self._untaken_bytes:
            self.cut_off()
            return
        self._untaken_bytes = untaken
        self._reader_timer = self.loop.call_later(READER_S, self._look_at_reader)


def _make_room(newcomer: TimedProtocol, owing: Iterable[TimedProtocol]) -> None:
    """Cut off the silent one where one too many owes something: of the newcomer's address, or of all."""
    everybody = list(owing)
    neighbours = [one for one in everybody if _address(one) == _address(newcomer)]
    if len(neighbours) > MAX_OWING_PER_ADDRESS and _is_proxy(newcomer):
        neighbours = []
    for some, limit in ((neighbours, MAX_OWING_PER_ADDRESS), (everybody, max_owing())):
        if len(some) > limit:
            min(some, key=lambda one: one.heard_s).cut_off()


def _is_proxy(connection: TimedProtocol) -> bool:
    config, address = connection.config, _address(connection)
    listed = config.forwarded_allow_ips or ""
    # Only its list is used.
    return config.proxy_headers and address in ProxyHeadersMiddleware(config.app, listed).trusted_hosts  # type: ignore[arg-type]


def _address(connection: TimedProtocol) -> str | None:
    return connection.client and connection.client[0]
