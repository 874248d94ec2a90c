"""Draw a page of a PDF, and find the rectangles of a span on it. Runs inside the child process only.

Flow: `page_renderer.py` -> child process (`child.py`) -> **here**: the file, if it is still the one that was read ->
PDFium -> a JPEG, or rectangles of `pdf_alignment.py`'s characters. Shares of the page's width and height, so
rectangles fit every size and turn with the page.
"""

import base64
import ctypes
import hashlib
import io
import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from errors import UnreadableError
from ingestion.reading.child import Items, Task
from ingestion.reading.files import open_plain
from ingestion.reading.pdf_alignment import locate
from ingestion.reading.pdf_page import boxes_of, without_false_breaks

Box = tuple[float, float, float, float]  # left, top, right, bottom; shares of the page

MAX_PIXELS = 10_000_000
_JPEG_QUALITY = 82
# Device units that PDFium counts a page in when it turns coordinates: whole numbers, so many of them.
_UNITS = 1_000_000
# Two boxes are one if that covers at most so much more than both: holds for neighbours in a line of any direction.
_JOINED_AREA = 1.6
_BROKEN_HYPHEN = "\x02"


def drawing(_argument: str) -> Task:
    """Return the task that draws pages and marks spans.

    A request names `path`, `digest`, `salt` and `max_bytes` of the file (see `originals.py`), and the number of `pages`
    that the document was read with; then either `page` (from 0) and `width` in pixels, for `{"image": base64}`, or
    `spans`, each `{"page", "text", "start", "end"}` with places in the page's stored `text`, for
    `{"marks": [{"page", "width", "height", "rects", "complete"}]}`, sizes in points.
    """
    opened = _Opened()

    def draw(request: Mapping[str, Any]) -> Items:
        document = opened.get(request)
        if "spans" in request:
            marks = [_mark(document, **span) for span in request["spans"]]
            yield {"marks": marks}, 1
        else:
            image = base64.b64encode(_image(document, request["page"], request["width"])).decode()
            yield {"image": image}, len(image)

    return draw


class _Opened:
    """The document that was asked for last, kept open, since its next page is what is asked for next."""

    def __init__(self) -> None:
        self._document: pypdfium2.PdfDocument | None = None
        self._of: object = None

    def get(self, request: Mapping[str, Any]) -> pypdfium2.PdfDocument:
        """Return the document; it is read again only if the file was touched.

        Raises:
            UnreadableError: the file is gone, or no longer the one that was read.
        """
        with open_plain(Path(request["path"])) as file:
            status = os.fstat(file.fileno())
            of = (request["digest"], request["pages"], status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
            if self._document is None or of != self._of:
                self.close()
                data = file.read(request["max_bytes"] + 1)
                self._document, self._of = _open(data, request), of
        return self._document

    def close(self) -> None:
        """Let go of the document."""
        if self._document is not None:
            self._document.close()
        self._document = self._of = None


def _open(data: bytes, request: Mapping[str, Any]) -> pypdfium2.PdfDocument:
    digest = hashlib.sha256(data)
    digest.update(request["salt"].encode())
    if not digest.hexdigest().startswith(request["digest"]):
        raise UnreadableError("The file has changed since it was read.", "Ingest it again.")
    try:
        document = pypdfium2.PdfDocument(data)
        document.init_forms()  # else what fields hold is not drawn
    except pypdfium2.PdfiumError as error:
        raise UnreadableError("The file cannot be opened as a PDF.", "Read its text instead.") from error
    if len(document) != request["pages"]:
        document.close()
        raise UnreadableError("The file was read with another number of pages.", "Ingest it again.")
    return document


def _image(document: pypdfium2.PdfDocument, page: int, width: int) -> bytes:
    with closing(_page(document, page)) as drawn:
        page_width, page_height = drawn.get_size()
        scale = min(width / page_width, (MAX_PIXELS / (page_width * page_height)) ** 0.5)
        buffer = io.BytesIO()
        with closing(drawn.render(scale=scale)) as bitmap:
            bitmap.to_pil().convert("RGB").save(buffer, "JPEG", quality=_JPEG_QUALITY)
    return buffer.getvalue()


def _mark(document: pypdfium2.PdfDocument, page: int, text: str, start: int, end: int) -> dict[str, Any]:
    with closing(_page(document, page)) as drawn, closing(drawn.get_textpage()) as words:
        characters = "".join(chr(pdfium.FPDFText_GetUnicode(words, place)) for place in range(words.count_chars()))
        found = locate(text, without_false_breaks(characters, boxes_of(words)[:-1]), start, end)
        rects = [
            [round(share, 5) for share in (left, top, right - left, bottom - top)]
            for run in found.runs
            for left, top, right, bottom in _joined(_boxes(drawn, words, characters, run))
        ]
        width, height = drawn.get_size()
    return {"page": page, "width": width, "height": height, "rects": rects, "complete": found.complete}


def _boxes(
    page: pypdfium2.PdfPage, words: pypdfium2.PdfTextPage, characters: str, run: tuple[int, int]
) -> Iterator[Box | None]:
    """Yield the box of each character that has one, as the page is shown; None where the line breaks."""
    for place in range(*run):
        if characters[place] == _BROKEN_HYPHEN:
            yield None
            continue
        left, bottom, right, top = words.get_charbox(place, loose=True)
        if right > left and top > bottom:
            (x1, y1), (x2, y2) = _shown(page, left, top), _shown(page, right, bottom)
            box = min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)
            clipped = max(0.0, box[0]), max(0.0, box[1]), min(1.0, box[2]), min(1.0, box[3])
            if _area(clipped) > 0:
                yield clipped


def _shown(page: pypdfium2.PdfPage, x: float, y: float) -> tuple[float, float]:
    """Return a place of the page, in points, as shares of the page as it is shown: turned and cropped."""
    across, down = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDF_PageToDevice(page, 0, 0, _UNITS, _UNITS, 0, x, y, across, down)
    return across.value / _UNITS, down.value / _UNITS


def _joined(boxes: Iterator[Box | None]) -> Iterator[Box]:
    """Join the boxes of neighbouring characters to one for each stretch of a line."""
    current: Box | None = None
    for box in boxes:
        if current is None or box is None:
            if current is not None:
                yield current
            current = box
            continue
        both = min(current[0], box[0]), min(current[1], box[1]), max(current[2], box[2]), max(current[3], box[3])
        if _area(both) <= _JOINED_AREA * (_area(current) + _area(box)):
            current = both
        else:
            yield current
            current = box
    if current is not None:
        yield current


def _area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def _page(document: pypdfium2.PdfDocument, number: int) -> pypdfium2.PdfPage:
    try:
        return document[number]
    except pypdfium2.PdfiumError as error:
        raise UnreadableError(f"Page {number + 1} of the PDF is damaged.", "Read its text instead.") from error
