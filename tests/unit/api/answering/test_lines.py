import asyncio
import contextlib
from collections.abc import AsyncGenerator

from starlette.requests import Request

from api.answering.lines import stream_lines
from errors import LLMError
from query_engine.inquiry import Inquiry
from query_engine.schema.events import Event, Step
from tests.fakes.engines import FakeEngine, Script, a_done


def request_of(client_leaves: asyncio.Event) -> Request:
    async def receive() -> dict[str, str]:
        await client_leaves.wait()
        return {"type": "http.disconnect"}

    return Request({"type": "http"}, receive)


def lines(engine: FakeEngine, leaves: asyncio.Event | None = None) -> AsyncGenerator[bytes, None]:
    def records(event: Event) -> list[bytes]:
        return [type(event).__name__.encode()]

    def failure(code: str, _detail: str) -> bytes:
        return code.encode()

    return stream_lines(engine.stream(Inquiry("What?")), request_of(leaves or asyncio.Event()), records, failure)


async def played(script: Script) -> tuple[list[bytes], FakeEngine]:
    engine = FakeEngine(script)
    return [line async for line in lines(engine)], engine


async def test_every_event_is_told_until_the_last() -> None:
    found, engine = await played([Step("search", "S"), a_done()])

    assert found == [b"Step", b"Done"]
    assert engine.ended == 1


async def test_a_failure_is_the_last_line() -> None:
    assert (await played([LLMError("It broke.", "Mend it.")]))[0] == [LLMError.code.encode()]
    assert (await played([Step("search", "S"), ValueError("x")]))[0] == [b"Step", b"internal"]


async def test_a_client_that_leaves_while_nothing_is_said_stops_the_engine() -> None:
    leaves, engine = asyncio.Event(), FakeEngine([Step("search", "S"), asyncio.Event()])
    found = lines(engine, leaves)

    assert await anext(found) == b"Step"
    leaves.set()

    assert [line async for line in found] == []
    assert engine.ended == 1


async def test_a_reader_that_gives_up_stops_the_engine() -> None:
    engine = FakeEngine([Step("search", "S"), asyncio.Event()])
    found = lines(engine)
    await anext(found)
    waiting = asyncio.ensure_future(anext(found))
    await asyncio.sleep(0)

    waiting.cancel()
    with contextlib.suppress(asyncio.CancelledError, StopAsyncIteration):
        await waiting
    await found.aclose()

    assert engine.ended == 1
