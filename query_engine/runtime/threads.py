"""Blocking work in threads: read from the event loop, or from another thread that may stop waiting for it.

Flow: `time_limit.py` reads the engine's plain iterator through `iterate_in_thread`; a language model, which may hang,
is read through `BackgroundIterator`; the HTTP layer waits for events by `CancellableReader`. A thread cannot be ended
from outside. So leaving tells it to stop, and what is held for it (a slot, a model) is given back when it has ended.

Each piece of work has its own thread and not one of a pool: a pool full of hung models would stop every question, and
the interpreter could not exit before they do.
"""

import asyncio
import contextvars
import math
import threading
import time
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from query_engine.runtime.deadline import Deadline

# How soon those who wait notice that the client has left, or that the deadline was brought forward.
POLL_S = 0.1

Result = TypeVar("Result")


def start_thread(work: Callable[[], Result]) -> "Future[Result]":
    """Begin `work` in a daemon thread; the future is done when the thread has nothing left to do."""
    outcome: Future[Result] = Future()
    outcome.set_running_or_notify_cancel()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            outcome.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001  # it is raised where the result is read
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True, name="question").start()
    return outcome


def side_by_side(works: Iterable[Callable[[], Result]]) -> list[Result]:
    """Return what each of `works` returns, in order; all run at once, and all have ended when this returns or raises.

    Raises:
        Exception: that of the first one that failed, in their order.
    """
    threads = [start_thread(work) for work in works]
    for thread in threads:
        thread.exception()
    return [thread.result() for thread in threads]


class BackgroundIterator(Generic[Result]):
    """Runs an iterator in a thread; its reader can give up while the iterator hangs.

    Args:
        make: returns the iterator, which should end soon after the event it is given has been set.
    """

    def __init__(self, make: Callable[[threading.Event], Iterator[Result]]) -> None:
        self._stop = threading.Event()
        self._arrived: SimpleQueue[tuple[Result] | None] = SimpleQueue()
        self._thread = start_thread(lambda: self._run(make))

    def read(self, deadline: Deadline) -> Iterator[Result]:
        """Yield the items as they come.

        Raises:
            TimeoutError: the deadline passed first.
            OutOfTimeError: the deadline's `stop` was set.
            Exception: from the iterator.
        """
        while True:
            deadline.check_wanted("while it was written")
            left_s = deadline.left_s()
            try:
                item = self._arrived.get(timeout=min(left_s, POLL_S))
            except Empty:
                if left_s <= POLL_S:
                    raise TimeoutError from None
                continue
            if item is None:
                return self._thread.result()
            yield item[0]

    def stop(self) -> None:
        """Tell the iterator to end; does not wait."""
        self._stop.set()

    def join(self) -> None:
        """Wait until the thread has ended, however it ends."""
        self._thread.exception()

    def _run(self, make: Callable[[threading.Event], Iterator[Result]]) -> None:
        try:
            for item in make(self._stop):
                self._arrived.put((item,))
                if self._stop.is_set():
                    return
        finally:
            self._arrived.put(None)


class SharedThread:
    """One thread at a time for work that several may want at once, or again and again. Used from event loops."""

    def __init__(self) -> None:
        self._last: Future[None] | None = None
        self._ended_s = -math.inf  # on the monotonic clock

    def begin(self, work: Callable[[], None], after_s: float = 0.0) -> asyncio.Future[None]:
        """Begin `work` unless it is running, or has ended less than `after_s` ago; the future is done when it ends."""

        def run() -> None:
            try:
                work()
            finally:
                self._ended_s = time.monotonic()

        if self._last is None or (self._last.done() and time.monotonic() >= self._ended_s + after_s):
            self._last = start_thread(run)
        return asyncio.wrap_future(self._last)


async def in_thread(work: Callable[[], Result], stop: threading.Event | None = None) -> Result:
    """Return what `work` returns. When cancelled: set `stop`, wait until the thread has ended, then pass it on.

    Raises:
        Exception: from `work`.
    """
    thread = asyncio.wrap_future(start_thread(work))
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        if stop is not None:
            stop.set()
        await ended(thread)
        raise


async def ended(thread: "asyncio.Future[Result]") -> None:
    """Wait for a thread whose outcome is not wanted."""
    # Not shielded twice: a second cancellation comes when the program ends, which no hung thread may hold up.
    await asyncio.wait({thread})
    if not thread.cancelled():
        thread.exception()


async def iterate_in_thread(
    make: Callable[[], Generator[Result, None, None]], stop: threading.Event
) -> AsyncGenerator[Result, None]:
    """Yield what the generator made by `make` yields in a thread, which is awaited at the end.

    Args:
        make: called in the thread.
        stop: set when the reader has left; the generator is closed at its next item.

    Raises:
        Exception: from the generator, after everything it had yielded.
    """
    loop = asyncio.get_running_loop()
    items: asyncio.Queue[tuple[Result] | None] = asyncio.Queue()

    def work() -> None:
        try:
            with closing(make()) as made:
                for item in made:
                    loop.call_soon_threadsafe(items.put_nowait, (item,))
                    if stop.is_set():
                        return
        finally:
            loop.call_soon_threadsafe(items.put_nowait, None)

    worker = asyncio.wrap_future(start_thread(work))
    try:
        while (item := await items.get()) is not None:
            yield item[0]
        await asyncio.shield(worker)
    finally:
        stop.set()
        await ended(worker)


async def first_done(futures: Collection[asyncio.Future[Any]], deadline: Deadline) -> set[asyncio.Future[Any]]:
    """Return those that are done, as soon as one is; none at the deadline, even if it is brought forward meanwhile."""
    while True:
        left_s = deadline.left_s()
        done, _ = await asyncio.wait(futures, timeout=min(left_s, POLL_S), return_when=asyncio.FIRST_COMPLETED)
        if done or left_s <= POLL_S:
            return done


class CancellableReader(Generic[Result]):
    """Reads an asynchronous generator with pauses: nothing that is on its way is lost, and closing always reaches it.

    Args:
        items: has no other reader.
    """

    def __init__(self, items: AsyncGenerator[Result, None]) -> None:
        self._items = items
        self._coming: asyncio.Future[Result] | None = None

    async def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the next item, the end or a failure, at most `timeout_s`; say whether `take` has something."""
        coming = self._next()
        await asyncio.wait({coming}, timeout=timeout_s)
        return coming.done()

    async def wait_until(self, deadline: Deadline) -> bool:
        """Wait as `wait` does, until the deadline, even if it is brought forward meanwhile."""
        coming = self._next()
        await first_done({coming}, deadline)
        return coming.done()

    def take(self) -> Result:
        """Return what `wait` waited for.

        Raises:
            StopAsyncIteration: there is nothing more.
            Exception: from the generator.
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

    def _next(self) -> asyncio.Future[Result]:
        if self._coming is None:
            self._coming = asyncio.ensure_future(anext(self._items))
        return self._coming
