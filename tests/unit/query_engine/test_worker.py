"""Blocking iterators read asynchronously: order, errors, leaving early."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import aclosing

import pytest

from query_engine.worker import iterate_in_thread


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
