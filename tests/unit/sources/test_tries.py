"""A source is tried again, with growing pauses, as long as there is a point in it."""

import pytest

from errors import OutOfTimeError, SourceError
from query_engine.runtime.deadline import Deadline
from remote import RemoteError
from sources.tries import ATTEMPTS, try_often


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


DOWN = RemoteError("It is down.", "Start it.", "unreachable")


def busy(pause_s: float) -> RemoteError:
    error = RemoteError("It is busy.", "Wait.", "busy")
    error.pause_s = pause_s
    return error


def test_the_last_failure_is_raised_as_what_it_is() -> None:
    once = Tried(DOWN)

    with pytest.raises(SourceError) as caught:
        try_often(once, Deadline(1000), once.pauses_s.append)

    assert caught.value.code == "source_unreachable"
    assert once.count == ATTEMPTS


@pytest.mark.parametrize(("pause_s", "time_s"), [(7, 3), (21, 1000)], ids=["than the deadline", "than is waited for"])
def test_a_service_that_asks_for_a_longer_pause_is_given_up(pause_s: float, time_s: float) -> None:
    once = Tried(busy(pause_s))

    with pytest.raises(SourceError, match="busy"):
        try_often(once, Deadline(time_s), once.pauses_s.append)

    assert (once.count, once.pauses_s) == (1, [])


def test_nobody_is_asked_for_a_client_that_has_left() -> None:
    deadline, once = Deadline(1000), Tried("pages")
    deadline.stop.set()

    with pytest.raises(OutOfTimeError):
        try_often(once, deadline)

    assert not once.count
