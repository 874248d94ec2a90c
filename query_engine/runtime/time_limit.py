"""End a stream of events before its deadline, even if a stage hangs.

Flow: the engine's stages -> **here** -> the reader of `Engine.stream`. A thread that hangs cannot be ended: the reader
gets the last event in time, and the thread is waited for behind it.
"""

from collections.abc import AsyncGenerator, Callable, Iterable
from typing import TypeVar

from errors import OutOfTimeError
from query_engine.runtime.deadline import Deadline
from query_engine.runtime.threads import CancellableReader

Event = TypeVar("Event")
LIMIT_REACHED = "The time limit of this question was reached."


async def in_time(
    events: AsyncGenerator[Event, None], deadline: Deadline, ending: Callable[[str], Iterable[Event]]
) -> AsyncGenerator[Event, None]:
    """Yield `events`; at the deadline, or when a stage says that it is out of time, what `ending(reason)` returns.

    Closing it, and reading on behind the last event, sets the deadline's `stop` and waits for the stages' threads.

    Raises:
        Exception: from `events`, except OutOfTimeError.
    """
    reading = CancellableReader(events)
    try:
        while await reading.wait_until(deadline):
            yield reading.take()
        for event in ending(LIMIT_REACHED):
            yield event
    except OutOfTimeError as error:
        for event in ending(error.fact):
            yield event
    except StopAsyncIteration:
        return
    finally:
        deadline.stop.set()
        await reading.close()
