"""Blocking work and slow iterators, read from the event loop so that leaving them never loses sight of a thread.

Flow: the engine runs searches and synthesizers through this, because models and stores block; the engine and the HTTP
layer read events through `CancellableReader`. A thread cannot be ended from outside. So leaving tells it to stop and
waits until it has: whoever holds a slot or a model for it may let go afterwards.

Each piece of work has a thread of its own and not one of a pool: a pool that a few hung models have filled would stop
everybody, and the interpreter could not end before they do.
"""

import asyncio
import contextvars
import threading
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

Result = TypeVar("Result")


def start_thread(work: Callable[[], Result]) -> asyncio.Future[Result]:
    """Begin `work` in a thread; the future is done when the thread has nothing left to do. Cancelling stops nothing."""
    outcome: Future[Result] = Future()
    outcome.set_running_or_notify_cancel()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            outcome.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001  # it is raised where the result is awaited
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True, name="question").start()
    return asyncio.wrap_future(outcome)


async def in_thread(work: Callable[[], Result], stop: threading.Event | None = None) -> Result:
    """Return what `work` returns. When cancelled: set `stop`, wait until the thread has ended, then pass it on.

    Raises:
        Exception: whatever `work` raises.
    """
    thread = start_thread(work)
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        if stop is not None:
            stop.set()
        await ended(thread)
        raise


async def in_threads(works: Iterable[Callable[[], Result]], stop: threading.Event) -> list[Result]:
    """Return what each of `works` returns, in order; all run at once, and all have ended when this ends.

    Raises:
        Exception: the first one's that failed, in their order.
    """
    outcomes = await asyncio.gather(*(in_thread(work, stop) for work in works), return_exceptions=True)
    results = []
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
        results.append(outcome)
    return results


async def ended(thread: asyncio.Future[Result]) -> None:
    """Wait for a thread whose outcome nobody wants any more."""
    # Not shielded twice: a second cancellation comes when the program ends, which no hung thread may hold up.
    await asyncio.wait({thread})
    if not thread.cancelled():
        thread.exception()


async def all_ended(closings: Sequence[asyncio.Future[None]]) -> None:
    """Wait for work that is being ended, on through a first cancellation, which is passed on afterwards."""
    if not closings:
        return
    try:
        await asyncio.wait(closings)
    except asyncio.CancelledError:
        # As above: a second one is not held up.
        await asyncio.wait(closings)
        raise


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

    worker = start_thread(work)
    try:
        while (piece := await pieces.get()) is not None:
            yield piece
        await asyncio.shield(worker)
    finally:
        stop.set()
        await ended(worker)


class CancellableReader(Generic[Result]):
    """Reads an asynchronous generator with pauses: what is on its way is never lost, and closing always reaches it.

    Args:
        items: read by nobody else.
    """

    def __init__(self, items: AsyncGenerator[Result, None]) -> None:
        self._items = items
        self._coming: asyncio.Future[Result] | None = None

    async def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the next item, its end or its failure, at most so long; say whether `take` has something."""
        if self._coming is None:
            self._coming = asyncio.ensure_future(anext(self._items))
        await asyncio.wait({self._coming}, timeout=timeout_s)
        return self._coming.done()

    def take(self) -> Result:
        """Return what `wait` waited for.

        Raises:
            StopAsyncIteration: there is nothing more.
            Exception: whatever the generator raised.
        """
        assert self._coming is not None, "nothing was waited for"
        arrived, self._coming = self._coming, None
        return arrived.result()

    async def close(self) -> None:
        """Stop the generator and wait until it has ended, with everything it does before its end."""
        coming, self._coming = self._coming, None
        if coming is not None:
            coming.cancel()
            await ended(coming)
        await self._items.aclose()
