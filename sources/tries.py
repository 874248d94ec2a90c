"""Try a source several times, with growing pauses, within the question's time.

Flow: a source's `search` -> **here** -> one try after the other -> its reply, or a `SourceError` with the reason.
"""

import random
from collections.abc import Callable
from typing import TypeVar

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    sleep_using_event,
)

from errors import SourceError
from query_engine.runtime.deadline import Deadline

ATTEMPTS = 5
# Of one try.
TIMEOUT_S = 60.0
PAUSE_S, MAX_PAUSE_S = 0.5, 20.0
# A reserve for the try itself: a pause that leaves less is not worth it.
LEAST_TRY_S = 0.1

Reply = TypeVar("Reply")


class PassingError(Exception):
    """A failure that may be over at the next try.

    Args:
        error: what it is if it is not.
        wait_s: what the source asks to wait before the next try.
    """

    def __init__(self, error: SourceError, wait_s: float = 0.0) -> None:
        super().__init__(error)
        self.error = error
        self.wait_s = wait_s


def try_often(
    once: Callable[[], Reply],
    deadline: Deadline,
    sleep: Callable[[float], None] | None = None,
) -> Reply:
    """Return what `once` returns, tried again after a `PassingError`, `ATTEMPTS` times at most.

    Args:
        once: one try; raises SourceError for what no further try can mend.
        deadline: no pause goes beyond it, and its `stop` ends a pause.
        sleep: pauses for seconds; waits for the deadline's `stop` if None.

    Raises:
        SourceError: that of the last try.
        OutOfTimeError: the client has left, or there was no time for the first try.
    """

    def checked() -> Reply:
        deadline.check("before a source was asked")
        return once()

    def gives_up(state: RetryCallState) -> bool:
        return state.attempt_number >= ATTEMPTS or state.upcoming_sleep + LEAST_TRY_S > deadline.left_s()

    tries = Retrying(
        retry=retry_if_exception_type(PassingError),
        stop=gives_up,
        wait=_pause_s,
        sleep=sleep or sleep_using_event(deadline.stop),
        reraise=True,
    )
    try:
        return tries(checked)
    except PassingError as failure:
        raise failure.error from failure


def _pause_s(state: RetryCallState) -> float:
    """Return seconds that double with each try, or what the source asks for if that is longer, and some by chance.

    Many questions fail at the same moment when a source goes down, and must not come back at the same moment.
    """
    failure = state.outcome.exception() if state.outcome else None
    asked_s = failure.wait_s if isinstance(failure, PassingError) else 0.0
    doubled_s: float = PAUSE_S * 2 ** (state.attempt_number - 1)
    return min(max(doubled_s, asked_s) * random.uniform(1, 1.25), MAX_PAUSE_S)  # noqa: S311  # no secret
