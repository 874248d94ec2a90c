"""A time limit that work looks at between its parts.

Flow: `reranking/` and `expansion/` set one for each question -> **here** -> whoever works checks it.
"""

import time
from collections.abc import Callable

from errors import OutOfTimeError


class Deadline:
    """Begins when it is made.

    Args:
        timeout_s: seconds until it has passed.
        clock: seconds that never go back.
    """

    def __init__(self, timeout_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._timeout_s = timeout_s
        self._clock = clock
        self._end = clock() + timeout_s

    def check(self, where: str) -> None:
        """Return if there is time left.

        Args:
            where: how far the work has come, to end the sentence "The limit of 5 s was reached ...".

        Raises:
            OutOfTimeError: there is none.
        """
        if self._clock() >= self._end:
            raise OutOfTimeError(
                f"The limit of {self._timeout_s:g} s was reached {where}.", "Raise the limit, or give it less to do."
            )
