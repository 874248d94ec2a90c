"""Pages of PDF files as images, and the rectangles of spans on them: the door to `pdf_render.py`.

Flow: `api/routes/pages.py` -> **here** (a bounded cache, one request at a time) -> child process -> images, rectangles.

PDFium meets strangers' files, so it draws where it reads: in a child process with a clock and a memory limit. The
child starts with the first page and ends when none was wanted for a while.
"""

import base64
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from cachetools import LRUCache

from errors import PageUnavailableError, TooManyPagesError, UnreadableError
from ingestion.reading.sandbox import Sandbox
from settings import IngestSettings

TASK = "ingestion.reading.pdf_render:drawing"
CACHE_BYTES = 48_000_000
# A page takes some 50 ms; one that takes seconds holds up the others.
TIMEOUT_S = 20.0
IDLE_S = 120.0
WAITING = 16
READ_TEXT = "Read its text instead."
_FAILURE_BYTES = 1_000  # what a failure that is kept counts


@dataclass(frozen=True, slots=True)
class Original:
    """The PDF file that a document was read from.

    Attributes:
        path: absolute, with all links resolved.
        digest: how the SHA-256 of its bytes and `salt` begins, in hexadecimal digits.
        salt: what was hashed after the bytes.
        pages: how many pages it was read with.
    """

    path: str
    digest: str
    salt: str
    pages: int


@dataclass(frozen=True, slots=True)
class PageSpan:
    """A span of one page.

    Attributes:
        page: from 0.
        text: of the page, as the corpus keeps it.
        start: of the span, in `text`.
        end: of the span.
    """

    page: int
    text: str
    start: int
    end: int


class PageRenderer:
    """Draws pages. Safe to use from many threads; they take turns.

    Args:
        settings: limits of size and memory.
        task: what the child process does, as `module:function`.
    """

    def __init__(self, settings: IngestSettings, *, task: str = TASK) -> None:
        self._max_bytes = settings.max_file_bytes
        self._sandbox = Sandbox(
            task, "", doing="Drawing a page", timeout_s=TIMEOUT_S, memory_mb=settings.parse_memory_mb
        )
        self._images_lock = threading.Lock()
        self._images: LRUCache[tuple[str, int, int], bytes | PageUnavailableError] = LRUCache(CACHE_BYTES, _weight)
        self._turn = threading.Lock()
        self._waiting = threading.BoundedSemaphore(WAITING)
        self._idle: threading.Timer | None = None

    def image(self, original: Original, page: int, width: int) -> bytes:
        """Return a page as a JPEG.

        Args:
            original: the file.
            page: from 0.
            width: in pixels; very long pages come out narrower.

        Raises:
            PageUnavailableError: the file is gone or has changed, or the page cannot be drawn.
            TooManyPagesError: so many are waiting already.
        """
        key = (original.digest, page, width)
        kept = self._kept(key)
        if kept is None:  # what is kept waits for no other page
            with self._one_at_a_time():
                kept = self._kept(key)
                if kept is None:
                    kept = self._drawn(original, page, width)
                    if _weight(kept) <= CACHE_BYTES:
                        with self._images_lock:
                            self._images[key] = kept
        if isinstance(kept, PageUnavailableError):
            raise PageUnavailableError(kept.fact, kept.remedy)  # one object would gather every traceback
        return kept

    def _kept(self, key: tuple[str, int, int]) -> bytes | PageUnavailableError | None:
        with self._images_lock:
            return self._images.get(key)

    def marks(self, original: Original, spans: Sequence[PageSpan]) -> list[dict[str, Any]]:
        """Return for each span `page`, the page's `width` and `height` in points, `rects` and whether it is `complete`.

        A rectangle is left, top, width and height as shares of the page, turned as the page is shown.

        Raises:
            PageUnavailableError: the file is gone or has changed, or a page of it is damaged.
            TooManyPagesError: so many are waiting already.
        """
        try:
            with self._one_at_a_time():
                marks: list[dict[str, Any]] = self._ask(original, {"spans": [asdict(span) for span in spans]})["marks"]
        except UnreadableError as error:
            raise PageUnavailableError(error.fact, READ_TEXT) from error
        return marks

    def close(self) -> None:
        """End the child process; a later request starts a new one."""
        with self._turn:
            if self._idle is not None:
                self._idle.cancel()
            self._sandbox.close()

    def _drawn(self, original: Original, page: int, width: int) -> bytes | PageUnavailableError:
        """Return the image; or the failure, if the same page would fail again."""
        try:
            return base64.b64decode(self._ask(original, {"page": page, "width": width})["image"])
        except UnreadableError as error:  # the child died over it
            return PageUnavailableError(error.fact, READ_TEXT)

    def _ask(self, original: Original, what: dict[str, Any]) -> dict[str, Any]:
        request = {**asdict(original), "max_bytes": self._max_bytes, **what}
        (item,) = self._sandbox.items(request)
        if "unreadable" in item:
            raise PageUnavailableError(*item["unreadable"])
        return item

    @contextmanager
    def _one_at_a_time(self) -> Iterator[None]:
        if not self._waiting.acquire(blocking=False):
            raise TooManyPagesError("Too many pages are waiting to be drawn.", "Try again in a moment.")
        try:
            with self._turn:
                if self._idle is not None:
                    self._idle.cancel()
                try:
                    yield
                finally:
                    self._idle = threading.Timer(IDLE_S, self._sleep)
                    self._idle.daemon = True
                    self._idle.start()
        finally:
            self._waiting.release()

    def _sleep(self) -> None:
        """End a child for which nothing has come; the next page starts another."""
        with self._turn:
            if self._idle is threading.current_thread():  # nothing came while this waited for its turn
                self._sandbox.close()


def _weight(kept: bytes | PageUnavailableError) -> int:
    return len(kept) if isinstance(kept, bytes) else _FAILURE_BYTES
