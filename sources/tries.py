"""Try a source several times, with growing pauses, within the question's time.

Flow: a source's `search` -> **here** -> one try after the other -> its reply, or a `SourceError` with the reason.
"""

from collections.abc import Callable
from typing import TypeVar

from tenacity import Retrying, sleep_using_event

from errors import SourceError
from query_engine.runtime.deadline import Deadline
from remote import RemoteError, tried_again

ATTEMPTS = 5
# Of one try.
TIMEOUT_S = 60.0
# A service that asks for a longer pause is not waited for.
MAX_PAUSE_S = 20.0
# A reserve for the try itself: a pause that leaves less is not worth it.
LEAST_TRY_S = 0.1

Reply = TypeVar("Reply")


def try_often(once: Callable[[], Reply], deadline: Deadline, sleep: Callable[[float], None] | None = None) -> Reply:
    """Return what `once` returns, tried again after failures that may pass, `ATTEMPTS` times at most.

    Args:
        once: one try; raises RemoteError.
        deadline: no pause goes beyond it, and its `stop` ends a pause.
        sleep: pauses for seconds; waits for the deadline's `stop` if None.

    Raises:
        SourceError: that of the last try.
        OutOfTimeError: the client has left, or there was no time for the first try.
    """

    def checked() -> Reply:
        deadline.check("before a source was asked")
        return once()

    again = tried_again(ATTEMPTS - 1, lambda: min(MAX_PAUSE_S, deadline.left_s() - LEAST_TRY_S))
    try:
        return Retrying(**again, sleep=sleep or sleep_using_event(deadline.stop))(checked)
    except RemoteError as error:
        kind = "server_error" if error.kind == "unavailable" else error.kind
        raise SourceError(error.fact, error.remedy, f"source_{kind}") from error
