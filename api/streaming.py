"""Drive an answer for HTTP: when records are sent, and that work stops when nobody waits for it any more.

Flow: `engine.stream` -> **here** (folded by a view) -> the body of `/run`, `/query/stream`, a streamed chat completion;
or -> the one `Done` of `/evaluate`, `/query`.

A language model writes up to a hundred tokens a second, and each record repeats the whole text. So tokens are gathered:
ten records a second at first, fewer in a long answer. The first token and the end are never held back, and a pause of
the model never hides what it wrote before.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from typing import Protocol

import anyio
from sse_starlette import EventSourceResponse
from starlette.requests import ClientDisconnect, Request

from errors import RagError
from query_engine.events import Done, Event
from query_engine.worker import Reading

UNFORESEEN = "Something unforeseen went wrong; the service's log says what."

SHORTEST_PAUSE_S = 0.1
SMOOTH_RECORDS = 90
RECORDS_PER_DOUBLING = 20
SEND_TIMEOUT_S = 30
PING_S = 15
SHUTDOWN_GRACE_S = 25

logger = logging.getLogger(__name__)


class View(Protocol):
    """Folds events into server-sent events.

    Attributes:
        urgent: what was taken since the last messages should be sent at once.
        unsent: something was taken that has not been sent.
        complete: the last message has been made.
    """

    urgent: bool
    unsent: bool
    complete: bool

    def take(self, event: Event) -> None:
        """Fold one event into the state."""
        ...

    def fail(self, reason: str, code: str) -> None:
        """End because the engine failed."""
        ...

    def messages(self) -> Iterable[bytes]:
        """Return what there is to send now."""
        ...


class Pace:
    """When the next gathered tokens may be sent: a ten-minute answer stays under 250 records.

    Args:
        clock: seconds that never run backwards.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._records = 0
        self._due_s = clock()

    def wait_s(self) -> float:
        """Seconds until the next record may be sent; 0 when it may be sent now."""
        return max(0.0, self._due_s - self._clock())

    def sent(self) -> None:
        """Note that a record was sent."""
        self._records += 1
        doublings = max(0, (self._records - SMOOTH_RECORDS) // RECORDS_PER_DOUBLING + 1)
        self._due_s = self._clock() + SHORTEST_PAUSE_S * 2**doublings


async def stream_records(events: AsyncGenerator[Event, None], view: View, pace: Pace) -> AsyncGenerator[bytes, None]:
    """Yield one SSE message a record; the last one is `complete`, whatever the engine does.

    However this generator ends, `events` is closed, so the engine stops working.
    """
    reading = Reading(events)
    try:
        while not view.complete:
            if view.urgent or (view.unsent and not pace.wait_s()):
                for message in view.messages():
                    yield message
                pace.sent()
            elif await reading.wait(pace.wait_s() if view.unsent else None):
                _take(reading, view)
    finally:
        # The response cancels again and again until this generator is gone; closing the engine must not be cut short.
        with anyio.CancelScope(shield=True):
            await reading.close()


def sse_response(messages: AsyncGenerator[bytes, None]) -> EventSourceResponse:
    """Return a response that sends these messages as they come, past caches and buffering proxies."""
    return EventSourceResponse(
        messages,
        headers={"Cache-Control": "no-cache"},
        ping=PING_S,
        # A reader that stopped reading must not hold the engine for ever.
        send_timeout=SEND_TIMEOUT_S,
        # Without a grace period a SIGTERM would cut running answers at once.
        shutdown_grace_period=SHUTDOWN_GRACE_S,
    )


async def finish(events: AsyncGenerator[Event, None], request: Request) -> Done:
    """Consume an answer and return its last event; stop as soon as the client of `request` has left.

    Raises:
        ClientDisconnect: the client left.
        RagError: what the engine foresaw.
    """
    answer = asyncio.ensure_future(_last_of(events))
    leaving = asyncio.ensure_future(disconnected(request))
    try:
        await asyncio.wait({answer, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise ClientDisconnect
        return answer.result()
    finally:
        answer.cancel()
        leaving.cancel()
        await asyncio.wait({answer, leaving})


async def disconnected(request: Request) -> None:
    """Return when the client of `request`, whose body has been read, has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _take(reading: Reading[Event], view: View) -> None:
    try:
        view.take(reading.take())
    except RagError as error:
        logger.warning("An answer failed: %s", error)
        view.fail(str(error), error.code)
    except Exception:
        # 200 is on the wire already, so a bug of ours has to end the answer in the stream.
        logger.exception("An answer failed")
        view.fail(UNFORESEEN, "internal")


async def _last_of(events: AsyncGenerator[Event, None]) -> Done:
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Done):
                return event
    raise RuntimeError("The engine's events ended without Done.")
