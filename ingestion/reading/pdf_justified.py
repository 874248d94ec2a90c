"""Tell justified prose from the rows of a table: in both words stand far apart.

Flow: `pdf_page.py`'s text with boxes -> **here** -> the same, with the words of justified lines as near as they are in
other lines, so that nothing after this takes them for cells. Pure.

A line is justified if its gaps are alike, it ends where its paragraph ends on the right, and was full: the first word
of the next line would not have fitted.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingestion.reading.pdf_lines import BROKEN_HYPHEN
from ingestion.reading.pdf_page import Boxes, PageText, wide_spaces

# In heights of the type: a gap that may be one between cells, and the gap between words that are not set apart.
WIDE_GAP, WORD_GAP = 0.45, 0.22
# How far the second line of a paragraph stands below the first at most; how many times further the others do; and how
# far lines begin and end apart.
LINE_PITCH, SAME_PITCH, EDGE = 2.2, 1.2, 0.15
# Share of the lines before the last, of several words each, that end where the paragraph does, at least.
FLUSH_SHARE = 0.6
# Of gaps that are alike the widest is at most so much wider.
ALIKE = 1.25

_LINE = re.compile(f"[^\\n{BROKEN_HYPHEN}]+")
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class _Line:
    """Words of a line: `[start, end)` and left and right edge of each."""

    words: Sequence[tuple[int, int, float, float]]
    height: float
    bottom: float

    @property
    def left(self) -> float:
        return self.words[0][2]

    @property
    def right(self) -> float:
        return self.words[-1][3]

    def gaps(self) -> list[float]:
        return [behind[2] - before[3] for before, behind in pairwise(self.words)]


def tightened(page: PageText) -> PageText:
    """Return the page with the words of its justified lines near each other."""
    if not wide_spaces(page, WIDE_GAP):
        return page
    boxes = page.boxes.copy()
    for paragraph in _paragraphs(page):
        for line in _justified(paragraph):
            for before, behind in pairwise(line.words):
                boxes[before[1] - 1, 2] = behind[2] - WORD_GAP * line.height
    return PageText(page.text, boxes, page.indices)


def _paragraphs(page: PageText) -> Iterator[list[_Line]]:
    """Yield lines that follow each other and begin at the same place; the first may be indented."""
    run: list[_Line] = []
    for match in _LINE.finditer(page.text):
        line = _line(page.text, page.boxes, match.span())
        if line is None:
            continue
        if run and not _follows(run, line):
            yield run
            run = []
        run.append(line)
    if run:
        yield run


def _line(text: str, boxes: Boxes, span: tuple[int, int]) -> _Line | None:
    """Return the words of a line; None if they do not stand beside each other, from left to right."""
    places = [match.span() for match in _WORD.finditer(text, *span)]
    if not places:
        return None
    words = [(start, end, float(boxes[start][0]), float(boxes[end - 1][2])) for start, end in places]
    _, top, _, bottom = boxes[places[0][0]].tolist()
    if top <= bottom or any(behind[2] < before[3] - (top - bottom) for before, behind in pairwise(words)):
        return None
    return _Line(words, top - bottom, bottom)


def _follows(run: Sequence[_Line], line: _Line) -> bool:
    above = run[-1]
    same = abs(above.left - line.left) < EDGE * line.height
    indented = len(run) == 1 and line.left < above.left < line.left + 4 * line.height
    most = SAME_PITCH * (run[-2].bottom - above.bottom) if len(run) > 1 else LINE_PITCH * line.height
    return (same or indented) and 0 < above.bottom - line.bottom < most


def _justified(lines: Sequence[_Line]) -> list[_Line]:
    """Return the lines of a paragraph that are stretched; none if one of them may be the row of a table."""
    right = max(line.right for line in lines)
    flush = [line for line in lines if right - line.right < EDGE * line.height]
    stretched = [line for line in flush if max(line.gaps(), default=0.0) > WIDE_GAP * line.height]
    below = dict(zip(map(id, lines), lines[1:], strict=False))
    several = [line for line in lines[:-1] if len(line.words) > 1]
    if len(flush) < max(2, FLUSH_SHARE * len(several)) or not all(
        _is_full(line, below.get(id(line))) for line in stretched
    ):
        return []
    return stretched


def _is_full(line: _Line, below: _Line | None) -> bool:
    gaps = line.gaps()
    if max(gaps) > ALIKE * min(gaps) + EDGE * line.height:
        return False
    space = sum(gaps) - WORD_GAP * line.height * len(gaps)
    return below is not None and below.words[0][3] - below.left > space - 2 * WORD_GAP * line.height
