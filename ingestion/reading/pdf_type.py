"""Read how the lines of a PDF's page are set: the size and weight of their type, and where they stand.

Flow: PDFium's page and `pdf_page.py`'s text -> **here** -> `Line`s -> `pdf_headings.py` and `pdf_title.py`.
"""

import ctypes
import math
import re
from bisect import bisect_left
from statistics import median
from typing import NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

from ingestion.reading.pdf_page import BOLD, PageText, font_name, wide_spaces

_LINE = re.compile(r"[^\n]+")
_UPRIGHT = 0.99  # cosine of a character's angle
_SLANTED = re.compile("ital|obli|slant|cmti|cmsl", re.IGNORECASE)
# In heights of the type: further apart stand only a number and its title, or the cells of a table.
_PARTED = 0.6
_MARK = re.compile(r"\W*\w+(?:\.\w+)*[.):]?\W*")
# No heading is longer, so its weight says nothing.
LONGEST_HEADING_CHARS = 160


class Line(NamedTuple):
    """A line of a page's text that stands upright; lengths in points, from the page's lower left.

    Attributes:
        start: of the line in the page's text.
        end: behind its last character.
        text: of the line.
        points: size of the type.
        bold: all of it is; never of a line that is longer than a heading.
        slanted: likewise.
        parted: words of it stand far apart, as the cells of a table do.
        base: height of the baseline where it begins.
        foot: where it ends, which is lower where a broken word joins two lines.
        y0: bottom of the first character's box.
        y1: its top.
    """

    start: int
    end: int
    text: str
    points: float
    bold: bool = False
    slanted: bool = False
    parted: bool = False
    base: float = 0.0
    foot: float = 0.0
    y0: float = 0.0
    y1: float = 0.0


def lines_of(words: pypdfium2.PdfTextPage, page: PageText) -> list[Line]:
    """Return the upright lines of a page that have letters or digits, in the order of its text."""
    lines = []
    wide = wide_spaces(page, _PARTED)
    matrix = pdfium.FS_MATRIX()
    for match in _LINE.finditer(page.text):
        letters = [place for place, character in enumerate(match[0], match.start()) if character.isalnum()]
        indices = [index for index in page.indices[letters].tolist() if index >= 0] if letters else []
        if not indices:
            continue
        samples = {indices[0], indices[len(indices) // 2], indices[-1]}
        sizes = []
        for index in samples:
            if pdfium.FPDFText_GetMatrix(words, index, matrix):
                height = math.hypot(matrix.c, matrix.d)
                if matrix.d > _UPRIGHT * height:
                    sizes.append(pdfium.FPDFText_GetFontSize(words, index) * height)
        if len(sizes) < len(samples):
            continue
        short = len(match[0]) <= LONGEST_HEADING_CHARS
        _, top, _, bottom = page.boxes[letters[0]].tolist()
        fonts = {font_name(words, index) for index in samples} if short else {""}
        apart = wide[bisect_left(wide, match.start()) : bisect_left(wide, match.end())]
        lines.append(
            Line(
                *match.span(),
                text=match[0].strip(),
                points=median(sizes),
                bold=all(map(BOLD.search, fonts)),
                slanted=all(map(_SLANTED.search, fonts)),
                parted=len(indices) < len(letters)  # a field's value stands in it
                or any(not _MARK.fullmatch(page.text, match.start(), place) for place in apart),
                base=_base(words, indices[0]),
                foot=_base(words, indices[-1]),
                y0=bottom,
                y1=top,
            )
        )
    return lines


def _base(words: pypdfium2.PdfTextPage, index: int) -> float:
    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(words, index, x, y)
    return y.value
