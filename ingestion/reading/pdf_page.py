"""Read a page of a PDF as text whose characters have places: what `pdf_tables.py` finds tables by.

Flow: PDFium's page -> **here** -> `PageText` with a space wherever characters stand apart -> `pdf.py`.
"""

import ctypes
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, pairwise, repeat
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2
import pypdfium2.raw as pdfium

Floats = npt.NDArray[np.float32]
Boxes = Floats  # left, top, right, bottom of each character, in points from the page's lower left

# Characters of a word touch. What stands further apart than this, in heights of the type, are two words.
_WORD_GAP = 0.19
# The characters of a word may all be set apart; then a gap says nothing if one beside it is about as wide.
_SPACED_SHARE = 0.6
# A superscript or subscript is so much smaller than what it stands beside, overlaps it, and is this near, in heights.
_RAISED_SIZE, _RAISED_OVERLAP, _BESIDE = 0.9, 0.25, 0.6
_NUMBER_CHARS = 3
_BREAK = re.compile("\r?\n")
_NOTHING = "\x00"  # where a line break was
RULE_POINTS = 2.6  # a line is at most so thick
_MAX_OBJECTS = 20_000
_WHITE = 253
_NAME_BYTES = 128
BOLD = re.compile("bold|black|heavy|medi|semib|cmbx|-bd", re.IGNORECASE)
_LAST_BMP = "\uffff"
_BEYOND = re.compile("[\U00010000-\U0010ffff]")


# PDFium's functions with plain numbers as arguments: converting them costs more than the call.
def _plain(function: object, result: type, *arguments: type) -> Callable[..., Any]:
    address = ctypes.cast(function, ctypes.c_void_p).value  # type: ignore[arg-type]
    return ctypes.PYFUNCTYPE(result, *arguments)(address or 0)


_box_of = _plain(pdfium.FPDFText_GetLooseCharBox, ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
_object_of = _plain(pdfium.FPDFPage_GetObject, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
_type_of = _plain(pdfium.FPDFPageObj_GetType, ctypes.c_int, ctypes.c_void_p)


@dataclass(frozen=True, slots=True)
class PageText:
    """A page's text as PDFium orders it, lines ended by line feeds.

    Attributes:
        text: of the page.
        boxes: one for each character; all 0 of one that has none.
        indices: each character's, as PDFium counts; -1 of a space that was put here.
    """

    text: str
    boxes: Boxes
    indices: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rule:
    """A line or a shaded box on the page."""

    x0: float
    x1: float
    y0: float
    y1: float
    shade: bool = False


def read_page(words: pypdfium2.PdfTextPage) -> PageText:
    """Return a page's text with the places of its characters."""
    text = str(words.get_text_range())
    indices = _indices(words, text)
    boxes = boxes_of(words)
    text = without_false_breaks(text, boxes[indices])
    is_kept = ~np.isin(_codes(text), (ord("\r"), ord(_NOTHING)))
    kept = indices[is_kept]
    return _with_spaces(PageText(text.replace("\r", "").replace(_NOTHING, ""), boxes[kept], kept))


def without_false_breaks(text: str, boxes: Boxes) -> str:
    """Return a text of the same length without line breaks where the next line only stands higher or lower in its line.

    PDFium breaks a line before and behind many a superscript: "the 3", "rd", "Committee".

    Args:
        text: of a page.
        boxes: one for each character.
    """
    breaks = [match for match in _BREAK.finditer(text) if match.start() and match.end() < len(text)]
    before, behind = (boxes[[place(match) for match in breaks]] for place in (lambda m: m.start() - 1, re.Match.end))
    heights = before[:, 1] - before[:, 3], behind[:, 1] - behind[:, 3]
    small, large = np.minimum(*heights), np.maximum(*heights)
    overlap = np.minimum(before[:, 1], behind[:, 1]) - np.maximum(before[:, 3], behind[:, 3])
    gap = behind[:, 0] - before[:, 2]
    beside = (gap > -_BESIDE * small) & (gap < _BESIDE * large)
    is_false = (small > 0) & (small < _RAISED_SIZE * large) & (overlap > _RAISED_OVERLAP * small) & beside
    characters = list(text)
    start = 0  # of the line
    for place in range(len(breaks)):
        first, end = breaks[place].span()
        if is_false[place]:
            # A footnote's number stands apart from its text, a superscript is part of the word before it.
            begins = boxes[start, 1] - boxes[start, 3] < _RAISED_SIZE * large[place]
            is_number = begins and heights[0][place] == small[place] and first - start <= _NUMBER_CHARS
            characters[first:end] = (" " if is_number else _NOTHING) + _NOTHING * (end - first - 1)
        else:
            start = end
    return "".join(characters)


def _codes(text: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _indices(words: pypdfium2.PdfTextPage, text: str) -> npt.NDArray[np.int64]:
    """Return the index of each character as PDFium counts them; of one that it does not count the number of all."""
    count = words.count_chars()
    if len(text) == count and not _BEYOND.search(text):
        return np.arange(count)
    # PDFium counts the text in UTF-16, and leaves out characters that have no code.
    units = accumulate((1 + (character > _LAST_BMP) for character in text[:-1]), initial=0)
    indices = [pdfium.FPDFText_GetCharIndexFromTextIndex(words, unit) for unit in units][: len(text)]
    return np.array([index if 0 <= index < count else count for index in indices], dtype=np.int64)


def boxes_of(words: pypdfium2.PdfTextPage) -> Boxes:
    """Return the box of each character, and an empty one behind the last."""
    count = words.count_chars()
    array = (pdfium.FS_RECTF * (count + 1))()
    page = ctypes.cast(words.raw, ctypes.c_void_p).value
    first, size = ctypes.addressof(array), ctypes.sizeof(pdfium.FS_RECTF)
    deque(map(_box_of, repeat(page), range(count), range(first, first + size * count, size)), maxlen=0)
    return np.frombuffer(array, dtype=np.float32).reshape(-1, 4)


def _with_spaces(page: PageText) -> PageText:
    """Put a space wherever two characters of a line stand further apart than those of a word."""
    height, gap, joined = _gaps(page.boxes)
    seen = _codes(page.text) > ord(" ")
    gap = np.where(joined & seen[1:] & seen[:-1], gap, 0)
    beside = np.maximum(np.append(0, gap[:-1]), np.append(gap[1:], 0))
    places = np.flatnonzero((gap > _WORD_GAP * height) & (beside < _SPACED_SHARE * gap)) + 1
    if not len(places):
        return page
    cuts = [0, *places.tolist(), len(page.text)]
    text = " ".join(page.text[start:end] for start, end in pairwise(cuts))
    return PageText(text, np.insert(page.boxes, places, 0, axis=0), np.insert(page.indices, places, -1))


def wide_spaces(page: PageText, heights: float) -> list[int]:
    """Return the places of single spaces beside which the characters of a line stand this many heights apart."""
    codes = _codes(page.text)
    seen = codes > ord(" ")
    places = np.flatnonzero((codes[1:-1] == ord(" ")) & seen[:-2] & seen[2:]) + 1
    height, gap, joined = _gaps(page.boxes[np.stack((places - 1, places + 1), axis=1).ravel()])
    found: list[int] = places[(joined & (gap > heights * height))[::2]].tolist()
    return found


def _gaps(boxes: Boxes) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Return of each two neighbours the smaller height, the gap between them, and whether they are in a line."""
    left, top, right, bottom = boxes.T
    height = np.minimum(top[1:] - bottom[1:], top[:-1] - bottom[:-1])
    overlap = np.minimum(top[1:], top[:-1]) - np.maximum(bottom[1:], bottom[:-1])
    return height, left[1:] - right[:-1], (height > 0) & (2 * overlap > height)


def drawn_rules(page: pypdfium2.PdfPage) -> list[Rule]:
    """Return the lines and shaded boxes on a page, at most `_MAX_OBJECTS` of them."""
    rules = []
    edges = [ctypes.c_float() for _ in range(4)]
    colour = [ctypes.c_uint() for _ in range(4)]
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    count = min(pdfium.FPDFPage_CountObjects(page), _MAX_OBJECTS)
    whole = ctypes.cast(page.raw, ctypes.c_void_p).value
    shapes = list(map(_object_of, repeat(whole), range(count)))
    for handle, kind in zip(shapes, map(_type_of, shapes), strict=True):
        if kind != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        shape = ctypes.cast(handle, pdfium.FPDF_PAGEOBJECT)
        if not pdfium.FPDFPageObj_GetBounds(shape, *edges):
            continue
        x0, y0, x1, y1 = (edge.value for edge in edges)
        if x1 - x0 < RULE_POINTS or y1 - y0 < RULE_POINTS:
            rules.append(Rule(x0, x1, y0, y1))
            continue
        pdfium.FPDFPath_GetDrawMode(shape, fill, stroke)
        pdfium.FPDFPageObj_GetFillColor(shape, *colour)
        if fill.value and min(channel.value for channel in colour[:3]) < _WHITE:
            rules.append(Rule(x0, x1, y0, y1, shade=True))
        elif stroke.value:
            sides = ((x0, x0, y0, y1), (x1, x1, y0, y1), (x0, x1, y0, y0), (x0, x1, y1, y1))
            rules += [Rule(*side) for side in sides]
    return rules


def is_bold(words: pypdfium2.PdfTextPage, place: int) -> bool:
    """Whether the font of a character is bold, by its name."""
    return BOLD.search(font_name(words, place)) is not None


def font_name(words: pypdfium2.PdfTextPage, place: int) -> str:
    """Return the name of a character's font; empty if it has none."""
    name, flags = ctypes.create_string_buffer(_NAME_BYTES), ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(words, place, name, _NAME_BYTES, flags)
    return name.value.decode("utf-8", "replace")
