"""How many characters a file may become: a small one can repeat a cell, a row, a member or an entity without end.

Flow: `formats.py` (the size of a file) -> **here** <- `TextBuilder` and whatever repeats what it has read.

`formats.py` keeps one budget for a file and all that is in it, counts each document that comes out, and lends the
budget to the reader at work. What is being written is only compared with what is left, so nothing counts twice and
every loop that repeats can ask before it does. Where no file is being read, anything may be written.
"""

from collections.abc import Iterator
from contextvars import ContextVar
from typing import TypeVar

from errors import UnreadableError
from ingestion.reading.compression import MAX_RATIO

# A file of any size may become this share of the longest document.
SMALL_SHARE = 20
# A document without a word costs as much: it has an id, a title and a vector.
DOCUMENT_CHARS = 100
# So many members of one file may become too much before the rest is given up.
MAX_REFUSALS = 20
# What parts one cell of a row from the next one.
BETWEEN_CELLS = 3

T = TypeVar("T")
_lent: ContextVar["TextBudget | None"] = ContextVar("text_budget", default=None)


class TextBudget:
    """What one file may become, with all that is in it: a hundred times its size, and some text in any case.

    Args:
        size: of the file, in bytes, as it is on disk.
        max_chars: of one document.
    """

    def __init__(self, size: int, max_chars: int) -> None:
        self._size = size
        self._least = max_chars // SMALL_SHARE
        self._taken = 0
        self._refusals = 0

    @property
    def spent(self) -> bool:
        """Whether nothing more shall be read."""
        return self._refusals > MAX_REFUSALS

    def take(self, chars: int) -> None:
        """Count a document of this length.

        Raises:
            UnreadableError: it is too long.
        """
        self.check(chars + DOCUMENT_CHARS)
        self._taken += chars + DOCUMENT_CHARS

    def check(self, chars: int) -> None:
        """Refuse what is longer than what is left.

        Raises:
            UnreadableError: it is.
        """
        allowed = max(self._least, MAX_RATIO * self._size)
        if chars > allowed - self._taken:
            self._refusals += 1
            raise UnreadableError(
                f"The file becomes more than {allowed:,} characters, far more than it holds itself.",
                f"Remove what repeats in it, or raise RAG_INGEST__MAX_DOCUMENT_CHARS to {SMALL_SHARE} times its text.",
            )

    def add_size(self, size: int) -> None:
        """Count the bytes of a further file that belongs to this one."""
        self._size += size

    def lent(self, items: Iterator[T]) -> Iterator[T]:
        """Pass on what a reader yields; while it is at work, `check`, `add_size` and `Growth` mean this budget."""
        while True:
            before = _lent.set(self)
            try:
                item = next(items)
            except StopIteration:
                return
            finally:
                _lent.reset(before)
            yield item


class Growth:
    """Counts what a loop repeats, before it is written."""

    def __init__(self) -> None:
        self._chars = 0

    def add(self, chars: int) -> None:
        """Count characters.

        Raises:
            UnreadableError: with those before they are more than what is left.
        """
        self._chars += chars
        check(self._chars)


def check(chars: int) -> None:
    """Refuse what is longer than what is left to the file that is being read.

    Raises:
        UnreadableError: it is.
    """
    if budget := _lent.get():
        budget.check(chars)


def add_size(size: int) -> None:
    """Count the bytes of a further file that belongs to the one that is being read."""
    if budget := _lent.get():
        budget.add_size(size)
