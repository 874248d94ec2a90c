"""Blocking work in threads: read from the event loop, or from another thread that may stop waiting for it.

`ThreadedGenerator` runs the engine's stages for a reader on the event loop; `BackgroundIterator` runs a language model,
which may hang, for the stages; the HTTP layer waits for events by `CancellableReader`. A thread cannot be ended from
outside. So leaving tells it to stop, and what is held for it (a slot, a model) is given back when it has ended.

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
from typing import Any, Generic, Self, TypeVar

from errors import OutOfTimeError
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

    Attributes:
        thread: done when the iterator has ended, however it ended.
    """

    def __init__(self, make: Callable[[threading.Event], Iterator[Result]]) -> None:
        self._stop = threading.Event()
        self._arrived: SimpleQueue[tuple[Result] | None] = SimpleQueue()
        self.thread = start_thread(lambda: self._run(make))

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
                return self.thread.result()
            yield item[0]

    def stop(self) -> None:
        """Tell the iterator to end; does not wait."""
        self._stop.set()

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


async def first_done(futures: Collection[asyncio.Future[Any]], deadline: Deadline) -> set[asyncio.Future[Any]]:
    """Return those that are done, as soon as one is; none at the deadline, even if it is brought forward meanwhile."""
    while True:
        left_s = deadline.left_s()
        done, _ = await asyncio.wait(futures, timeout=min(left_s, POLL_S), return_when=asyncio.FIRST_COMPLETED)
        if done or left_s <= POLL_S:
            return done


class ThreadedGenerator(Generic[Result]):
    """Runs a generator in a thread; iterate over it on the event loop that makes it, and close it.

    Args:
        make: returns the generator; called in the thread.
        deadline: ends the iteration. Its `stop` is set when the reader leaves, and closes the generator at its next
            item.
    """

    def __init__(self, make: Callable[[], Generator[Result, None, None]], deadline: Deadline) -> None:
        self._make = make
        self._deadline = deadline
        self._loop = asyncio.get_running_loop()
        self._items: asyncio.Queue[tuple[Result] | None] = asyncio.Queue()
        self._worker = asyncio.wrap_future(start_thread(self._run))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Result:
        """Return the next item.

        Raises:
            StopAsyncIteration: the generator has ended.
            OutOfTimeError: the deadline has passed, perhaps because it was brought forward meanwhile.
            Exception: from the generator, after everything it yielded.
        """
        coming = asyncio.ensure_future(self._items.get())
        try:
            if not await first_done({coming}, self._deadline):
                raise OutOfTimeError("The time limit of this question was reached.", "Raise it, or ask for less.")
        finally:
            coming.cancel()
        if (item := coming.result()) is None:
            await self._worker
            raise StopAsyncIteration
        return item[0]

    async def close(self) -> None:
        """Stop the generator and wait until its thread has ended."""
        self._deadline.stop.set()
        await ended(self._worker)

    def _run(self) -> None:
        try:
            with closing(self._make()) as made:
                for item in made:
                    self._loop.call_soon_threadsafe(self._items.put_nowait, (item,))
                    if self._deadline.stop.is_set():
                        return
        finally:
            self._loop.call_soon_threadsafe(self._items.put_nowait, None)


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
