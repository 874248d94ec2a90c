"""Read the words off pictures of pages: RapidOCR's small models, which come with its package, by onnxruntime.

Flow: a page as a picture, from `pdf.py` or `image.py` -> **here** -> its lines in reading order, and how sure the model
is of them. Runs inside the child process only, under limits of its own (`reader.py`). Nothing is downloaded.
"""

import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from PIL import Image

from index.documents.store import Metadata
from ingestion.reading.clock import own_time
from ingestion.reading.pdf_lines import BROKEN_HYPHEN
from ingestion.reading.text import number_ranges

MAX_SIDE_PX = 2000
"""Larger pictures are made smaller: on A4 that is 170 dpi, and finer print is rare."""
# Lines that the model is less sure of are noise more often than words.
MIN_CONFIDENCE = 0.5
_MAX_THREADS = 4
# What the models' runtime and OpenCV say when the child's limit is reached.
_OUT_OF_MEMORY = ("bad_alloc", "Failed to allocate", "Insufficient memory")
# Two columns of prose need at least this many lines, of at least this many characters each, on both sides of a gap as
# wide as a line is high. Cells of tables are shorter, and are read row by row.
_COLUMN_LINES, _COLUMN_CHARS = 3, 20
_LINE_END_HYPHEN = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_])")


class Line(NamedTuple):
    """A piece of a line, upright, in pixels."""

    left: float
    top: float
    right: float
    bottom: float
    text: str
    confidence: float


class PageText(NamedTuple):
    """What stands on a page.

    Attributes:
        text: its lines; `BROKEN_HYPHEN` where a word is broken; `""` if no word was found.
        confidence: mean over its characters, 0 to 1; 0 without words.
    """

    text: str
    confidence: float


def recognize(page: Image.Image) -> PageText:
    """Return what stands on a page, which is turned by a few degrees at most; it may be made smaller.

    Raises:
        MemoryError: the limit of this process is reached.
    """
    page.thumbnail((MAX_SIDE_PX, MAX_SIDE_PX))
    try:
        with own_time():  # a book takes long, and is not stuck
            found = _engine()(_pixels(page))
    except Exception as error:
        if any(sign in str(error) for sign in _OUT_OF_MEMORY):
            raise MemoryError from error
        raise
    if not found.txts:
        return PageText("", 0)
    lines = []
    for box, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
        (left, top), (right, bottom) = box.min(axis=0).tolist(), box.max(axis=0).tolist()
        if text.strip():
            lines.append(Line(left, top, right, bottom, text.strip(), float(score)))
    chars = sum(len(line.text) for line in lines)
    confidence = sum(line.confidence * len(line.text) for line in lines) / chars if chars else 0
    return PageText(text_of(lines), confidence)


def text_of(lines: Sequence[Line]) -> str:
    """Return the text in reading order: column by column, tabs between the cells of a row, blank lines at gaps."""
    blocks = ["\n".join(_rows(column)) for column in _columns(list(lines))]
    return _LINE_END_HYPHEN.sub(BROKEN_HYPHEN, "\n\n".join(blocks))


def ocr_metadata(found: Mapping[int, PageText]) -> Metadata:
    """Return what a document says of its pages that were read so, by number from 0: `ocr_pages`, `ocr_confidence`.

    Pages without words do not count; without any other, there is nothing to say.
    """
    words = {number: page for number, page in found.items() if page.text}
    if not words:
        return {}
    chars = sum(len(page.text) for page in words.values())
    confidence = sum(page.confidence * len(page.text) for page in words.values()) / chars
    return {"ocr_pages": number_ranges([number + 1 for number in words]), "ocr_confidence": round(confidence, 2)}


def _columns(lines: list[Line]) -> list[list[Line]]:
    """Cut a page across at gaps and along at gutters, again and again, as long as both sides are columns of prose."""
    if len(lines) < 2 * _COLUMN_LINES:
        return [lines] if lines else []
    height = median(line.bottom - line.top for line in lines)
    for left, right in _cuts(lines, along=True, gap=height):
        if _is_prose(left) and _is_prose(right):
            return _columns(left) + _columns(right)
    # A title over two columns hides the gutter until it is cut off.
    for above, below in _cuts(lines, along=False, gap=height / 4):
        for gutter in _cuts(below, along=True, gap=height):
            if all(map(_is_prose, gutter)):
                return _columns(above) + _columns(below)
    return [lines]


def _cuts(lines: list[Line], *, along: bool, gap: float) -> list[tuple[list[Line], list[Line]]]:
    """Return the ways to cut lines in two where nothing stands for `gap` pixels: `along` a gutter, or across."""
    spans = [(line.left, line.right) if along else (line.top, line.bottom) for line in lines]
    order = sorted(range(len(lines)), key=lambda number: spans[number])
    ordered = [lines[number] for number in order]
    cuts, end = [], float("-inf")
    for place, number in enumerate(order):
        start, stop = spans[number]
        if place and start - end >= gap:
            cuts.append((ordered[:place], ordered[place:]))
        end = max(end, stop)
    return cuts


def _is_prose(lines: list[Line]) -> bool:
    return len(lines) >= _COLUMN_LINES and median(len(line.text) for line in lines) >= _COLUMN_CHARS


def _rows(lines: list[Line]) -> list[str]:
    """Join the pieces of each row by tabs; a gap of a line's height becomes a blank line."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.top + line.bottom):
        if rows and _same_row(rows[-1][-1], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    texts = ["\t".join(piece.text for piece in sorted(row)) for row in rows]
    spaced = texts[:1]
    for (above, below), text in zip(pairwise(rows), texts[1:], strict=True):
        gap = min(piece.top for piece in below) - max(piece.bottom for piece in above)
        spaced.append(f"\n{text}" if gap > below[0].bottom - below[0].top else text)
    return spaced


def _same_row(one: Line, other: Line) -> bool:
    """Tell pieces side by side: on a slanted page boxes of neighbouring lines overlap too, but not by half."""
    overlap = min(one.bottom, other.bottom) - max(one.top, other.top)
    beside = one.right <= other.left or other.right <= one.left
    return beside and overlap > min(one.bottom - one.top, other.bottom - other.top) / 2


def _pixels(page: Image.Image) -> Any:
    import numpy as np  # noqa: PLC0415

    # The models learnt from blue, green, red.
    return np.ascontiguousarray(np.asarray(page.convert("RGB"))[:, :, ::-1])


@cache
def _engine() -> Any:
    import cv2  # noqa: PLC0415  # a part of the extra, as the next one
    import rapidocr  # noqa: PLC0415

    cv2.setNumThreads(1)
    models = Path(rapidocr.__file__).parent / "models"
    return rapidocr.RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,  # it turns lines that stand on their heads; those of pages do not
            "Global.text_score": MIN_CONFIDENCE,
            "Global.max_side_len": MAX_SIDE_PX,
            "EngineConfig.onnxruntime.intra_op_num_threads": min(_MAX_THREADS, os.cpu_count() or 1),
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            # By path, so that no model is ever looked for elsewhere.
            "Det.model_path": str(models / "PP-OCRv6_det_small.onnx"),
            "Rec.model_path": str(models / "PP-OCRv6_rec_small.onnx"),
        }
    )
