"""Cut out of a text what holds no words: embedded images, other base64, hex dumps, minified code, lines of dots.

Flow: a reader's text, or one that came with a question -> **here** -> the text that is stored and cut into leaves, with
a placeholder where something stood. Done before any offset exists, so citations stay true, and neither the embedding
model nor the store is fed what no question can find. Pure; linear in the text's length.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain
from typing import NamedTuple

from index.documents.structure import stripped

# Longer than any word, address or table rule that people write.
RUN_CHARS = 500
MARKS_CHARS = 1000
LINE_CHARS = 5000
MIN_LINES = 8
# Scripts without spaces are not ASCII; base64, hex and minified code are.
ASCII_SHARE = 0.9
# Of prose, and of code that people wrote, every sixth to tenth character is a space.
SPACE_SHARE = 0.07
# Of random hexadecimal digits three in eight are letters; of a table of numbers none.
HEX_LETTER_SHARE = 0.1
MARKS_SHARE = 0.9

PLACEHOLDERS = {"image": "[image]", "data": "[data]", "marks": "[…]"}
_NAMES = {
    "image": ("embedded image", "embedded images"),
    "data": ("run of data without words", "runs of data without words"),
    "marks": ("run of marks", "runs of marks"),
}

# Each begins where nothing of its kind stands before it, and gives nothing back: no text is read twice.
_BASE64_LINES = re.compile(
    rf"(?:^[ \t>]*+[A-Za-z0-9+/]{{40,}}+={{0,2}}+[ \t]*+(?:\n|\Z)){{{MIN_LINES},}}+", re.MULTILINE
)
_HEX_LINES = re.compile(
    r"(?:^[ \t>]*+(?:[0-9A-Fa-f]{6,16}+:?[ \t]++)?+(?:(?:[0-9A-Fa-f]{2}){1,2}+[ \t]++){7,}+.*+(?:\n|\Z))"
    rf"{{{MIN_LINES},}}+",
    re.MULTILINE,
)
_RUN = re.compile(rf"(?<!\S)\S{{{RUN_CHARS},}}+")
_MARKS = re.compile(rf"(?<!\W)\W{{{MARKS_CHARS},}}+")
_LINE = re.compile(rf"(?<![^\n])[^\n]{{{LINE_CHARS},}}+")
_ENCODED = re.compile(rf"(?<![A-Za-z0-9+/=_%-])[A-Za-z0-9+/=_%-]{{{RUN_CHARS},}}+")
_DATA_ADDRESS = re.compile(r"data:([\w.+-]{0,40})[\w./+-]{0,80}(?:;[\w.=+-]{0,80}){0,4},\Z", re.IGNORECASE)
_ADDRESS_CHARS = 500


class LeftOut(NamedTuple):
    """What was cut out of one document.

    Attributes:
        doc_id: the document.
        reason: what it was and how long, as a sentence.
    """

    doc_id: str
    reason: str


class WithoutBlobs(NamedTuple):
    """A text without its blobs.

    Attributes:
        text: with placeholders.
        offsets: the given ones, in this text.
        left_out: what was cut out, in words; empty if nothing was.
        blank: nothing but placeholders is left.
        moved: where a place of the given text stands in this one.
    """

    text: str
    offsets: tuple[int, ...]
    left_out: str
    blank: bool
    moved: Callable[[int], int]


class _Blob(NamedTuple):
    start: int
    end: int
    kind: str


def without_blobs(text: str, offsets: Sequence[int] = ()) -> WithoutBlobs:
    """Return the text with a placeholder for each run without words.

    Args:
        text: cleaned.
        offsets: places in `text`, rising.
    """
    blobs = _merged([*_lines_and_runs(text)])
    blobs = _merged([*blobs, *_long_lines(text, blobs)])
    if not blobs:
        return WithoutBlobs(text, tuple(offsets), "", blank=False, moved=lambda offset: offset)
    ends = [blob.end for blob in blobs]
    starts = [blob.start for blob in blobs]
    kept = [text[start:end] for start, end in zip([0, *ends], [*starts, len(text)], strict=True)]
    marks = [PLACEHOLDERS[blob.kind] for blob in blobs]
    joined = "".join(chain.from_iterable(zip(kept, [*marks, ""], strict=True)))
    # How much longer or shorter the text is by the end of each blob.
    shifts = list(accumulate((len(mark) - (b.end - b.start) for mark, b in zip(marks, blobs, strict=True)), initial=0))

    def moved(offset: int) -> int:
        before = bisect_right(ends, offset)
        # A place inside a blob becomes the place before its placeholder.
        return (
            min(offset, *starts[before : before + 1]) + shifts[before] if before < len(blobs) else offset + shifts[-1]
        )

    blank = not any(re.search(r"\w", piece) for piece in kept)
    return WithoutBlobs(joined, tuple(map(moved, offsets)), _told(blobs), blank, moved)


def _lines_and_runs(text: str) -> Iterator[_Blob]:
    for match in _BASE64_LINES.finditer(text):
        yield _Blob(match.start(), match.start() + len(match[0].rstrip()), "data")
    for match in _HEX_LINES.finditer(text):
        letters = sum(map(match[0].lower().count, "abcdef"))
        if letters > HEX_LETTER_SHARE * len(match[0]):
            yield _Blob(match.start(), match.start() + len(match[0].rstrip()), "data")
    for match in _MARKS.finditer(text):
        yield _Blob(*stripped(text, *match.span()), "marks")
    for match in _RUN.finditer(text):
        yield from _in_run(text, match.start(), match.end())


def _long_lines(text: str, known: Sequence[_Blob]) -> Iterator[_Blob]:
    """Yield the lines that are minified code or the like, known blobs in them not counted."""
    starts = [blob.start for blob in known]
    for match in _LINE.finditer(text):
        start, end = match.span()
        rest, last = [], start
        for blob in known[bisect_left(starts, start) : bisect_left(starts, end)]:
            rest.append(text[last : blob.start])
            last = blob.end
        line = "".join((*rest, text[last:end]))
        if len(line) >= LINE_CHARS and _is_ascii(line) and line.count(" ") + line.count("\t") < SPACE_SHARE * len(line):
            yield _Blob(start, end, "data")


def _in_run(text: str, start: int, end: int) -> Iterator[_Blob]:
    """Yield what is encoded in a run without spaces; all of it if the rest is long as well."""
    run = text[start:end]
    marks = len(re.findall(r"[^\w]", run))
    if marks > MARKS_SHARE * len(run):
        yield _Blob(start, end, "marks")
        return
    if not _is_ascii(run):
        return
    encoded = []
    for match in _ENCODED.finditer(text, start, end):
        address = _DATA_ADDRESS.search(text[max(start, match.start() - _ADDRESS_CHARS) : match.start()])
        kind = "image" if address and address[1].lower() == "image" else "data"
        encoded.append(_Blob(match.start() - (len(address[0]) if address else 0), match.end(), kind))
    if len(run) - sum(blob.end - blob.start for blob in encoded) >= RUN_CHARS:
        yield _Blob(start, end, "data")
    else:
        yield from encoded


def _is_ascii(text: str) -> bool:
    return len(text.encode("ascii", "ignore")) >= ASCII_SHARE * len(text)


def _merged(blobs: Sequence[_Blob]) -> list[_Blob]:
    merged: list[_Blob] = []
    for blob in sorted(blobs):
        if merged and blob.start <= merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(merged[-1].end, blob.end))
        elif blob.end > blob.start:
            merged.append(blob)
    return merged


def _told(blobs: Sequence[_Blob]) -> str:
    parts = []
    for kind, (one, many) in _NAMES.items():
        lengths = [blob.end - blob.start for blob in blobs if blob.kind == kind]
        if lengths:
            parts.append(f"{len(lengths)} {one if len(lengths) == 1 else many} ({sum(lengths):,} characters)")
    return f"Left out: {', '.join(parts)}."
