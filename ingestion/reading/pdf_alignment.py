"""Find the characters of a PDF page that a span of the stored text was read from.

Flow: stored text of a page, and the page's characters as PDFium numbers them -> **here** -> runs of characters, which
`pdf_render.py` turns into rectangles. Pure.

Reading drops running lines at the edges of a page, joins broken words, and cleans (`pdf.py`, `pdf_lines.py`,
`text.py`); it never reorders. So stored lines stand for page lines one to one, and within a line all characters but
those that cleaning may drop must be the same. A line for which that does not hold is left out: better no mark than a
wrong one. Nothing here depends on the version of the reader that stored the text.
"""

import re
import unicodedata
from collections import Counter
from typing import NamedTuple

_LINE_BREAK = re.compile("[\n\r\v\f\x85\u2028\u2029]")
# Hyphens go where a broken word is joined, dots and rules where they are leaders, bullets change their code.
_MAY_VANISH = frozenset("-._·•")
_INVISIBLE_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zs"))
_LAST_BMP = "\uffff"


class _Line(NamedTuple):
    key: str  # the characters that reading never drops, decomposed
    places: list[int]  # of each of them, in the text that the line is from


class Found(NamedTuple):
    """Where a span stands on its page.

    Attributes:
        runs: indices of characters, from and to; one run for each line at most, in order.
        complete: every line of the span was found.
    """

    runs: list[tuple[int, int]]
    complete: bool


def locate(stored: str, characters: str, start: int, end: int) -> Found:
    """Return the characters of a page that the span `[start, end)` of its stored text was read from.

    Args:
        stored: text of the page, as the corpus keeps it.
        characters: those of the page, one for each index.
        start: of the span, in `stored`.
        end: of the span.
    """
    runs = []
    complete = True
    pairs = _pairs(_lines(stored), _lines(characters))
    for line, twin in pairs:
        inside = [number for number, place in enumerate(line.places) if start <= place < end]
        if not inside:
            continue
        if twin is None:
            complete = False
            continue
        first, last = twin.places[inside[0]], twin.places[inside[-1]]
        # The full stop that ends a sentence, and the like.
        after = line.places[inside[-1]] + 1
        while after < end and last + 1 < len(characters) and _is_same_mark(stored, after, characters[last + 1]):
            after, last = after + 1, last + 1
        runs.append((first, last + 1))
    return Found(runs, complete)


def _is_same_mark(stored: str, place: int, character: str) -> bool:
    return place < len(stored) and stored[place] == character and character in _MAY_VANISH


def _pairs(lines: list[_Line], page: list[_Line]) -> list[tuple[_Line, _Line | None]]:
    """Pair each stored line with its page line; None where that is not certain."""
    keys, page_keys = [line.key for line in lines], [line.key for line in page]
    spare = len(page) - len(lines)
    shifts = [shift for shift in range(spare + 1) if page_keys[shift : shift + len(keys)] == keys]
    if len(shifts) == 1:
        return [(line, page[shifts[0] + number]) for number, line in enumerate(lines)]
    # Something in between was cut out, or another version read the page: lines that occur once are certain.
    counts, page_counts = Counter(keys), Counter(page_keys)
    sole = {line.key: line for line in page if page_counts[line.key] == 1}
    return [(line, sole.get(line.key) if counts[line.key] == 1 else None) for line in lines]


def _lines(text: str) -> list[_Line]:
    """Return the lines that hold a character which reading never drops."""
    lines = []
    start = 0
    for piece in _LINE_BREAK.split(text):
        places = []
        kept = []
        for place, character in enumerate(piece, start):
            for part in unicodedata.normalize("NFD", character) if character > "\x7f" else character:
                if not _may_vanish(part):
                    kept.append(part)
                    places.append(place)
        if kept:
            lines.append(_Line("".join(kept), places))
        start += len(piece) + 1
    return lines


def _may_vanish(character: str) -> bool:
    # PDFium gives what lies beyond the first plane as one character or as two, by version.
    return (
        character in _MAY_VANISH
        or character > _LAST_BMP
        or unicodedata.category(character) in _INVISIBLE_CATEGORIES
        or character == "\ufffe"
    )
