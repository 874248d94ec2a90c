"""What is opened by name, shared by all who use it at the same time, and closed when others need its place.

Flow: `build.py` makes one for the engines of the corpora -> **here** -> each user has a `Lease`, and gives it back.
What is opened, and what it takes, is not known here.

Opening may take minutes. It blocks those who want the same name and nobody else: the pool's own lock is held for
bookkeeping only.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Generic, TypeVar

from errors import CorpusError, TooManyCorporaError, UnknownCorpusError

Item = TypeVar("Item")
Item_co = TypeVar("Item_co", covariant=True)

logger = logging.getLogger(__name__)


class Lease(Generic[Item_co]):
    """The right to use an item: it stays open until the lease is given back. A context manager that yields the item.

    Args:
        item: what is leased.
        give_back: called once.
    """

    def __init__(self, item: Item_co, give_back: Callable[[], None]) -> None:
        self.item = item
        self._give_back: Callable[[], None] | None = give_back

    def release(self) -> None:
        """Give it back; a second call does nothing."""
        give_back, self._give_back = self._give_back, None
        if give_back is not None:
            give_back()

    def __enter__(self) -> Item_co:
        return self.item

    def __exit__(self, *_: object) -> None:
        self.release()


class LeasePool(Generic[Item]):
    """Open items by name. Safe from many threads.

    Args:
        open_item: opens one, `(name, create)`; blocks, may fail, and is called for several names at once.
        close_item: closes one that nobody uses.
        max_open: how many may be open; the one that nobody has used for longest makes room.
        has_room: says whether the process has room for so many more.
        wait_s: how long an opening waits for room while all that are open are in use.
    """

    def __init__(
        self,
        open_item: Callable[[str, bool], Item],
        close_item: Callable[[Item], None],
        max_open: int,
        has_room: Callable[[int], bool],
        wait_s: float = 10.0,
    ) -> None:
        self._open_item, self._close_item = open_item, close_item
        self._max_open, self._has_room = max_open, has_room
        self._wait_s = wait_s
        self._guard = threading.Lock()
        self._changed = threading.Condition(self._guard)
        # Ordered by their last use, the latest last.
        self._entries: OrderedDict[str, _Entry[Item]] = OrderedDict()
        self._retired: list[_Entry[Item]] = []
        self._closed = False

    def lease(self, name: str, *, create: bool = False) -> Lease[Item]:
        """Return an item, opening it if need be; calls for one that is being opened wait for that opening.

        Raises:
            TooManyCorporaError: there is no room for it, and all that are open are in use.
            CorpusError: the pool is closed.
            Exception: opening failed; the next call tries again.
        """
        while True:
            entry, opens = self._entered(name)
            if entry.closing:
                entry.closed.wait()
                continue
            if opens:
                self._open(name, entry, create=create)
            try:
                item = entry.opening.result()
            except UnknownCorpusError:
                if create and not opens:
                    continue  # the call that opened it was not to make it
                raise
            return Lease(item, partial(self._give_back, entry))

    def lease_open(self, name: str) -> Lease[Item] | None:
        """Return an item that is open, or None; waits for no opening."""
        with self._guard:
            entry = self._entries.get(name)
            if entry is None or not entry.is_open:
                return None
            self._take(name, entry)
        return Lease(entry.opening.result(), partial(self._give_back, entry))

    def retire(self, name: str, item: Item) -> None:
        """Have the next lease of a name reopen it; an item in use is closed when its last lease ends.

        Args:
            name: of the item.
            item: what is to be retired; if another one is open under the name by now, nothing is done.
        """
        with self._guard:
            entry = self._entries.get(name)
            if entry is None or not entry.is_open or entry.opening.result() is not item:
                return
            del self._entries[name]
            entry.retired = True
            self._retired.append(entry)
        self._close_retired()

    @contextmanager
    def closed(self, name: str) -> Iterator[None]:
        """Close an item, and keep it closed during a `with` block; who wants it waits for the end of that.

        Raises:
            TooManyCorporaError: it has been in use all the time that an opening would wait.
        """
        until = time.monotonic() + self._wait_s
        with self._guard:
            while (entry := self._entries.get(name)) and (entry.leases or not entry.is_open):
                self._wait(
                    until - time.monotonic(), f"{name!r} is in use.", "Try again when its questions are answered."
                )
            entry = entry or _Entry[Item]()
            entry.closing = True
            self._entries[name] = entry
        if entry.opening.done():
            self._close_one(name, entry)
        try:
            yield
        finally:
            self._forget(name, entry)

    def open_items(self) -> dict[str, Item]:
        """Return what is open, by name."""
        with self._guard:
            return {name: entry.opening.result() for name, entry in self._entries.items() if entry.is_open}

    def close(self) -> None:
        """Close everything, in use or not, and open nothing more; what is being opened is closed when it is open."""
        with self._guard:
            self._closed = True
            entries = {name: entry for name, entry in self._entries.items() if entry.is_open}
            for entry in entries.values():
                entry.closing = True
            retired, self._retired = self._retired, []
        for name, entry in entries.items():
            self._shut(name, entry)
        for entry in retired:
            self._close_one("a retired item", entry)

    def _entered(self, name: str) -> "tuple[_Entry[Item], bool]":
        """Return the entry of a name, and whether it is new and the caller has to open it; taken unless it closes."""
        with self._guard:
            if self._closed:
                raise _stopped()
            known = self._entries.get(name)
            entry = known or _Entry[Item]()
            if not entry.closing:
                self._take(name, entry)
            return entry, known is None

    def _take(self, name: str, entry: "_Entry[Item]") -> None:
        entry.leases += 1
        self._entries[name] = entry
        self._entries.move_to_end(name)

    def _give_back(self, entry: "_Entry[Item]") -> None:
        with self._guard:
            entry.leases -= 1
            self._changed.notify_all()
        if entry.retired:
            self._close_retired()

    def _close_retired(self) -> None:
        with self._guard:
            idle = [entry for entry in self._retired if not entry.leases]
            self._retired = [entry for entry in self._retired if entry.leases]
        for entry in idle:
            self._close_one("a retired item", entry)

    def _open(self, name: str, entry: "_Entry[Item]", *, create: bool) -> None:
        """Settle the entry's future: open, or failed and forgotten."""
        try:
            self._admit(entry)
            item = self._open_item(name, create)
        except BaseException as error:  # noqa: BLE001  # it is raised where the result is awaited
            with self._guard:
                del self._entries[name]
                self._changed.notify_all()
            entry.opening.set_exception(error)
            return
        with self._guard:
            closed = self._closed
            if not closed:
                entry.opening.set_result(item)
            self._changed.notify_all()
        if closed:
            self._close_item(item)
            entry.opening.set_exception(_stopped())

    def _admit(self, entry: "_Entry[Item]") -> None:
        """Return when there is room for the entry, which then counts; close what is idle until there is."""
        until = time.monotonic() + self._wait_s
        while True:
            with self._guard:
                if self._fits():
                    entry.admitted = True
                    return
                idle = self._longest_idle()
                if idle is None:
                    self._wait(
                        until - time.monotonic(),
                        "There is no room to open another corpus: all that are open are in use.",
                        "Ask again when other questions are answered, or raise the process's "
                        "limit of open files (`ulimit -n`).",
                    )
                    continue
                idle[1].closing = True
            self._shut(*idle)

    def _fits(self) -> bool:
        admitted = [entry for entry in self._entries.values() if entry.admitted]
        openings = sum(not entry.opening.done() for entry in admitted)
        return len(admitted) < self._max_open and self._has_room(openings + 1)

    def _longest_idle(self) -> "tuple[str, _Entry[Item]] | None":
        idle = ((name, entry) for name, entry in self._entries.items() if entry.is_open and not entry.leases)
        return next(idle, None)

    def _wait(self, timeout_s: float, fact: str, remedy: str) -> None:
        """Wait until something has changed; raise if no time is left for that."""
        if timeout_s <= 0:
            raise TooManyCorporaError(fact, remedy)
        self._changed.wait(timeout_s)

    def _shut(self, name: str, entry: "_Entry[Item]") -> None:
        try:
            self._close_one(name, entry)
        finally:
            self._forget(name, entry)

    def _forget(self, name: str, entry: "_Entry[Item]") -> None:
        with self._guard:
            self._entries.pop(name, None)
            self._changed.notify_all()
        entry.closed.set()

    def _close_one(self, name: str, entry: "_Entry[Item]") -> None:
        try:
            self._close_item(entry.opening.result())
        except Exception:
            logger.exception("%r could not be closed", name)


def _stopped() -> CorpusError:
    return CorpusError("The corpora are being closed, because the service stops.", "Ask again when it runs.")


class _Entry(Generic[Item]):
    """One name's item.

    Attributes:
        opening: done when the item is open.
        admitted: it takes a place: it is open, or it is being opened and there is room for it.
        leases: of those who use it or wait for it.
        closing: it is or was closed; opening it again has to wait for `closed`.
        retired: another one may be open under its name; it is closed when nobody uses it.
    """

    def __init__(self) -> None:
        self.opening: Future[Item] = Future()
        self.admitted = False
        self.leases = 0
        self.closing = False
        self.retired = False
        self.closed = threading.Event()

    @property
    def is_open(self) -> bool:
        return self.opening.done() and not self.closing
