"""Pages of PDF files as images, and the rectangles of spans on them: the door to `pdf_render.py`.

Flow: `api/routes/pages.py` -> **here** (a bounded cache, one request at a time) -> child process -> images, rectangles.

PDFium meets strangers' files, so it draws where it reads: in a child process with a clock and a memory limit. The
child starts with the first page and ends when none was wanted for a while. Clients take turns, and a document whose
pages end the child is given up: a file made to take long delays other clients by a page or two.
"""

import base64
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from cachetools import LRUCache

from errors import PageUnavailableError, RagError, UnreadableError
from ingestion.reading.sandbox import Sandbox
from settings import IngestSettings

TASK = "ingestion.reading.pdf_render:drawing"
CACHE_BYTES = 48_000_000
# A page takes some 50 ms; one that takes seconds holds up the others.
TIMEOUT_S = 10.0
IDLE_S = 120.0
WAITING = 16
# Of one client, and for one document. A browser opens six connections.
WAITING_OF_ONE = 8
# After so many pages that ended the child no other one of the document is drawn.
MAX_DEATHS = 2
_KEPT_NAMES = 10_000  # documents whose pages ended the child, and clients
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
        self._line = _Line()
        self._turn = threading.Lock()
        self._deaths: LRUCache[str, int] = LRUCache(_KEPT_NAMES)  # by digest; read and changed in turn
        self._idle: threading.Timer | None = None

    def image(self, original: Original, page: int, width: int, client: str = "") -> bytes:
        """Return a page as a JPEG.

        Args:
            original: the file.
            page: from 0.
            width: in pixels; very long pages come out narrower.
            client: who asks.

        Raises:
            PageUnavailableError: the file is gone or has changed, or the page cannot be drawn.
            RagError: so many are waiting already.
        """
        key = (original.digest, page, width)
        kept = self._kept(key)
        if kept is None:  # what is kept waits for no other page
            with self._one_at_a_time(client, original.digest):
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

    def marks(self, original: Original, spans: Sequence[PageSpan], client: str = "") -> list[dict[str, Any]]:
        """Return for each span `page`, the page's `width` and `height` in points, `rects` and whether it is `complete`.

        A rectangle is left, top, width and height as shares of the page, turned as the page is shown.

        Raises:
            PageUnavailableError: the file is gone or has changed, or a page of it is damaged.
            RagError: so many are waiting already.
        """
        try:
            with self._one_at_a_time(client, original.digest):
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
        deaths = self._deaths.get(original.digest, 0)
        if deaths >= MAX_DEATHS:
            raise PageUnavailableError("Other pages of the document could not be drawn.", READ_TEXT)
        request = {**asdict(original), "max_bytes": self._max_bytes, **what}
        try:
            (item,) = self._sandbox.items(request)
        except UnreadableError:
            self._deaths[original.digest] = deaths + 1
            raise
        if "unreadable" in item:
            raise PageUnavailableError(*item["unreadable"])
        return item

    @contextmanager
    def _one_at_a_time(self, client: str, digest: str) -> Iterator[None]:
        with self._line.turn(client, digest), self._turn:
            if self._idle is not None:
                self._idle.cancel()
            try:
                yield
            finally:
                self._idle = threading.Timer(IDLE_S, self._sleep)
                self._idle.daemon = True
                self._idle.start()

    def _sleep(self) -> None:
        """End a child for which nothing has come; the next page starts another."""
        with self._turn:
            if self._idle is threading.current_thread():  # nothing came while this waited for its turn
                self._sandbox.close()


class _Line:
    """Who waits for a page. The next one is that whose client was served longest ago."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        # Client and document of each page.
        self._waiting: list[tuple[str, str]] = []
        self._drawn: list[tuple[str, str]] = []  # one at most
        self._turns = 0
        self._last_turn: LRUCache[str, int] = LRUCache(_KEPT_NAMES)  # by client

    @contextmanager
    def turn(self, client: str, document: str) -> Iterator[None]:
        """Wait for the turn, and hold it until the end of the `with` block.

        Raises:
            RagError: there is no place in line.
        """
        with self._changed:
            clients, documents = zip(*self._waiting, *self._drawn, (client, document), strict=True)
            if len(clients) > WAITING or max(clients.count(client), documents.count(document)) > WAITING_OF_ONE:
                raise RagError("Too many pages are waiting to be drawn.", "Try again in a moment.", "too_many_pages")
            place = client, document
            self._waiting.append(place)
            self._changed.wait_for(lambda: not self._drawn and self._next() is place)
            self._waiting.remove(place)
            self._drawn = [place]
            self._turns += 1
            self._last_turn[client] = self._turns
        try:
            yield
        finally:
            with self._changed:
                self._drawn = []
                self._changed.notify_all()

    def _next(self) -> tuple[str, str]:
        return min(self._waiting, key=lambda place: self._last_turn.get(place[0], 0))


def _weight(kept: bytes | PageUnavailableError) -> int:
    return len(kept) if isinstance(kept, bytes) else _FAILURE_BYTES
