"""Write a PDF's page with each row of its tables on a line, and find the rows again in the document's text.

Flow: a page's text and its tables -> **here** -> text with a tab between cells, which `pdf.py` mends and joins ->
**here** -> the document's blocks: rows and headings where the page has them, and between them what `guess.py` makes of
lines. Pure.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import add
from typing import NamedTuple

from index.documents.guess import guessed_blocks, header_row
from index.documents.structure import Block
from ingestion.reading.pdf_columns import mark_columns
from ingestion.reading.pdf_header import NamedRow
from ingestion.reading.pdf_headings import Heading
from ingestion.reading.pdf_lines import BROKEN_HYPHEN
from ingestion.reading.pdf_tables import Piece
from ingestion.reading.text import one_line

# What no cleaning removes: a line with it is never blank.
_VISIBLE = re.compile(r"[\w—–()%$€£+-]")
_FIGURE = re.compile(r"[^\w\s]*\s?\d")
# Below a header that the positions of words do not show: of a single row a figure below a word says little.
MIN_ROWS = 2


class WrittenRow(NamedTuple):
    """A row as a line of the page's text.

    Attributes:
        line: its cells with tabs between them, without the empty ones at either end.
        before: how many cells at its beginning are empty.
        cells: how many there are.
        columns: what each is called; none where that is not certain.
        header: it names columns.
        level: of a heading, which is a row of one cell; 0 of any other row.
        goes_on: it continues the heading in the line before.
    """

    line: str
    before: int
    cells: int
    columns: tuple[str, ...] = ()
    header: bool = False
    level: int = 0
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """A page's text, and the rows of tables and the headings in it, in order."""

    text: str
    rows: tuple[WrittenRow, ...] = ()

    def lines(self) -> str:
        """Its rows, a line each."""
        return "\n".join(row.line for row in self.rows)

    def mended(self, lines: str) -> "WrittenPage":
        """Return the page with other lines for its rows."""
        rows = zip(self.rows, lines.split("\n"), strict=True) if self.rows else ()
        return replace(self, rows=tuple(row._replace(line=line) for row, line in rows))


def write_page(
    text: str, wide: Sequence[int], tables: Sequence[Sequence[NamedRow]], headings: Sequence[Heading] = ()
) -> WrittenPage:
    """Return a page's text with its tables' rows on lines of their own.

    Args:
        text: of the page.
        wide: places of spaces that are wider than those between words.
        tables: in the order of the text.
        headings: outside of them, in the same order.
    """
    parts: list[str] = []
    rows: list[WrittenRow] = []
    end = 0
    for table in tables:
        start, behind = span_of(table)
        written = [_written(text, row) for row in table]
        between, titles = _between(text, end, start, wide, headings)
        rows += [*titles, *(row for row in written if row.cells > 1 and _VISIBLE.search(row.line))]
        parts += [between.rstrip(" "), "\n".join(row.line for row in written)]
        end = behind
    between, titles = _between(text, end, len(text), wide, headings)
    return WrittenPage(_in_lines([*parts, between]), (*rows, *titles))


def span_of(table: Sequence[NamedRow]) -> tuple[int, int]:
    """Return where a table stands in its page's text."""
    pieces = [piece for row in table for cell in row.cells for piece in cell]
    return min(piece.start for piece in pieces), max(piece.end for piece in pieces)


def _between(
    text: str, start: int, end: int, wide: Sequence[int], headings: Sequence[Heading]
) -> tuple[str, list[WrittenRow]]:
    """Return what stands between two tables with its columns marked, and its headings; none has columns."""
    marked = mark_columns(text[start:end], [place - start for place in wide if start <= place < end])
    lines = [(marked[one.start - start : one.end - start].strip(), one) for one in headings if start <= one.start < end]
    titles = [WrittenRow(line, 0, 1, level=one.level, goes_on=one.goes_on) for line, one in lines if "\t" not in line]
    return marked, titles


def _in_lines(parts: Sequence[str]) -> str:
    """Join what is a table and what is not, each on lines of its own."""
    joined = parts[0]
    for part in parts[1:]:
        apart = "" if not joined or joined.endswith("\n") or part.startswith("\n") or not part.strip() else "\n"
        joined += apart + part.lstrip(" ")
    return joined


def _written(text: str, row: NamedRow) -> WrittenRow:
    cells = [_cell(text, pieces) for pieces in row.cells]
    filled = [place for place, cell in enumerate(cells) if cell]
    line = "\t".join(cells[filled[0] : filled[-1] + 1])
    return WrittenRow(line, filled[0], len(cells), tuple(map(one_line, row.columns)), row.header)


def _cell(text: str, pieces: Sequence[Piece]) -> str:
    """Return a cell's words; a word that is broken at the end of a line stays marked as such."""
    words = ""
    end = 0
    for piece in pieces:
        gap = BROKEN_HYPHEN if text[end : piece.start] == BROKEN_HYPHEN else " "
        words += (gap if words else "") + " ".join(text[piece.start : piece.end].split())
        end = piece.end
    return words


def blocks_of(text: str, starts: Sequence[int], pages: Sequence[WrittenPage]) -> list[Block]:
    """Return blocks that tile a document's text.

    Args:
        text: of the document.
        starts: of each page in it.
        pages: what was written, with lines as they are in the text.
    """
    rows: list[Block] = []
    for page, start, end in zip(pages, starts, [*starts[1:], len(text)], strict=True):
        rows += _found(text, start, end, page.rows)
    is_typeset = any(row.kind == "heading" for row in rows)
    blocks: list[Block] = []
    for before, row in zip([None, *rows], [*rows, None], strict=True):
        start, end = before.end if before else 0, row.start if row else len(text)
        between = guessed_blocks(text[start:end])
        if is_typeset:  # what looks like a heading, and is not set as one, is a comment in code, or the like
            between = tuple(
                block._replace(kind="paragraph", level=0) if block.kind == "heading" else block for block in between
            )
        blocks += _named_if_certain([block.moved(partial(add, start)) for block in between], text)
        if not between and blocks:
            blocks[-1] = blocks[-1]._replace(end=end)
        if row:
            blocks.append(row if between or blocks else row._replace(start=0))
    return blocks


def _found(text: str, start: int, end: int, rows: Sequence[WrittenRow]) -> list[Block]:
    """Return the rows and headings of a page that are in its text still: running lines are not."""
    blocks: list[Block] = []
    at = start
    for row in rows:
        first = _line_at(text, row.line, at, end)
        parts = row.line.split("\t")
        if first is None or len(parts) + row.before > row.cells:
            continue
        spans, place = [(first, first)] * row.before, first
        for part in parts:
            spans.append((place, place + len(part)))
            place += len(part) + 1
        last = first + len(row.line)
        spans += [(last, last)] * (row.cells - len(spans))
        behind = min(last + 1, len(text))
        if not row.level:
            blocks.append(
                Block("row", first, behind, (first, last), cells=tuple(spans), columns=row.columns, header=row.header)
            )
        elif row.goes_on and at == first and blocks and blocks[-1].kind == "heading":
            blocks[-1] = blocks[-1]._replace(end=behind, inner=(blocks[-1].inner[0], last))
        else:
            blocks.append(Block("heading", first, behind, (first, last), row.level))
        at = behind
    return blocks


def _line_at(text: str, line: str, start: int, end: int) -> int | None:
    """Return where a line stands in `text[start:end]`, if it does."""
    place = text.find(line, start, end)
    while place >= 0:
        behind = place + len(line)
        if (not place or text[place - 1] == "\n") and (behind == len(text) or text[behind] == "\n"):
            return place
        place = text.find(line, place + 1, end)
    return None


def _named_if_certain(blocks: Sequence[Block], text: str) -> Iterator[Block]:
    """Yield guessed blocks; rows of cells with tabs between them have names only where no cell can be out of its place.

    That is where each row has as many cells as the one on top, which names them: below it each row is full, and at
    least one column is all figures.
    """
    for is_tabbed, run in groupby(blocks, lambda one: one.kind == "row" and "\t" in text[slice(*one.inner)]):
        rows = list(run)
        if not is_tabbed:
            yield from rows
            continue
        cells = [[text[slice(*cell)] for cell in row.cells] for row in rows]
        names = tuple(cells[0]) if _is_certain(cells) else ()
        yield rows[0]._replace(columns=(), header=bool(names))
        for row in rows[1:]:
            yield row._replace(columns=names, header=False)


def _is_certain(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of these rows is a header, and all others lie below its names."""
    header, *below = rows
    is_full = all(len(row) == len(header) and all(row) for row in rows)
    return (
        len(below) >= MIN_ROWS
        and is_full
        and len(set(header)) == len(header)
        and header_row(rows) == 0
        and any(all(map(_FIGURE.match, column)) for column in zip(*below, strict=True))
    )
