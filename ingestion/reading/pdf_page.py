"""Read a page of a PDF as text whose characters have places: what `pdf_tables.py` finds tables by.

Flow: PDFium's page -> **here** -> `PageText` with a space wherever characters stand apart -> `pdf.py`.
"""

import ctypes
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pypdfium2
import pypdfium2.raw as pdfium

Boxes = npt.NDArray[np.float32]  # left, top, right, bottom of each character, in points from the page's lower left

# Characters of a word touch. What stands further apart than this, in heights of the type, are two words.
_WORD_GAP = 0.19
# The characters of a word may all be set apart; then a gap says nothing if one beside it is about as wide.
_SPACED_SHARE = 0.6
_LAST_BMP = "\uffff"
_BEYOND = re.compile("[\U00010000-\U0010ffff]")
# PDFium's functions with plain numbers as arguments: converting them costs more than the call.
_box_of = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(
    ctypes.cast(pdfium.FPDFText_GetLooseCharBox, ctypes.c_void_p).value or 0
)


@dataclass(frozen=True, slots=True)
class PageText:
    """A page's text as PDFium orders it, lines ended by line feeds, and the box of each character; all 0 without."""

    text: str
    boxes: Boxes


def read_page(words: pypdfium2.PdfTextPage) -> PageText:
    """Return a page's text with the places of its characters."""
    text = str(words.get_text_range())
    boxes = _boxes(words, text)
    kept = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32) != ord("\r")
    return _with_spaces(text.replace("\r", ""), boxes[kept])


def _boxes(words: pypdfium2.PdfTextPage, text: str) -> Boxes:
    count = words.count_chars()
    array = (pdfium.FS_RECTF * count)()
    page = ctypes.cast(words.raw, ctypes.c_void_p).value
    first, size = ctypes.addressof(array), ctypes.sizeof(pdfium.FS_RECTF)
    list(map(_box_of, [page] * count, range(count), range(first, first + size * count, size)))
    boxes = np.frombuffer(array, dtype=np.float32).reshape(-1, 4)
    if len(text) == count and not _BEYOND.search(text):
        return boxes
    # PDFium counts the text in UTF-16, and leaves out characters that have no code.
    units = np.cumsum([0, *(1 + (character > _LAST_BMP) for character in text[:-1])]) if text else []
    indices = [pdfium.FPDFText_GetCharIndexFromTextIndex(words, int(unit)) for unit in units]
    blank = np.zeros((1, 4), dtype=np.float32)
    return np.concatenate((boxes, blank))[[index if 0 <= index < count else count for index in indices]]


def _with_spaces(text: str, boxes: Boxes) -> PageText:
    """Put a space wherever two characters of a line stand further apart than those of a word."""
    if len(text) < 2:
        return PageText(text, boxes)
    left, top, right, bottom = boxes.T
    height = np.minimum(top[1:] - bottom[1:], top[:-1] - bottom[:-1])
    overlap = np.minimum(top[1:], top[:-1]) - np.maximum(bottom[1:], bottom[:-1])
    seen = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32) > ord(" ")
    inside = seen[1:] & seen[:-1] & (height > 0) & (2 * overlap > height)
    gap = np.where(inside, left[1:] - right[:-1], 0)
    beside = np.maximum(np.concatenate(([0], gap[:-1])), np.concatenate((gap[1:], [0])))
    places = np.flatnonzero((gap > _WORD_GAP * height) & (beside < _SPACED_SHARE * gap)) + 1
    if not len(places):
        return PageText(text, boxes)
    cuts = [0, *places.tolist(), len(text)]
    spaced = " ".join(text[start:end] for start, end in zip(cuts, cuts[1:], strict=False))
    return PageText(spaced, np.insert(boxes, places, 0, axis=0))
