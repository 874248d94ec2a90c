"""Find the headings of a PDF by how its lines are set: larger than the text, or bold, in capitals or numbered.

Flow: `pdf_type.py`'s lines of all pages -> **here** -> `Heading`s, which `pdf_rows.py` finds again in the text. What
stands in a table was taken out before. Pure.

Everything is measured against the document's own text: the size that most of its characters have, and how far its
lines stand apart. A line that stands out in no way but its number needs space above it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple

from ingestion.reading.pdf_lines import BROKEN_HYPHEN
from ingestion.reading.pdf_tables import CAPTION
from ingestion.reading.pdf_type import LONGEST_HEADING_CHARS, Line
from ingestion.reading.text import shape_of

# In sizes of the text: what is larger than this stands out, what is smaller than that is a note.
LARGER, SMALLER, SMALLER_BOLD = 1.08, 0.93, 0.8
# A line that is at least so long, as a share of nearly the longest, was broken because it was full.
FULL_LINE = 0.75
# In distances of the text's lines: a heading stands at least so far below what is before it, its own lines nearer.
SPACE_ABOVE, SPACE_WITHIN = 1.2, 1.5
# Lines of a heading, of a large one, and words of one that ends like a sentence, at most.
HEADING_LINES, LARGE_LINES, LARGE = 2, 4, 1.3
SENTENCE_WORDS = 8
# What more of the text than this has does not stand out in it.
COMMON_SHARE = 0.25
# Lines at the edge of a page that are running ones if others have them, too.
_EDGE_LINES, _RUNNING_PAGES = 3, 3

# "1.2 Title", "12. Term", "§ 14 Notice", "Article 5", "A. Proofs", "IV. Results".
_NUMBER = re.compile(
    r"(?P<word>§+ ?|[^\W\d_a-z][^\W\d_]{2,9} )?(?P<number>\d{1,3}(?:\.\d{1,3}){0,4}|(?:[A-Z]|[IVX]{1,5})(?=\.))"
    r"(?:[.:)]?(?= )|[.:]?$)"
)
_LETTER = re.compile(r"[^\W\d_]")
_BULLET = re.compile(r"[•▪◦‣*·–—-] ")
_ADDRESS = re.compile(r"https?:|www\.|@")
_ENDS_AS_TEXT = (",", ";", "-", "–", BROKEN_HYPHEN)


class Heading(NamedTuple):
    """A line of a heading.

    Attributes:
        start: of the line in the page's text.
        end: behind it.
        level: 1 is the outermost.
        goes_on: it continues the heading in the line before.
    """

    start: int
    end: int
    level: int
    goes_on: bool


class _Group(NamedTuple):
    """Lines of one heading."""

    page: int
    lines: Sequence[Line]
    style: tuple[float, int]  # size, and whether it has weight: larger is further out
    depth: int  # of its number; 0 if it has none


class _Text(NamedTuple):
    """How the text of a document is set, in points."""

    points: float
    pitch: float
    common: frozenset[float]
    weighs: bool  # bold type stands out in it


def find_headings(pages: Sequence[Sequence[Line]], tables: Sequence[Sequence[Line]] = ()) -> list[list[Heading]]:
    """Return the headings of each page.

    Args:
        pages: their lines outside of tables, in order.
        tables: those in tables, which show how the text is set if most of it is there.
    """
    outside, inside = (sum(len(line.text) for lines in part for line in lines) for part in (pages, tables))
    text = _text([*pages, *tables] if inside > outside else pages)
    if text is None:
        return [[] for _ in pages]
    running = _running(pages)
    groups = [group for number, lines in enumerate(pages) for group in _groups(number, lines, text, running)]
    levels = _levels(groups)
    found: list[list[Heading]] = [[] for _ in pages]
    for group, level in zip(groups, levels, strict=True):
        found[group.page] += [Heading(line.start, line.end, level, place > 0) for place, line in enumerate(group.lines)]
    return found


def _text(pages: Sequence[Sequence[Line]]) -> _Text | None:
    sizes: Counter[float] = Counter()
    bold = 0
    for line in (line for lines in pages for line in lines):
        sizes[_size(line)] += len(line.text)
        bold += len(line.text) if line.bold else 0
    if not sizes:
        return None
    points = sizes.most_common(1)[0][0]
    pairs = [
        (len(above.text.rpartition(BROKEN_HYPHEN)[2]), above.foot - line.base)
        for lines in pages
        for above, line in pairwise(lines)
        if _size(line) == _size(above) == points and points / 2 < above.foot - line.base < 2.5 * points
    ]
    long = sorted(chars for chars, _ in pairs)[-1 - len(pairs) // 10 :]
    pitches = [pitch for chars, pitch in pairs if chars >= FULL_LINE * long[0]]
    common = frozenset(size for size, count in sizes.items() if count > COMMON_SHARE * sizes.total())
    return _Text(points, median(pitches or [1.2 * points]), common, bold < COMMON_SHARE * sizes.total())


def _size(line: Line) -> float:
    return round(2 * line.points) / 2


def _running(pages: Sequence[Sequence[Line]]) -> set[tuple[str, float]]:
    """Return the lines at the edges of pages that others have in the same size."""
    counts = Counter(
        key for lines in pages for key in {_key(line) for line in (*lines[:_EDGE_LINES], *lines[-_EDGE_LINES:])}
    )
    filled = sum(1 for lines in pages if lines)
    return {key for key, count in counts.items() if count >= min(_RUNNING_PAGES, max(2, filled))}


def _key(line: Line) -> tuple[str, float]:
    return shape_of(line.text), _size(line)


def _groups(page: int, lines: Sequence[Line], text: _Text, running: set[tuple[str, float]]) -> Iterator[_Group]:
    """Yield the headings of a page."""
    run: list[Line] = []
    styles = [_style(line, text) if _key(line) not in running else None for line in lines]
    first = 0
    while first < len(lines):
        style = styles[first]
        last = first + 1
        if style is not None:
            run = [lines[first]]
            while last < len(lines) and _continues(lines[last - 1], lines[last], text):
                last += 1
            run = list(lines[first:last])
            above = lines[first - 1] if first else None
            below = lines[last] if last < len(lines) else None
            if all(styles[first:last]) and _is_heading(run, above, below, style, text):
                yield _Group(page, run, style, _depth(run[0].text))
        first = last


def _style(line: Line, text: _Text) -> tuple[float, int] | None:
    """Return how a line stands out; None if it does not, or cannot be a heading."""
    size, words = _size(line), line.text
    if line.parted or len(words) > LONGEST_HEADING_CHARS or _BULLET.match(words):
        return None
    if _ADDRESS.search(words.split(maxsplit=1)[0]):
        return None
    letters = "".join(_LETTER.findall(words))
    # Letters count as bytes, so that one ideograph is enough.
    if len(letters.encode()) < 3 or 2 * len(letters) < len(words.replace(" ", "")):
        return None
    weight = 2 if line.bold and text.weighs else 1 if line.slanted or (len(letters) > 3 and words.isupper()) else 0
    if size < (SMALLER_BOLD if weight == 2 else SMALLER) * text.points:
        return None
    if size >= LARGER * text.points and size not in text.common:
        return size, weight
    return (min(size, text.points), weight) if weight or _is_plain_number(words) else None


def _is_plain_number(words: str) -> bool:
    """Whether a line begins like a numbered heading; a bare number may be a quantity or a date."""
    number = _NUMBER.match(words)
    return number is not None and bool(number["word"] or not number[0].strip().isdigit())


def _continues(above: Line, line: Line, text: _Text) -> bool:
    """Whether a line goes on in what the one above it begins: the same type, no space between."""
    space = SPACE_WITHIN if line.bold or _size(line) != text.points else SPACE_ABOVE
    near = 0 < above.foot - line.base < space * text.pitch * max(1.0, line.points / text.points)
    return near and _size(above) == _size(line) and above.bold == line.bold and not _NUMBER.match(line.text)


def _is_heading(
    lines: Sequence[Line], above: Line | None, below: Line | None, style: tuple[float, int], text: _Text
) -> bool:
    size, weight = style
    words = " ".join(line.text for line in lines)
    number = _NUMBER.match(words)
    if len(lines) > (LARGE_LINES if size >= LARGE * text.points else HEADING_LINES) or CAPTION.match(words):
        return False
    if any(other and _beside(other, line) for other in (above, below) for line in lines):
        return False
    if words.endswith((":", *_ENDS_AS_TEXT) if weight < 2 else _ENDS_AS_TEXT) and size < LARGE * text.points:
        return False
    set_apart = weight > 1 or size > text.points
    if words.endswith(".") and (
        len(words.split()) > SENTENCE_WORDS or not (set_apart and (number or size > text.points))
    ):
        return False
    begin = _LETTER.search(words)
    if size > text.points:
        return True
    if weight < 2 and begin and begin[0].islower():
        return False
    if not weight and any(other and _NUMBER.match(other.text) for other in (above, below)):
        return False  # an item of a list
    return _is_apart(above, lines[0], text)


def _is_apart(above: Line | None, line: Line, text: _Text) -> bool:
    """Whether there is space above a line, or it begins a page or column."""
    return above is None or not 0 < above.foot - line.base < SPACE_ABOVE * text.pitch


def _beside(one: Line, other: Line) -> bool:
    return 2 * (min(one.y1, other.y1) - max(one.y0, other.y0)) > min(one.y1 - one.y0, other.y1 - other.y0)


def _depth(words: str) -> int:
    number = _NUMBER.match(words)
    return number["number"].count(".") + 1 if number else 0


def _levels(groups: Sequence[_Group]) -> list[int]:
    """Return the levels: by size and weight, and within one style by the number."""
    least = {
        style: min((one.depth for one in found if one.depth), default=1)
        for style, found in groupby(sorted(groups, key=lambda one: one.style), lambda one: one.style)
    }
    keys = [(-group.style[0], -group.style[1], max(0, group.depth - least[group.style])) for group in groups]
    ranks = {key: level for level, key in enumerate(sorted(set(keys)), 1)}
    return [ranks[key] for key in keys]
