"""Drive an answer for HTTP: when records are sent, and that work stops when nobody waits for it any more.

Flow: `engine.stream` -> **here** (folded by a view) -> the body of `/run`, `/query/stream`, `/react_streaming`, a
streamed chat completion; or -> the one `Done` of `/evaluate`, `/query`.

A language model writes up to a hundred tokens a second, and each record repeats the whole text. So tokens are gathered:
eight records a second at first, fewer in a long answer. Steps and the first token wait for no more than that rate, the
end for nothing, and a pause of the model never hides what it wrote before.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from typing import Protocol

import anyio
from sse_starlette import EventSourceResponse
from starlette.requests import ClientDisconnect, Request

from errors import RagError
from query_engine.runtime.threads import CancellableReader
from query_engine.schema.events import Done, Event

UNFORESEEN = "Something unforeseen went wrong; the service's log says what."

# Two less than clients are promised: an answer that comes in one piece ends with two records at once.
RECORDS_PER_S = 8
SMOOTH_RECORDS = 90
RECORDS_PER_DOUBLING = 20
# A longer record counts as several; so 2 MB are not reached either.
RECORD_BYTES = 7000
SEND_TIMEOUT_S = 30
PING_S = 15
SHUTDOWN_GRACE_S = 25

logger = logging.getLogger(__name__)


class View(Protocol):
    """Folds events into the records of a stream.

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
    """When the next record may be sent: ten a second at most, and a ten-minute answer stays under 250 and 2 MB.

    Args:
        clock: seconds that never run backwards.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._weight = 0.0
        self._due_s = clock()
        self._recent_s: deque[float] = deque(maxlen=RECORDS_PER_S)

    def wait_s(self, *, urgent: bool = False) -> float:
        """Seconds until the next record may be sent, 0 when it may be sent now; gathered tokens wait longer."""
        full = len(self._recent_s) == RECORDS_PER_S
        free_s = self._recent_s[0] + 1 if full else 0.0
        return max(0.0, (free_s if urgent else max(free_s, self._due_s)) - self._clock())

    def sent(self, size_bytes: int) -> None:
        """Note that a record was sent. A large one counts as several, because those that follow repeat it."""
        self._recent_s.append(self._clock())
        self._weight += max(1.0, size_bytes / RECORD_BYTES)
        doublings = max(0, int((self._weight - SMOOTH_RECORDS) // RECORDS_PER_DOUBLING) + 1)
        self._due_s = self._clock() + 2**doublings / RECORDS_PER_S


async def stream_records(
    events: AsyncGenerator[Event, None], view: View, pace: Pace, each: Callable[[Event], Event] = lambda event: event
) -> AsyncGenerator[bytes, None]:
    """Yield the records of a view; the last one is `complete`, even if the engine fails.

    The view takes what `each` returns for an event.
    However this generator ends, `events` is closed, so the engine stops working.
    """
    reading = CancellableReader(events)
    try:
        over = False
        while not view.complete:
            wait_s = None if not view.unsent else 0 if over else pace.wait_s(urgent=view.urgent)
            if wait_s == 0:
                for message in view.messages():
                    yield message
                    pace.sent(len(message))
            elif await reading.wait(wait_s):
                over = _take(reading, view, each)
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
        # Without a grace period a SIGTERM would cut running answers immediately.
        shutdown_grace_period=SHUTDOWN_GRACE_S,
    )


async def finish(
    events: AsyncGenerator[Event, None], request: Request, note: Callable[[Event], object] = lambda _: None
) -> Done:
    """Consume an answer and return its last event; stop as soon as the client of `request` has left.

    `note` is called with each event.

    Raises:
        ClientDisconnect: the client left.
        RagError: what the engine foresaw.
    """
    answer = asyncio.ensure_future(_last_of(events, note))
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


def _take(reading: CancellableReader[Event], view: View, each: Callable[[Event], Event]) -> bool:
    """Hand what came to the view, and say whether it was the last."""
    try:
        event = reading.take()
        view.take(each(event))
    except RagError as error:
        logger.warning("An answer failed: %s", error)
        view.fail(error.public, error.code)
    except Exception:
        # 200 is on the wire already, so a bug of ours has to end the answer in the stream.
        logger.exception("An answer failed")
        view.fail(UNFORESEEN, "internal")
    else:
        return isinstance(event, Done)
    return True


async def _last_of(events: AsyncGenerator[Event, None], note: Callable[[Event], object]) -> Done:
    async with aclosing(events):
        async for event in events:
            note(event)
            if isinstance(event, Done):
                return event
    raise RuntimeError("The engine's events ended without Done.")
