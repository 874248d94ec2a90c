"""Blocking work read asynchronously: order, errors, leaving early."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from contextvars import ContextVar
from functools import partial

import pytest

from query_engine.runtime.threads import CancellableReader, in_thread, in_threads, iterate_in_thread


async def test_pieces_come_in_order() -> None:
    def work(_stop: threading.Event) -> Iterator[str]:
        yield from "abc"

    assert [piece async for piece in iterate_in_thread(work)] == ["a", "b", "c"]


async def test_an_error_comes_after_the_pieces_before_it() -> None:
    def work(_stop: threading.Event) -> Iterator[str]:
        yield "a"
        raise RuntimeError("cut")

    pieces = iterate_in_thread(work)
    assert await anext(pieces) == "a"
    with pytest.raises(RuntimeError, match="cut"):
        await anext(pieces)


async def test_leaving_stops_the_worker_and_waits_for_its_end() -> None:
    ended = threading.Event()

    def work(stop: threading.Event) -> Iterator[str]:
        try:
            while not stop.is_set():
                yield "more"
        finally:
            ended.set()

    async with aclosing(iterate_in_thread(work)) as pieces:
        async for _ in pieces:
            break
    assert ended.is_set()


async def test_the_event_loop_runs_on_while_the_worker_blocks() -> None:
    release = threading.Event()

    def work(_stop: threading.Event) -> Iterator[str]:
        release.wait()
        yield "done"

    reading = asyncio.create_task(anext(iterate_in_thread(work)))
    await asyncio.sleep(0)
    release.set()  # only a free event loop gets here
    assert await reading == "done"


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


async def test_many_threads_return_in_order() -> None:
    together = threading.Barrier(3)

    def work(number: int) -> int:
        together.wait()
        return number

    assert await in_threads([partial(work, number) for number in range(3)], threading.Event()) == [0, 1, 2]


async def test_one_of_many_that_fails_is_told_when_the_others_have_ended() -> None:
    failed, ended = threading.Event(), threading.Event()

    def fail() -> None:
        failed.set()
        raise RuntimeError("cut")

    def outlast() -> None:
        failed.wait()
        ended.set()

    with pytest.raises(RuntimeError, match="cut"):
        await in_threads([fail, outlast], threading.Event())
    assert ended.is_set()


async def test_what_a_thread_sees_of_the_context_is_what_its_caller_set() -> None:
    name: ContextVar[str] = ContextVar("name", default="")
    name.set("asker")

    assert await in_thread(name.get) == "asker"


async def test_a_reading_that_was_waited_for_in_vain_loses_nothing() -> None:
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
