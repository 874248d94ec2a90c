"""A stream of events ends in time, even if a stage hangs or fails."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator

import pytest

from errors import LLMError, OutOfTimeError
from query_engine.runtime.deadline import Deadline
from query_engine.runtime.threads import in_thread
from query_engine.runtime.time_limit import LIMIT_REACHED, in_time
from query_engine.schema.events import Event, Step

FIRST, SECOND = Step("search", "one"), Step("found", "two")
SOON_S = 0.05


def ending(reason: str) -> Iterator[Event]:
    yield Step("warning", reason)


async def test_events_in_time_pass_unchanged() -> None:
    async def stages() -> AsyncGenerator[Event, None]:
        yield FIRST
        yield SECOND

    assert [event async for event in in_time(stages(), Deadline(60), ending)] == [FIRST, SECOND]


async def test_the_ending_comes_at_the_deadline_and_the_hung_thread_is_waited_for_behind_it() -> None:
    release, ended = threading.Event(), threading.Event()

    def hang() -> None:
        release.wait()
        ended.set()

    async def stages() -> AsyncGenerator[Event, None]:
        yield FIRST
        await in_thread(hang)

    events = in_time(stages(), Deadline(SOON_S), ending)
    assert [await anext(events), await anext(events)] == [FIRST, Step("warning", LIMIT_REACHED)]
    assert not ended.is_set()

    release.set()
    await events.aclose()
    assert ended.is_set()


async def test_a_stage_that_is_out_of_time_ends_the_stream_in_its_words() -> None:
    async def stages() -> AsyncGenerator[Event, None]:
        yield FIRST
        raise OutOfTimeError("The limit of 5 s was reached while writing.", "Raise it.")

    events = [event async for event in in_time(stages(), Deadline(60), ending)]

    assert events == [FIRST, Step("warning", "The limit of 5 s was reached while writing.")]


async def test_other_failures_are_passed_on() -> None:
    async def stages() -> AsyncGenerator[Event, None]:
        yield FIRST
        raise LLMError("It broke.", "Mend it.")

    with pytest.raises(LLMError, match="It broke"):
        [event async for event in in_time(stages(), Deadline(60), ending)]


async def test_leaving_tells_the_stages_to_stop_and_waits_for_them() -> None:
    deadline, began = Deadline(60), asyncio.Event()
    stopped = threading.Event()
    loop = asyncio.get_running_loop()

    def until_stopped() -> None:
        loop.call_soon_threadsafe(began.set)
        deadline.stop.wait()
        stopped.set()

    async def stages() -> AsyncGenerator[Event, None]:
        yield FIRST
        await in_thread(until_stopped, deadline.stop)
        yield SECOND

    events = in_time(stages(), deadline, ending)
    await anext(events)
    reading = asyncio.create_task(anext(events))
    await began.wait()
    reading.cancel()
    await asyncio.wait({reading})

    assert stopped.is_set()
