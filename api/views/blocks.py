"""Cut a document's text into blocks that a browser lays out, and renders as Markdown, one at a time.

Flow: a stored document -> **here** -> `html.py`'s template. Pure.

A block ends between paragraphs, outside fenced code and outside the cited span, so that each can be rendered alone.
"""

import re
from dataclasses import dataclass

BLOCK_CHARS = 16_000
MAX_BLOCK_CHARS = 64_000
"""A block without an end of a paragraph ends here at the latest, if no span holds it together."""

_GAP = re.compile(r"\n\n")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """The characters `[start, end)` of a text, with the cited ones among them."""

    start: int
    end: int
    cited: tuple[int, int] | None = None


def blocks_of(text: str, cited: tuple[int, int] | None) -> list[Block]:
    """Return the blocks of a text in order, without gaps; `cited` lies in one of them as a whole."""
    blocks = []
    start = 0
    while start < len(text):
        end = _end(text, start)
        holds = cited is not None and start <= cited[0] < end
        if cited is not None and holds and end < cited[1]:
            end = _end(text, start, cited[1])
        blocks.append(Block(start, end, cited if holds else None))
        start = end
    return blocks


def _end(text: str, start: int, least: int = 0) -> int:
    """Return the first end of a paragraph at least `BLOCK_CHARS` after `start` that is not before `least`."""
    wanted = max(start + BLOCK_CHARS, least)
    latest = max(start + MAX_BLOCK_CHARS, least)
    fences, counted = 0, start
    for gap in _GAP.finditer(text, wanted, latest):
        fences += len(_FENCE.findall(text, counted, gap.end()))
        counted = gap.end()
        if fences % 2 == 0:
            return gap.end()
    if latest >= len(text):
        return len(text)
    line = text.rfind("\n", wanted, latest)
    return line + 1 if line >= 0 else latest
