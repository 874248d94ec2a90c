"""Find the headings of a document, and those that a place stands under.

Flow: a document's text -> **here** -> `layout.py` tells headings from paragraphs, `windows.py` and `collection/` name
what a place is about. Pure.
"""

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
HEADING = re.compile(
    r"^(?: {0,3}(?P<marks>#{1,6})[ \t]+(?P<marked>\S.*)$"
    # "2. Term", as contracts have it: a short line between a blank one and its text.
    r"|(?:(?<=\n\n)|(?<!\n))(?P<number>\d{1,2}(?:\.\d{1,2}){0,2})\.?[ \t]+(?P<numbered>[^\W\d_a-z][^\n.!?;:,]{1,60})$"
    r"(?=\n(?!\d)[^\W_a-z]))",
    re.MULTILINE,
)
# Numbered headings stand below those with marks.
NUMBERED_LEVEL = 6


@dataclass(frozen=True, slots=True)
class HeadingPath:
    """The headings that a place of a document stands under, the outermost first.

    Attributes:
        titles: all of them.
        marked: how many have a `#`, as in Markdown; those with a number alone stand below them.
    """

    titles: tuple[str, ...] = ()
    marked: int = 0


def heading_paths(text: str, offsets: Sequence[int]) -> list[HeadingPath]:
    """Return the headings that each of these offsets of a document stands under.

    Args:
        text: of the document.
        offsets: rising.
    """
    path: list[tuple[int, str]] = []
    found: list[HeadingPath] = []
    # One more character: a numbered heading is recognised by the text that follows it.
    headings = _headings(text, offsets[-1] + 1 if offsets else 0)
    following = next(headings, None)
    for offset in offsets:
        while following is not None and following.end() <= offset:
            level, title = _level_and_title(following)
            while path and path[-1][0] >= level:
                path.pop()
            path.append((level, title))
            following = next(headings, None)
        titles = tuple(title for _, title in path)
        found.append(HeadingPath(titles, sum(level <= NUMBERED_LEVEL for level, _ in path)))
    return found


def marked_headings(text: str) -> list[tuple[int, int, int]]:
    """Return where the titles of the headings with `#` begin and end, each with the number of its signs."""
    found = (heading for heading in _headings(text, len(text)) if heading["marks"])
    return [
        (one.start("marked"), one.start("marked") + len(one["marked"].rstrip(" #")), len(one["marks"])) for one in found
    ]


def _headings(text: str, end: int) -> Iterator[re.Match[str]]:
    """Yield the headings up to an offset; a comment in fenced code is none."""
    # Most texts have none, and looking for the signs is cheaper than the pattern.
    fenced = "```" in text or "~~~" in text
    fences = [fence.start() for fence in FENCE.finditer(text, 0, end)] if fenced else []
    for heading in HEADING.finditer(text, 0, end):
        if bisect(fences, heading.start()) % 2 == 0:
            yield heading


def _level_and_title(heading: re.Match[str]) -> tuple[int, str]:
    if heading["marks"]:
        return len(heading["marks"]), heading["marked"].strip().rstrip("#").strip()
    return NUMBERED_LEVEL + heading["number"].count(".") + 1, heading["numbered"].strip()
