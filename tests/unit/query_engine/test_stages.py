"""Which stage of an answer its events begin and end."""

from collections.abc import Generator, Iterable

import pytest

from query_engine.schema.events import Event, Retrieved, Step, Token
from query_engine.stages import in_stages
from tests.fakes.engines import a_done
from tests.fakes.watching import watched

ANSWERED: list[Event] = [
    Step("conversation", "…"),
    Step("search", "…"),
    Step("plan", "…"),
    Step("found", "…"),
    Retrieved(()),
    Step("gate", "…"),
    Step("write", "…"),
    Token("Wind."),
    Step("write", "…"),
    a_done(),
]
DECLINED: list[Event] = [Step("search", "…"), Retrieved(()), Step("gate", "…"), a_done()]
LISTED: list[Event] = [Step("collection", "…"), Token("Two."), a_done()]
FROM_SOURCES: list[Event] = [Step("search", "…"), Step("found", "…"), Step("search", "…"), Retrieved(()), a_done()]


def play(events: Iterable[Event]) -> Generator[Event, None, None]:
    yield from events


@pytest.mark.parametrize(
    ("events", "stages"),
    [
        (ANSWERED, ["understand", "search", "decide", "write"]),
        (DECLINED, ["understand", "search", "decide"]),
        (LISTED, ["understand"]),
        (FROM_SOURCES, ["understand", "search", "decide"]),
    ],
)
def test_events_begin_stages_and_pass_unchanged(events: list[Event], stages: list[str]) -> None:
    with watched() as watch:
        assert list(in_stages(play(events))) == events

    assert watch.parts == stages
    assert watch.open == []


def test_a_reader_who_leaves_ends_the_stage_and_the_events() -> None:
    ended: list[bool] = []

    def events() -> Generator[Event, None, None]:
        try:
            yield from ANSWERED
        finally:
            ended.append(True)

    with watched() as watch:
        reading = in_stages(events())
        next(reading)
        reading.close()

    assert (watch.open, ended) == ([], [True])


def test_nobody_watches_unasked() -> None:
    events = play(ANSWERED)

    assert in_stages(events) is events
