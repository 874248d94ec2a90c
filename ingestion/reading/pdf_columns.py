"""Set the columns of a PDF's tables apart: a tab stands where the cells of a line lie wide apart on the page.

Flow: a page's text, and where its spaces are wide (`pdf.py` asks PDFium) -> **here** -> `pdf.py` goes on with the text.
`query_engine/reader/layout.py` reads lines with tabs as rows, so that an answer can name the columns. Pure.
"""

import re
from collections.abc import Iterable

_LINE = re.compile(r"[^\r\n]+")
# "$ 19,934" and "(3.1 )%" are one cell each, however wide they are set; a bullet is none.
_SIGN_BEFORE = re.compile(r"(?<!\S)[$€£¥•▪◦‣]")
_SIGN_BEHIND = re.compile(r"[)%](?:\s|[)%]|$)")
# Lines that fill their width stretch most between sentences.
_STOP_BEFORE = re.compile(r"[.!?:;,]|[.!?:;,][\"”’)]")
# A section's number, a bullet: what stands behind it is not a second column.
_MARK = re.compile(r"\W*+(?:(?:[A-Za-z]|\d{1,3})(?:\.\d{1,3})*[.)]?)?\W*+")
# Two figures in a row of a table are two cells, however near; "12 500" is one.
_BETWEEN_FIGURES = re.compile(r"(?<=[\d%)]) (?!\d{3}(?!\d))(?=[$€£¥]? ?\(?[-–−+]?[\d.])")


def mark_columns(text: str, wide: Iterable[int]) -> str:
    """Return a page's text with tabs in place of the spaces between the cells of a line.

    Args:
        text: of the page.
        wide: places of spaces that are wider than those between words.
    """
    spaces = set(wide)
    characters = list(text)
    for line in _LINE.finditer(text):
        places = [place for place in range(*line.span()) if place in spaces and _is_between_cells(text, place)]
        if len(places) == 1 and _MARK.fullmatch(text, line.start(), places[0]):
            continue
        if places:
            places += [match.start() for match in _BETWEEN_FIGURES.finditer(text, *line.span())]
        for place in places:
            characters[place] = "\t"
    return "".join(characters)


def _is_between_cells(text: str, place: int) -> bool:
    if _SIGN_BEFORE.match(text, place - 1) or _SIGN_BEHIND.match(text, place + 1):
        return False
    stops = any(_STOP_BEFORE.fullmatch(text, start, place) for start in (place - 1, place - 2))
    return not (text[place + 1].isalpha() and stops)
