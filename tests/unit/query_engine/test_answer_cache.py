import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from pathlib import Path

import pytest

from errors import LLMError
from query_engine.answer_cache import AnswerCache
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Done, Event, Retrieved, Step, Token
from tests.fakes.engines import a_done, a_passage

ANSWER = (Step("search", "**Searching**"), Retrieved((a_passage(),)), Token("Wind "), Token("turns."), a_done())


async def playing(events: Sequence[Event | Exception]) -> AsyncGenerator[Event, None]:
    for event in events:
        if isinstance(event, Exception):
            raise event
        yield event


async def all_of(events: AsyncGenerator[Event, None] | None) -> list[Event]:
    assert events is not None
    return [event async for event in events]


async def keep(cache: AnswerCache, *events: Event | Exception, key: str = "k", later: str = "k") -> list[Event]:
    keys = iter((key, later))

    async def current() -> str:
        return next(keys)

    return await all_of(cache.keep(playing(events), current))


async def test_a_kept_answer_is_told_like_the_first_one() -> None:
    cache = AnswerCache(2, 60)
    first = await keep(cache, *ANSWER)

    again = await all_of(cache.find("k"))

    assert first == list(ANSWER)
    assert again[1:-1] == first[:-1]
    assert again[0] == Step(
        "cache", "**Answered before** from the same documents and settings; what follows is that answer."
    )
    assert isinstance(again[-1], Done)
    assert (again[-1].answer, again[-1].cache_hit, list(again[-1].timings_ms)) == (a_done().answer, True, ["total"])


@pytest.mark.parametrize(
    "done", [a_done(None), a_done(warnings=(AnswerWarning("low_confidence", "Perhaps not the answer."),))]
)
async def test_what_would_come_out_the_same_is_kept_as_well(done: Done) -> None:
    cache = AnswerCache(2, 60)
    await keep(cache, done)

    assert cache.find("k") is not None


@pytest.mark.parametrize(
    "events",
    [
        [Token("Wind"), LLMError("The model broke.", "Restart it.")],
        [a_done(warnings=(AnswerWarning("llm_failed", "The model broke."),))],
        [a_done(None, warnings=(AnswerWarning("llm_failed", "The model broke."),))],
    ],
    ids=["a failure", "an answer with a warning", "declined with a warning"],
)
async def test_what_may_be_better_a_moment_later_is_not_kept(events: list[Event | Exception]) -> None:
    cache = AnswerCache(2, 60)
    with suppress(LLMError):
        await keep(cache, *events)

    assert cache.find("k") is None


async def test_an_answer_that_its_reader_left_is_not_kept_and_its_engine_is_closed() -> None:
    cache, closed = AnswerCache(2, 60), []

    async def engine() -> AsyncGenerator[Event, None]:
        try:
            for event in ANSWER:
                yield event
        finally:
            closed.append(True)

    async def current() -> str:
        return "k"

    async with aclosing(cache.keep(engine(), current)) as events:
        await anext(events)

    assert closed == [True]
    assert cache.find("k") is None


async def test_an_answer_whose_documents_changed_meanwhile_is_not_kept() -> None:
    cache = AnswerCache(2, 60)
    await keep(cache, *ANSWER, later="another")

    assert cache.find("k") is None


async def test_the_cache_is_bounded_and_forgets() -> None:
    now = [0.0]
    cache = AnswerCache(2, 60, clock=lambda: now[0])
    for key in "abc":
        await keep(cache, *ANSWER, key=key, later=key)

    assert [cache.find(key) is not None for key in "abc"] == [False, True, True]
    assert cache.clear() == 2
    await keep(cache, *ANSWER)
    now[0] = 61
    assert cache.find("k") is None
    assert cache.clear() == 0


async def test_no_entries_keep_nothing() -> None:
    cache = AnswerCache(0, 60)

    assert await keep(cache, *ANSWER) == list(ANSWER)
    assert cache.find("k") is None


async def test_what_one_process_forgets_all_that_share_its_mark_forget(tmp_path: Path) -> None:
    mark = tmp_path / "cleared"
    mark.touch()
    os.utime(mark, ns=(1, 1))
    one, other = (AnswerCache(2, 60, mark=mark) for _ in range(2))
    await keep(other, *ANSWER)
    assert other.find("k") is not None

    one.clear()

    assert other.find("k") is None
    for cache in (one, other):
        await keep(cache, *ANSWER)
        assert cache.find("k") is not None


@pytest.mark.fault("E18")
@pytest.mark.parametrize("clearer", ["itself", "another process"])
@pytest.mark.parametrize("after", range(len(ANSWER)))
async def test_an_answer_that_was_being_made_when_all_was_forgotten_is_not_kept(
    tmp_path: Path, clearer: str, after: int
) -> None:
    mark = tmp_path / "cleared"
    mark.touch()
    os.utime(mark, ns=(1, 1))
    cache, other = (AnswerCache(2, 60, mark=mark) for _ in range(2))
    answering = cache.keep(playing(ANSWER), _one_key)
    for _ in range(after + 1 if after < len(ANSWER) - 1 else after):
        await anext(answering)

    (cache if clearer == "itself" else other).clear()
    assert cache.find("k") is None
    told = await all_of(answering)

    assert isinstance(told[-1], Done), "who asked gets the answer all the same"
    assert cache.find("k") is None
    await keep(cache, *ANSWER)
    assert cache.find("k") is not None


async def _one_key() -> str:
    return "k"
