"""Stream an answer as lines, one record each, and stop the work when the client leaves.

Flow: events of an answer -> **here** (a view makes the lines) -> the body of `/react_streaming`. Server-sent events are
`sse.py`'s; a stream of lines has no comments to send meanwhile, so the connection itself is watched.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable

import anyio
from starlette.requests import Request

from api.answering.sse import UNFORESEEN, disconnected
from errors import RagError
from query_engine.runtime.threads import CancellableReader
from query_engine.schema.events import Done, Event

logger = logging.getLogger(__name__)

# How soon it is noticed that a client has left.
POLL_S = 0.25


async def stream_lines(
    events: AsyncGenerator[Event, None],
    request: Request,
    records: Callable[[Event], Iterable[bytes]],
    failure: Callable[[str, str], bytes],
) -> AsyncGenerator[bytes, None]:
    """Yield the records of each event until its last one; a failure becomes the last record.

    However this generator ends, `events` is closed, so the engine stops working.

    Args:
        events: of an answer.
        request: whose client may leave.
        records: event -> lines.
        failure: code and detail -> the last line of an answer that failed.
    """
    reading = CancellableReader(events)
    leaving = asyncio.ensure_future(disconnected(request))
    try:
        while not leaving.done():
            if not await reading.wait(POLL_S):
                continue
            try:
                event = reading.take()
            except RagError as error:
                logger.warning("An answer failed: %s", error)
                yield failure(error.code, error.public)
                return
            except Exception:
                # 200 is on the wire already, so a bug of ours has to end the answer in the stream.
                logger.exception("An answer failed")
                yield failure("internal", UNFORESEEN)
                return
            for record in records(event):
                yield record
            if isinstance(event, Done):
                return
    finally:
        leaving.cancel()
        # The response cancels again and again until this generator is gone; closing the engine must not be cut short.
        with anyio.CancelScope(shield=True):
            await reading.close()
