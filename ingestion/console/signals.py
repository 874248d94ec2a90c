"""Stop a run by Ctrl-C or SIGTERM: the first one lets it end in order, a second one ends it at once.

Flow: a command opens **this** around its run -> the run sees `stop` at its next check -> the exit code says which
signal it was. Committed documents stay in either case.
"""

import os
import signal
import threading
from types import FrameType
from typing import Any, Self

NOTICE = "stopping; what is committed stays. Once more stops at once.\n"
_STDERR = 2


class StopSignals:
    """A context manager, for the main thread; afterwards signals do what they did before.

    Args:
        notice: written to stderr at the first signal.

    Attributes:
        stop: set at the first signal.
        number: of that signal; None while none came.
    """

    def __init__(self, notice: str = NOTICE) -> None:
        self.stop = threading.Event()
        self.number: int | None = None
        self._notice = notice.encode()
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            if before is not signal.SIG_IGN:  # started in the background: not to be stopped
                self._before[number] = before
                signal.signal(number, self._stopped)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    @property
    def exit_code(self) -> int | None:
        """130 after Ctrl-C, 143 after SIGTERM, None without a signal."""
        return None if self.number is None else 128 + self.number

    def _stopped(self, number: int, _frame: FrameType | None) -> None:
        self.number = number
        for other in self._before:
            signal.signal(other, signal.SIG_DFL)
        # Not by `print`: the signal may have come in the middle of one.
        os.write(_STDERR, self._notice)
        self.stop.set()
