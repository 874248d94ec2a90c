"""How many questions run at once, and how many wait for that.

Flow: `answering/runner.py` enters here before any work -> a place, running or in line -> it leaves when the last thread
that worked for the question has ended. Used on the event loop only, so nothing here needs a lock. It knows every
question of the service, so it is told when the service stops.
"""

import asyncio
from collections.abc import Callable, Coroutine

from errors import RagError
from query_engine.runtime.deadline import Deadline


class AdmissionQueue:
    """All places of a service.

    Args:
        running: questions that may run at once, at least 1.
        waiting: questions that may wait; those that come then are refused.
        on_change: told after each change how many run and wait, and how many may.
    """

    def __init__(
        self, running: int, waiting: int, on_change: Callable[[int, int, int, int], None] = lambda *_: None
    ) -> None:
        self._slots = running
        self._free = running
        self._queue = waiting
        self._line: list[Ticket] = []
        self._deadlines: dict[Ticket, Deadline] = {}
        self._stopping_s: float | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._on_change = on_change
        self._tell()

    @property
    def total(self) -> int:
        """Questions that may run at once."""
        return self._slots

    @property
    def running(self) -> int:
        """Questions that hold a slot."""
        return self._slots - self._free

    @property
    def waiting(self) -> int:
        """Questions in line."""
        return len(self._line)

    @property
    def stopping(self) -> bool:
        """Whether the service is being stopped."""
        return self._stopping_s is not None

    def enter(self, deadline: Deadline) -> "Ticket":
        """Take a slot, or the last place in line; the caller has to leave it.

        Args:
            deadline: of the question; brought forward when the service stops.

        Raises:
            RagError: there is neither.
        """
        place = Ticket(self)
        if self._free:
            self._free -= 1
            place.call()
        elif len(self._line) < self._queue:
            self._line.append(place)
        else:
            raise RagError(
                f"{self._slots} questions are being answered and {self._queue} are waiting: this one cannot be taken.",
                "Ask again after the seconds that the header Retry-After names.",
                "too_many_questions",
            )
        self._deadlines[place] = deadline
        self._tell()
        if self._stopping_s is not None:
            deadline.shorten(self._stopping_s)
        return place

    def stop(self, within_s: float) -> None:
        """Give all questions, and those that still come, so many seconds to end."""
        self._stopping_s = within_s
        for deadline in self._deadlines.values():
            deadline.shorten(within_s)

    async def wait_closed(self, timeout_s: float) -> None:
        """Wait, for a limited time, until the work of abandoned questions has ended."""
        if self._closing:
            await asyncio.wait(self._closing, timeout=timeout_s)

    def position(self, place: "Ticket") -> int:
        """Return how many questions have to end before this one begins; 0 when it may run."""
        return self._line.index(place) + 1 if place in self._line else 0

    def leave(self, place: "Ticket", *, held: bool) -> None:
        """Take a place out of line, or hand its slot to the first in line."""
        del self._deadlines[place]
        if not held:
            self._line.remove(place)
        elif self._line:
            self._line.pop(0).call()
        else:
            self._free += 1
        self._tell()

    def leave_after(self, place: "Ticket", closing: Coroutine[None, None, None]) -> None:
        """Let the place leave when `closing` has ended, however it ends; nobody waits for that."""

        async def close() -> None:
            try:
                await closing
            finally:
                place.leave()

        task = asyncio.get_running_loop().create_task(close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def _tell(self) -> None:
        self._on_change(self.running, self.waiting, self._slots, self._queue)


class Ticket:
    """One question's place among the others."""

    def __init__(self, slots: AdmissionQueue) -> None:
        self._slots = slots
        self._called = asyncio.Event()
        self._left = False
        self._releases: list[Callable[[], None]] = []

    @property
    def ahead(self) -> int:
        """How many questions have to end before this one begins; 0 when it may run."""
        return self._slots.position(self)

    def call(self) -> None:
        """Let the question run."""
        self._called.set()

    async def turn(self) -> None:
        """Wait until the question may run."""
        await self._called.wait()

    def on_leave(self, release: Callable[[], None]) -> None:
        """Have this called when the place is left; safe from the thread that works for the question."""
        self._releases.append(release)

    def leave(self) -> None:
        """Give the slot back, or leave the line. Doing it again does nothing."""
        if not self._left:
            self._left = True
            for release in self._releases:
                release()
            self._slots.leave(self, held=self._called.is_set())

    def leave_after(self, closing: Coroutine[None, None, None]) -> None:
        """Leave as soon as `closing` has ended, without waiting for it here."""
        self._slots.leave_after(self, closing)
