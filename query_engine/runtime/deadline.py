"""A deadline with a cancellation flag, checked by work between its parts.

Flow: a question has one, made when it arrives; `reranking/` and `expansion.py` have shorter ones within it -> **here**
-> the work checks it. A service that is being stopped brings those of its running questions forward.
"""

import threading
import time
from collections.abc import Callable

from errors import OutOfTimeError


class Deadline:
    """Begins when it is made.

    Args:
        timeout_s: seconds until it has passed.
        clock: seconds that never go back.
        stop: see below; a new one if None.

    Attributes:
        stop: set when the client that waited for the work has left; safe to set and read from any thread.
    """

    def __init__(
        self, timeout_s: float, clock: Callable[[], float] = time.monotonic, stop: threading.Event | None = None
    ) -> None:
        self._timeout_s = timeout_s
        self._clock = clock
        self._end = clock() + timeout_s
        self._shortened: tuple[float, float] | None = None
        self._source: tuple[Deadline, Callable[[float], float]] | None = None
        self.stop = stop or threading.Event()

    def left_s(self) -> float:
        """Seconds until it has passed, never below 0."""
        end, cut = self._end, self._cut()
        if cut is not None:
            moment, left_s = cut
            end = min(end, moment + left_s)
        return max(0.0, end - self._clock())

    def shorten(self, timeout_s: float) -> None:
        """Let a question's deadline pass `timeout_s` from now unless it passes sooner, and those within it accordingly.

        Only the first call has an effect. Safe from any thread. A wait whose timeout was read before does not notice:
        wait with `threads.first_done`.
        """
        if self._shortened is None:
            self._shortened = self._clock(), timeout_s

    def within(self, timeout_s: float) -> "Deadline":
        """Return one that passes after `timeout_s`, or with this one if that is sooner; both have the same `stop`."""
        return self._part(lambda left_s: min(timeout_s, left_s))

    def subtask(self, timeout_s: float) -> "Deadline":
        """Return one as `within` does, with a separate `stop`: the end of that task is not the end of this one."""
        part = self.within(timeout_s)
        part.stop = threading.Event()
        return part

    def for_stage(self, timeout_s: float) -> "Deadline":
        """Return the limit of a stage that can be left out: `timeout_s`, or half of what is left if that is less."""
        return self._part(lambda left_s: min(timeout_s, left_s / 2))

    def sparing(self, reserve_s: float) -> "Deadline":
        """Return an earlier one: it leaves `reserve_s` for what has to follow, or a fifth if there is little left."""
        return self._part(lambda left_s: left_s - min(reserve_s, left_s / 5))

    def check_wanted(self, where: str) -> None:
        """Return if somebody waits, even if it is late; arguments and errors are those of `check`."""
        if self.stop.is_set():
            raise OutOfTimeError(f"The work was given up {where}.", "Nobody waits for it any more.")

    def check(self, where: str) -> None:
        """Return if there is time left and somebody waits.

        Args:
            where: how far the work has come, to end the sentence "The limit of 5 s was reached ...".

        Raises:
            OutOfTimeError: there is none, or nobody does.
        """
        self.check_wanted(where)
        if not self.left_s():
            raise OutOfTimeError(
                f"The limit of {self._timeout_s:.3g} s was reached {where}.", "Raise the limit, or give it less to do."
            )

    def _part(self, share: Callable[[float], float]) -> "Deadline":
        """Return one that has this share of what is left, and of what will be left if this one is brought forward."""
        source = None if self._cut() else (self, share)
        part = Deadline(share(self.left_s()), self._clock, self.stop)
        part._source = source
        return part

    def _cut(self) -> tuple[float, float] | None:
        """Return when it was brought forward, and the seconds that it had left then; None if that has not happened."""
        if self._source is None:
            return self._shortened
        parent, share = self._source
        cut = parent._cut()
        return None if cut is None else (cut[0], share(cut[1]))
