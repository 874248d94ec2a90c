"""Run a blocking iterator in a thread and read it as an async one.

Flow: the engine runs synthesizers through this, because models and searches block. Leaving the async iterator early
tells the worker to stop and waits until it has: whoever holds a slot or a model for it may let go afterwards.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator


async def iterate_in_thread(make: Callable[[threading.Event], Iterator[str]]) -> AsyncGenerator[str, None]:
    """Yield what the iterator made by `make(stop)` yields; `stop` is set when the reader has left.

    Raises:
        Exception: whatever the iterator raises, after everything it had yielded.
    """
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[str | None] = asyncio.Queue()
    stop = threading.Event()

    def work() -> None:
        try:
            for piece in make(stop):
                loop.call_soon_threadsafe(pieces.put_nowait, piece)
                if stop.is_set():
                    return
        finally:
            loop.call_soon_threadsafe(pieces.put_nowait, None)

    worker = asyncio.create_task(asyncio.to_thread(work))
    try:
        while (piece := await pieces.get()) is not None:
            yield piece
    finally:
        stop.set()
        # Shielded: a second cancellation must not leave the thread running unwatched.
        await asyncio.shield(worker)
