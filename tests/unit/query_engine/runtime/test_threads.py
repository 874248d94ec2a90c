"""Blocking work read asynchronously: order, errors, leaving early."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator, Iterator
from contextvars import ContextVar
from functools import partial

import pytest

from errors import OutOfTimeError
from query_engine.runtime.deadline import Deadline
from query_engine.runtime.threads import (
    BackgroundIterator,
    CancellableReader,
    ThreadedGenerator,
    in_thread,
    side_by_side,
)


async def test_items_come_in_order() -> None:
    def work() -> Generator[str, None, None]:
        yield from "abc"

    assert [item async for item in ThreadedGenerator(work, Deadline(60))] == ["a", "b", "c"]


async def test_an_error_comes_after_the_items_before_it() -> None:
    def work() -> Generator[str, None, None]:
        yield "a"
        raise RuntimeError("cut")

    items = ThreadedGenerator(work, Deadline(60))
    assert await anext(items) == "a"
    with pytest.raises(RuntimeError, match="cut"):
        await anext(items)


async def test_closing_stops_the_generator_and_waits_for_its_end() -> None:
    deadline, ended = Deadline(60), threading.Event()

    def work() -> Generator[str, None, None]:
        try:
            while True:
                yield "more"
        finally:
            ended.set()

    items = ThreadedGenerator(work, deadline)
    await anext(items)
    await items.close()
    assert deadline.stop.is_set()
    assert ended.is_set()


async def test_the_event_loop_runs_on_while_the_generator_blocks() -> None:
    release = threading.Event()

    def work() -> Generator[str, None, None]:
        release.wait()
        yield "done"

    reading = asyncio.create_task(anext(ThreadedGenerator(work, Deadline(60))))
    await asyncio.sleep(0)
    release.set()  # only a free event loop gets here
    assert await reading == "done"


async def test_the_reader_goes_on_at_the_deadline_while_the_generator_hangs() -> None:
    release, ended = threading.Event(), threading.Event()

    def work() -> Generator[str, None, None]:
        yield "a"
        release.wait()
        ended.set()
        yield "b"

    items = ThreadedGenerator(work, Deadline(0.05))
    assert await anext(items) == "a"
    with pytest.raises(OutOfTimeError):
        await anext(items)
    assert not ended.is_set()
    release.set()
    await items.close()
    assert ended.is_set()


def test_a_background_iterator_gives_its_items_and_its_error() -> None:
    def work(_stop: threading.Event) -> Iterator[str]:
        yield from "ab"
        raise RuntimeError("cut")

    items = BackgroundIterator(work).read(Deadline(30))

    assert [next(items), next(items)] == ["a", "b"]
    with pytest.raises(RuntimeError, match="cut"):
        next(items)


def test_the_reader_of_a_hung_iterator_goes_on_at_its_deadline() -> None:
    release, told = threading.Event(), threading.Event()

    def work(stop: threading.Event) -> Iterator[str]:
        yield "a"
        release.wait()
        if stop.is_set():
            told.set()

    background = BackgroundIterator(work)
    items = background.read(Deadline(0.05))

    assert next(items) == "a"
    with pytest.raises(TimeoutError):
        next(items)
    background.stop()
    release.set()
    background.thread.exception(timeout=10)
    assert told.is_set()


async def test_a_thread_returns_its_result_or_raises_its_error() -> None:
    assert await in_thread(lambda: 7) == 7
    with pytest.raises(RuntimeError, match="cut"):
        await in_thread(lambda: _raise(RuntimeError("cut")))


async def test_a_cancelled_thread_is_told_to_stop_and_waited_for() -> None:
    began, stop, ended = asyncio.Event(), threading.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def work() -> None:
        loop.call_soon_threadsafe(began.set)
        stop.wait()
        ended.set()

    working = asyncio.create_task(in_thread(work, stop))
    await began.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working

    assert ended.is_set()


async def test_more_threads_work_at_once_than_a_pool_would_have() -> None:
    everybody = threading.Barrier(50)

    await asyncio.gather(*(in_thread(everybody.wait) for _ in range(50)))


def test_works_run_side_by_side_and_return_in_order() -> None:
    together = threading.Barrier(3, timeout=30)

    def work(number: int) -> int:
        together.wait()
        return number

    assert side_by_side([partial(work, number) for number in range(3)]) == [0, 1, 2]


def test_one_of_many_that_fails_is_told_when_the_others_have_ended() -> None:
    failed, ended = threading.Event(), threading.Event()

    def fail() -> None:
        failed.set()
        raise RuntimeError("cut")

    def outlast() -> None:
        failed.wait()
        ended.set()

    with pytest.raises(RuntimeError, match="cut"):
        side_by_side([fail, outlast])
    assert ended.is_set()


async def test_what_a_thread_sees_of_the_context_is_what_its_caller_set() -> None:
    name: ContextVar[str] = ContextVar("name", default="")
    name.set("asker")

    assert await in_thread(name.get) == "asker"


async def test_a_wait_that_times_out_loses_nothing() -> None:
    go_on = asyncio.Event()

    async def items() -> AsyncGenerator[int, None]:
        yield 1
        await go_on.wait()
        yield 2

    reading = CancellableReader(items())
    assert await reading.wait()
    assert reading.take() == 1
    assert not await reading.wait(0)
    go_on.set()
    assert await reading.wait()
    assert reading.take() == 2
    assert await reading.wait()
    with pytest.raises(StopAsyncIteration):
        reading.take()


async def test_closing_a_reading_closes_a_generator_that_is_at_work() -> None:
    closed: list[str] = []

    async def items() -> AsyncGenerator[int, None]:
        try:
            await asyncio.Event().wait()
            yield 1
        finally:
            closed.append("closed")

    reading = CancellableReader(items())
    await reading.wait(0)
    await reading.close()

    assert closed == ["closed"]


def _raise(error: Exception) -> None:
    raise error
