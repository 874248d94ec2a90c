"""Keep the documents that questions touch most in memory, within a bound.

Flow: `documents.py` asks here before it reads the database. Safe from many threads.
"""

import threading
from collections import OrderedDict
from typing import Generic, Protocol, TypeVar


class Versioned(Protocol):
    """A document of a version, with its text."""

    @property
    def version(self) -> str:
        """Name of this content."""
        ...

    @property
    def text(self) -> str:
        """What takes the room."""
        ...


T = TypeVar("T", bound=Versioned)


class DocumentCache(Generic[T]):
    """The most recently used documents, by version.

    Args:
        max_chars: bound on the characters of their text together; the last one stays, however long.
    """

    def __init__(self, max_chars: int) -> None:
        self._max_chars = max_chars
        self._chars = 0
        self._documents: OrderedDict[str, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, version: str) -> T | None:
        """Return a kept document, or None."""
        with self._lock:
            if version in self._documents:
                self._documents.move_to_end(version)
            return self._documents.get(version)

    def put(self, document: T) -> None:
        """Keep a document, and let go of those used longest ago."""
        with self._lock:
            if document.version in self._documents:
                return
            self._documents[document.version] = document
            self._chars += len(document.text)
            while self._chars > self._max_chars and len(self._documents) > 1:
                _, oldest = self._documents.popitem(last=False)
                self._chars -= len(oldest.text)

    def drop(self, version: str) -> None:
        """Let go of a document; one that is not kept is no error."""
        with self._lock:
            dropped = self._documents.pop(version, None)
            self._chars -= len(dropped.text) if dropped else 0
