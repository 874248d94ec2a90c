"""A source is tried again, with growing pauses, as long as there is a point in it."""

import pytest

from errors import OutOfTimeError, SourceError
from query_engine.runtime.deadline import Deadline
from sources.tries import ATTEMPTS, MAX_PAUSE_S, PassingError, try_often


class Tried:
    def __init__(self, *outcomes: object) -> None:
        self.outcomes = list(outcomes)
        self.count = 0
        self.pauses_s: list[float] = []

    def __call__(self) -> str:
        outcome = self.outcomes[min(self.count, len(self.outcomes) - 1)]
        self.count += 1
        if isinstance(outcome, Exception):
            raise outcome
        return str(outcome)


DOWN = PassingError(SourceError("It is down.", "Start it.", "source_unreachable"))


def test_a_passing_failure_is_tried_again_after_growing_pauses() -> None:
    once = Tried(DOWN, DOWN, DOWN, "pages")

    assert try_often(once, Deadline(1000), once.pauses_s.append) == "pages"
    assert once.pauses_s == sorted(once.pauses_s)
    assert len(once.pauses_s) == 3


def test_the_last_failure_is_raised_as_what_it_is() -> None:
    once = Tried(DOWN)

    with pytest.raises(SourceError) as caught:
        try_often(once, Deadline(1000), once.pauses_s.append)

    assert caught.value.code == "source_unreachable"
    assert once.count == ATTEMPTS


def test_a_lasting_failure_is_not_tried_again() -> None:
    once = Tried(SourceError("No key.", "Set it.", "source_key_refused"))

    with pytest.raises(SourceError, match="No key"):
        try_often(once, Deadline(1000), once.pauses_s.append)

    assert once.count == 1


def test_what_the_service_asks_to_wait_is_waited_up_to_a_limit() -> None:
    once = Tried(PassingError(DOWN.error, 7), PassingError(DOWN.error, 1e9), "pages")

    try_often(once, Deadline(1000), once.pauses_s.append)

    assert 7 <= once.pauses_s[0] < 9
    assert once.pauses_s[1] == MAX_PAUSE_S


def test_no_pause_goes_beyond_the_deadline() -> None:
    once = Tried(PassingError(DOWN.error, 7))

    with pytest.raises(SourceError):
        try_often(once, Deadline(3), once.pauses_s.append)

    assert once.count == 1
    assert not once.pauses_s


def test_nobody_is_asked_for_a_client_that_has_left() -> None:
    deadline, once = Deadline(1000), Tried("pages")
    deadline.stop.set()

    with pytest.raises(OutOfTimeError):
        try_often(once, deadline)

    assert not once.count
