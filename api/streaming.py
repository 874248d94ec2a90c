"""Drive an answer for HTTP: when records are sent, and that work stops when nobody waits for it any more.

Flow: `engine.stream` -> **here** (folded by `RunView`) -> the body of `/run`; or -> the one `Done` of `/evaluate`.

A language model writes up to a hundred tokens a second, and each record repeats the whole text. So tokens are gathered:
ten records a second at first, fewer in a long answer. The first token and the end are never held back, and a pause of
the model never hides what it wrote before.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import anyio
from starlette.requests import ClientDisconnect, Request

from api.run_view import RunView, to_line
from errors import RagError
from query_engine.events import Done, Event

UNFORESEEN = "Something unforeseen went wrong; the service's log says what."

SHORTEST_PAUSE_S = 0.1
SMOOTH_RECORDS = 90
RECORDS_PER_DOUBLING = 20

logger = logging.getLogger(__name__)


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


async def stream_records(events: AsyncGenerator[Event, None], view: RunView, pace: Pace) -> AsyncGenerator[bytes, None]:
    """Yield one SSE message a record; the last one is `complete`, whatever the engine does.

    However this generator ends, `events` is closed, so the engine stops working.
    """
    coming: asyncio.Future[Event] | None = None
    try:
        while not view.complete:
            if view.urgent or (view.unsent and not pace.wait_s()):
                for record in view.records():
                    yield f"data: {to_line(record)}\n\n".encode("ascii")
                pace.sent()
                continue
            coming = coming or asyncio.ensure_future(anext(events))
            await asyncio.wait({coming}, timeout=pace.wait_s() if view.unsent else None)
            if coming.done():
                arrived, coming = coming, None
                _take(arrived, view)
    finally:
        # The response cancels again and again until this generator is gone; closing the engine must not be cut short.
        with anyio.CancelScope(shield=True):
            await _close(events, coming)


async def finish(events: AsyncGenerator[Event, None], request: Request) -> Done:
    """Consume an answer and return its last event; stop as soon as the client of `request` has left.

    Raises:
        ClientDisconnect: the client left.
        RagError: what the engine foresaw.
    """
    answer = asyncio.ensure_future(_last_of(events))
    leaving = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({answer, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise ClientDisconnect
        return answer.result()
    finally:
        answer.cancel()
        leaving.cancel()
        await asyncio.wait({answer, leaving})


def _take(arrived: asyncio.Future[Event], view: RunView) -> None:
    try:
        view.take(arrived.result())
    except RagError as error:
        logger.warning("An answer failed: %s", error)
        view.fail(str(error))
    except Exception:
        # 200 is on the wire already, so a bug of ours has to end the answer in the stream.
        logger.exception("An answer failed")
        view.fail(UNFORESEEN)


async def _close(events: AsyncGenerator[Event, None], coming: asyncio.Future[Event] | None) -> None:
    if coming is not None:
        coming.cancel()
        await asyncio.wait({coming})
    await events.aclose()


async def _last_of(events: AsyncGenerator[Event, None]) -> Done:
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Done):
                return event
    raise RuntimeError("The engine's events ended without Done.")


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
