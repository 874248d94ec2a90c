"""Answers by mode, over a scripted engine: what is asked of it, and what happens when its reader leaves."""

from contextlib import aclosing

from query_engine.inquiry import Inquiry
from query_engine.schema.events import Step
from research.modes import InMode, stream
from settings import Settings
from tests.fakes.engines import FakeEngine, a_done


async def test_a_single_pass_is_the_engine_own() -> None:
    engine = FakeEngine([Step("search", "x"), a_done()])

    events = [event async for event in stream(engine, Inquiry("Who?"))]

    assert len(events) == 2
    assert engine.gathers == [None]


async def test_the_other_modes_gather_otherwise() -> None:
    engine = FakeEngine([a_done()])

    for mode in ("agent", "auto"):
        [event async for event in stream(engine, Inquiry("Who?", mode=mode))]

    assert None not in engine.gathers


async def test_programs_ask_in_the_mode_of_the_settings() -> None:
    engine = FakeEngine([a_done()])
    settings = Settings()
    agent = settings.model_copy(update={"answer": settings.answer.model_copy(update={"mode": "agent"})})

    [event async for event in InMode(engine, settings).stream(Inquiry("Who?"))]
    [event async for event in InMode(engine, agent).stream(Inquiry("Who?"))]

    assert [gather is None for gather in engine.gathers] == [True, False]


async def test_closing_closes_the_engine_stream() -> None:
    engine = FakeEngine([Step("search", "x"), a_done()])

    async with aclosing(stream(engine, Inquiry("Who?", mode="agent"))) as events:
        await anext(events)

    assert (engine.started, engine.ended) == (1, 1)
