"""Choose a PDF's title: its metadata, the largest type on its first page, or its file's name.

Flow: `pdf.py` (metadata and the first page's lines with their type sizes) -> **here** -> `Document.title`. Pure.
"""

import re
from collections.abc import Sequence
from statistics import median

from ingestion.reading.pdf_type import Line
from ingestion.reading.text import one_line, title_from_name
from ingestion.reading.titles import is_title

_TOP_LINES = 15
_LARGER_THAN_TEXT = 1.15


def choose_title(in_metadata: str, first_page: Sequence[Line], doc_id: str) -> str:
    """Return the title of a PDF.

    A heading on the first page takes the place of the file's name only if it says all that the name says, or
    the name says nothing: `ACME_2017_10K.pdf` tells more than the `FORM 10-K` printed on it.
    """
    if is_title(in_metadata):
        return in_metadata
    name = title_from_name(doc_id)
    heading = largest_heading(first_page)
    says_more = is_title(name) and not _words(name) <= _words(heading or "")
    return heading if heading and not says_more else name


def largest_heading(lines: Sequence[Line]) -> str | None:
    """Return the lines in the largest type near the top of a page, joined; None if no type stands out."""
    lines = [line for line in lines if line.text.strip()]
    if not lines:
        return None
    text_points = median(line.points for line in lines for _ in range(len(line.text)))
    candidates = [line for line in lines[:_TOP_LINES] if len(re.findall(r"[^\W\d_]", line.text)) > 3]
    points = max((line.points for line in candidates), default=0)
    if points < _LARGER_THAN_TEXT * text_points:
        return None
    first = next(number for number, line in enumerate(lines) if line in candidates and _alike(line.points, points))
    last = first
    while last + 1 < len(lines) and _alike(lines[last + 1].points, points):
        last += 1
    heading = one_line(" ".join(line.text for line in lines[first : last + 1]))
    return heading if is_title(heading) else None


def _alike(points: float, others: float) -> bool:
    return abs(points - others) < 0.1 * others


def _words(title: str) -> set[str]:
    """Return what a name says: its words of three letters or more, and its numbers beside them; no version."""
    words = {word for word in re.findall(r"[^\W_]+", title.casefold()) if not re.fullmatch(r"\D{1,2}|v\d+", word)}
    return words if any(re.search(r"[^\W\d_]{3}", word) for word in words) else set()
