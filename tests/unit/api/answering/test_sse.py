import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from typing import Any

import anyio
import pytest
from sse_starlette.sse import SendTimeoutError
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse

from api.answering import sse
from api.answering.sse import Pace, finish, sse_response, stream_records
from api.views.run import RunView
from errors import LLMError
from query_engine.inquiry import Inquiry
from query_engine.schema.events import Event, Step, Token
from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.http import request_of

STEPS = (Step("search", "**Searching**"), Step("found", "**Found**"))


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def parsed(message: bytes) -> dict[str, Any]:
    assert message.startswith(b"data: ")
    assert message.endswith(b"\n\n")
    record: dict[str, Any] = json.loads(message[len(b"data: ") :])
    return record


def streamed(engine: FakeEngine, pace: Pace | None = None) -> AsyncGenerator[bytes, None]:
    return stream_records(engine.stream(Inquiry("What turns?")), RunView(lambda _: [], lambda _: ""), pace or Pace())


async def records_of(engine: FakeEngine, pace: Pace | None = None) -> list[dict[str, Any]]:
    return [parsed(message) async for message in streamed(engine, pace)]


async def test_steps_and_the_first_token_are_sent_at_once() -> None:
    go_on = asyncio.Event()
    engine = FakeEngine([STEPS[0], go_on, STEPS[1], Token("Wind"), go_on, Token(" turns."), a_done("Wind turns.")])
    stream = streamed(engine)

    assert parsed(await anext(stream))["intermediate_steps"] == "**Searching**"
    go_on.set()
    await anext(stream)
    go_on.clear()
    assert parsed(await anext(stream))["final_report"] == "Wind"
    await stream.aclose()


async def test_tokens_are_gathered_and_the_end_is_not_held_back() -> None:
    tokens = [Token(f"{n} ") for n in range(200)]
    text = "".join(token.text for token in tokens).strip()

    records = await records_of(FakeEngine([*STEPS, *tokens, a_done(text)]), Pace(Clock()))

    assert [r["final_report"] for r in records if not r["is_intermediate"]] == ["0 ", text]


async def test_a_pause_of_the_model_does_not_hide_what_it_wrote() -> None:
    never = asyncio.Event()
    stream = streamed(FakeEngine([*STEPS, Token("Wind"), Token(" turns"), never]))

    async for message in stream:
        if parsed(message)["final_report"] == "Wind turns":
            break
    await stream.aclose()


def ticking(clock: Clock, tokens_per_s: float, tokens: Iterable[str]) -> Iterator[Event | Callable[[], None]]:
    """Tokens of a model of that speed."""

    def tick() -> None:
        clock.now_s += 1 / tokens_per_s

    for token in tokens:
        yield tick
        yield Token(token)


async def sent(script: Sequence[Any], clock: Clock) -> list[tuple[float, bytes]]:
    """Return each record with the time it was sent at."""
    messages = streamed(FakeEngine(script), Pace(clock))
    return [(clock.now_s, message) async for message in messages]


@pytest.mark.parametrize(("answer_s", "tokens_per_s"), [(5, 100), (60, 30), (600, 50)])
@pytest.mark.parametrize("size_bytes", [500, 30_000])
def test_the_pace_keeps_any_answer_under_250_records_and_10_a_second(
    answer_s: int, tokens_per_s: int, size_bytes: int
) -> None:
    clock = Clock()
    pace = Pace(clock)
    sent_s = []
    for tick in range(answer_s * tokens_per_s):
        clock.now_s = tick / tokens_per_s
        if not pace.wait_s():
            sent_s.append(clock.now_s)
            pace.sent(size_bytes)

    assert len(sent_s) < 250
    assert len(sent_s) * size_bytes < 2_000_000
    assert all(later - earlier >= 0.999 for earlier, later in zip(sent_s, sent_s[8:], strict=False))
    assert len([moment for moment in sent_s if moment < 5]) >= 20


@pytest.mark.parametrize("tokens_per_s", [5, 17, 85])
@pytest.mark.parametrize("word", ["turbine ", "турбина "], ids=["one byte a letter", "six bytes a letter"])
async def test_an_answer_of_a_thousand_words_stays_under_2_mb_on_the_wire(tokens_per_s: float, word: str) -> None:
    clock = Clock()
    found = [Step("found", f"**Found** *{number}*: " + "similar in meaning " * 30) for number in range(6)]
    answer = (word * 1000).strip()

    records = await sent([*STEPS, *found, *ticking(clock, tokens_per_s, [word] * 1000), a_done(answer)], clock)

    assert len(records) < 250
    assert sum(len(message) for _, message in records) < 2_000_000
    shown = [len(parsed(message)["final_report"] or "") for _, message in records]
    assert shown == sorted(shown)


async def test_a_burst_of_steps_is_gathered_and_none_is_lost() -> None:
    clock = Clock()
    burst = [Step("search", f"**Part {number}**") for number in range(40)]

    records = await sent([*burst, Token("Wind turns."), a_done("Wind turns.")], clock)

    assert len(records) <= 10
    assert "**Part 39**" in parsed(records[-1][1])["intermediate_steps"]


@pytest.mark.promise("A17")
async def test_a_foreseen_failure_ends_the_stream_with_its_words() -> None:
    last = (await records_of(FakeEngine([STEPS[0], LLMError("The model broke.", "Restart it.")])))[-1]

    assert last["complete"]
    assert last["error"] == "The model broke. Restart it."


@pytest.mark.fault("B10")
async def test_a_bug_ends_the_stream_without_its_details(caplog: pytest.LogCaptureFixture) -> None:
    last = (await records_of(FakeEngine([STEPS[0], KeyError("secret inside")])))[-1]

    assert last["complete"]
    assert "secret" not in json.dumps(last)
    assert "Traceback" not in json.dumps(last)
    assert "secret inside" in caplog.text


@pytest.mark.fault("B10")
async def test_an_engine_that_stops_early_ends_the_stream_too(caplog: pytest.LogCaptureFixture) -> None:
    last = (await records_of(FakeEngine([*STEPS, Token("Wind turns")])))[-1]

    assert last["complete"]
    assert last["final_report"].startswith("Wind turns\n\n*The answer breaks off here.")
    assert "An answer failed" in caplog.text


async def test_closing_the_stream_closes_the_engine() -> None:
    engine = FakeEngine([*STEPS, Token("Wind"), asyncio.Event()])
    stream = streamed(engine)
    await anext(stream)

    await stream.aclose()

    assert engine.ended == 1


async def test_a_cancelled_response_closes_the_engine_while_it_waits() -> None:
    engine = FakeEngine([STEPS[0], asyncio.Event()])
    begun = anyio.Event()

    async def respond() -> None:
        async for _ in streamed(engine):
            begun.set()

    # As the response does it: the scope cancels at every await until the stream is gone.
    async with anyio.create_task_group() as response:
        response.start_soon(respond)
        await begun.wait()
        response.cancel_scope.cancel()

    assert engine.ended == 1


async def test_a_stream_that_is_never_read_starts_nothing() -> None:
    engine = FakeEngine([*STEPS])

    await streamed(engine).aclose()

    assert engine.started == 0


async def test_an_evaluation_ends_with_the_last_event() -> None:
    done = a_done()

    assert await finish(FakeEngine([*STEPS, done]).stream(Inquiry("What?")), request_of(asyncio.Event())) is done


async def test_an_evaluation_stops_when_its_client_leaves() -> None:
    client_leaves = asyncio.Event()
    engine = FakeEngine([STEPS[0], client_leaves.set, asyncio.Event()])

    with pytest.raises(ClientDisconnect):
        await finish(engine.stream(Inquiry("What?")), request_of(client_leaves))
    assert engine.ended == 1


async def test_an_evaluation_passes_failures_on() -> None:
    engine = FakeEngine([STEPS[0], LLMError("The model broke.", "Restart it.")])

    with pytest.raises(LLMError, match="Restart it"):
        await finish(engine.stream(Inquiry("What?")), request_of(asyncio.Event()))
    assert engine.ended == 1


async def test_a_stream_without_pings_stops_when_its_client_leaves_while_nothing_is_said() -> None:
    client_leaves = asyncio.Event()
    engine = FakeEngine([STEPS[0], client_leaves.set, asyncio.Event()])

    async def send(_: object) -> None:
        pass

    await StreamingResponse(streamed(engine))(HTTP, request_of(client_leaves).receive, send)
    assert engine.ended == 1


KILL_S = 10.0
HTTP = {"type": "http", "method": "POST"}


async def never_leaves() -> dict[str, str]:
    await asyncio.Event().wait()
    raise AssertionError("nothing sets it")


@pytest.mark.promise("A35")
@pytest.mark.fault("B11")
async def test_pings_are_sent_while_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "PING_S", 0.01)
    go_on = asyncio.Event()
    bodies: list[bytes] = []

    async def send(message: Any) -> None:
        bodies.append(message.get("body", b""))
        if sum(body.startswith(b": ping") for body in bodies) >= 2:
            go_on.set()

    response = sse_response(streamed(FakeEngine([STEPS[0], go_on, STEPS[1], a_done("Wind turns.")])))
    async with asyncio.timeout(KILL_S):
        await response(HTTP, never_leaves, send)

    kinds = ["ping" if body.startswith(b": ping") else "record" for body in bodies if body]
    assert kinds[:3] == ["record", "ping", "ping"]
    assert kinds[-1] == "record"
    pings = [body for body in bodies if body.startswith(b": ping")]
    assert all(body.endswith(b"\r\n\r\n") and b"data" not in body for body in pings), "a comment, which readers skip"


@pytest.mark.fault("B5")
@pytest.mark.parametrize("script", [[*STEPS, a_done()], [STEPS[0], asyncio.Event()]], ids=["record", "ping"])
async def test_a_reader_that_does_not_read_is_cut_off_and_the_engine_stops(
    script: Sequence[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pinged = len(script) == 2
    monkeypatch.setattr(sse, "SEND_TIMEOUT_S", 0.01)
    monkeypatch.setattr(sse, "PING_S", 0.01 if pinged else KILL_S)  # one failure, not two at once
    engine = FakeEngine(script)
    bodies = 0

    async def send(message: Any) -> None:
        nonlocal bodies
        bodies += message["type"] == "http.response.body"
        # The first record is still taken where the engine then falls silent: a ping is what cannot be sent.
        if bodies > pinged:
            await asyncio.Event().wait()

    with pytest.raises(SendTimeoutError):
        async with asyncio.timeout(KILL_S):
            await sse_response(streamed(engine))(HTTP, never_leaves, send)

    assert (engine.started, engine.ended) == (1, 1)


@pytest.mark.fault("B5")
async def test_a_reader_that_reads_slowly_but_in_time_is_not_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "SEND_TIMEOUT_S", KILL_S)
    bodies: list[bytes] = []

    async def send(message: Any) -> None:
        for _ in range(50):
            await asyncio.sleep(0)
        bodies.append(message.get("body", b""))

    async with asyncio.timeout(KILL_S):
        await sse_response(streamed(FakeEngine([*STEPS, a_done("Wind turns.")])))(HTTP, never_leaves, send)

    assert parsed(bodies[-2])["complete"]
