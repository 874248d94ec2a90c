import os
from pathlib import Path

import pytest

from query_engine.answer_cache import AnswerCache
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Done, Event, Retrieved, Step, Token
from tests.fakes.engines import a_done, a_passage

ANSWER = (Step("search", "**Searching**"), Retrieved((a_passage(),)), Token("Wind "), Token("turns."), a_done())


def keep(cache: AnswerCache, *events: Event, key: str = "k") -> None:
    draft = cache.draft()
    for event in events:
        draft.add(event)
    cache.keep(key, draft)


def test_a_kept_answer_is_told_like_the_first_one() -> None:
    cache = AnswerCache(2, 60)
    keep(cache, *ANSWER)

    again = cache.find("k")

    assert again is not None
    assert tuple(again[1:-1]) == ANSWER[:-1]
    assert isinstance(again[0], Step)
    assert again[0].kind == "cache"
    assert isinstance(again[-1], Done)
    assert (again[-1].answer, again[-1].cache_hit, list(again[-1].timings_ms)) == (a_done().answer, True, ["total"])


@pytest.mark.parametrize(
    "done", [a_done(None), a_done(warnings=(AnswerWarning("low_confidence", "Perhaps not the answer."),))]
)
def test_what_would_come_out_the_same_is_kept_as_well(done: Done) -> None:
    cache = AnswerCache(2, 60)
    keep(cache, done)

    assert cache.find("k") is not None


@pytest.mark.parametrize(
    "events",
    [
        [Token("Wind")],
        [a_done(warnings=(AnswerWarning("llm_failed", "The model broke."),))],
        [a_done(None, warnings=(AnswerWarning("llm_failed", "The model broke."),))],
    ],
    ids=["broken off", "an answer with a warning", "declined with a warning"],
)
def test_what_may_be_better_a_moment_later_is_not_kept(events: list[Event]) -> None:
    cache = AnswerCache(2, 60)
    keep(cache, *events)

    assert cache.find("k") is None


def test_the_cache_is_bounded_and_forgets() -> None:
    now = [0.0]
    cache = AnswerCache(2, 60, clock=lambda: now[0])
    for key in "abc":
        keep(cache, *ANSWER, key=key)

    assert [cache.find(key) is not None for key in "abc"] == [False, True, True]
    assert cache.clear() == 2
    keep(cache, *ANSWER)
    now[0] = 61
    assert cache.find("k") is None
    assert cache.clear() == 0


def test_no_entries_keep_nothing() -> None:
    cache = AnswerCache(0, 60)
    keep(cache, *ANSWER)

    assert cache.find("k") is None


def test_what_one_process_forgets_all_that_share_its_mark_forget(tmp_path: Path) -> None:
    mark = tmp_path / "cleared"
    mark.touch()
    os.utime(mark, ns=(1, 1))
    one, other = (AnswerCache(2, 60, mark=mark) for _ in range(2))
    keep(other, *ANSWER)
    assert other.find("k") is not None

    one.clear()

    assert other.find("k") is None
    for cache in (one, other):
        keep(cache, *ANSWER)
        assert cache.find("k") is not None


@pytest.mark.fault("E18")
@pytest.mark.parametrize("clearer", ["itself", "another process"])
@pytest.mark.parametrize("after", range(len(ANSWER)))
def test_an_answer_that_was_being_made_when_all_was_forgotten_is_not_kept(
    tmp_path: Path, clearer: str, after: int
) -> None:
    mark = tmp_path / "cleared"
    mark.touch()
    os.utime(mark, ns=(1, 1))
    cache, other = (AnswerCache(2, 60, mark=mark) for _ in range(2))
    draft = cache.draft()
    for event in ANSWER[:after]:
        draft.add(event)

    (cache if clearer == "itself" else other).clear()
    assert cache.find("k") is None
    for event in ANSWER[after:]:
        draft.add(event)
    cache.keep("k", draft)

    assert cache.find("k") is None
    keep(cache, *ANSWER)
    assert cache.find("k") is not None
