"""What readers share: how a table's cells are laid out, how a list is numbered and how a document is finished.

Flow: a format's reader -> **here** -> `TextBuilder` -> `Document`. Pure. How tables of office files are written is the
business of `office/tables.py`.
"""

from collections.abc import Callable, Sequence

from errors import UnreadableError
from index.documents.store import Document, Metadata
from index.documents.structure import Structure
from ingestion.reading import fields
from ingestion.reading.column_names import joined_names
from ingestion.reading.text import clean, one_line, title_from_name
from ingestion.reading.text_budget import BETWEEN_CELLS, Growth, check
from ingestion.reading.text_builder import TextBuilder

# Rows that are longer than this are written as a line for each cell, with the name of its column.
WIDE_ROW_CHARS = 600
MAX_COLUMNS_SPANNED, MAX_ROWS_SPANNED = 50, 200


def finished(
    builder: TextBuilder,
    doc_id: str,
    title: str | None = None,
    metadata: Metadata | None = None,
    *,
    title_of: Callable[[str], str | None] = fields.title,
    unread: str = "",
) -> Document:
    """Return what was built as a document; without a title its first heading is, without headings the file's name.

    Args:
        builder: holds the whole text.
        doc_id: the file's path.
        title: its own.
        metadata: what it says of itself.
        title_of: makes a title of the first heading, or None where that says nothing.
        unread: what was not read, in sentences.

    Raises:
        UnreadableError: nothing visible was built.
    """
    text, blocks = builder.finished()
    if not text:
        raise UnreadableError("The file holds no text.", "Fill it or remove it.")
    heading = next((text[slice(*block.inner)] for block in blocks if block.kind == "heading"), "")
    name = fields.title(title) or title_of(heading) or title_from_name(doc_id)
    structure = Structure(blocks)
    return Document(doc_id, name, text, metadata=metadata or {}, source=doc_id, structure=structure, unread=unread)


def table(builder: TextBuilder, rows: Sequence[Sequence[str]], headers: int = 0, caption: str = "") -> None:
    """Add a table.

    Args:
        builder: what it is added to.
        rows: the cells of each row; rows that are shorter than others are filled up.
        headers: how many of the first rows name the columns; each column is called by all its names.
        caption: stands before the table.
    """
    builder.caption(caption)
    width = max(map(len, rows), default=0)
    check(BETWEEN_CELLS * width * len(rows))
    even = [[*row, *[""] * (width - len(row))] for row in rows]
    head, body = even[:headers], even[headers:]
    columns = joined_names(head, range(headers))
    if columns and all(columns) and any(sum(map(len, row)) > WIDE_ROW_CHARS for row in body):
        for row in body:
            builder.record(columns, row)
        return
    for place, row in enumerate(head, 1):
        builder.row(row, header=place == headers)
    for row in body:
        builder.row(row, columns)


class Grid:
    """Gathers a table's cells, some of them spanning several rows or columns.

    What spans rows stands in each of them, what spans columns in the first one.

    Args:
        spread: what spans columns stands in each of them.

    Attributes:
        rows: those that are complete.
    """

    def __init__(self, *, spread: bool = False) -> None:
        self._spread = spread
        self.rows: list[list[str]] = []
        self._cells: list[str] = []
        self._growth = Growth()
        self._below: dict[int, tuple[int, str]] = {}  # column -> further rows that a cell spans, and its text

    @property
    def width(self) -> int:
        """Cells of the row that is not complete, with those that reach down into it."""
        self._take()
        return len(self._cells)

    def cell(self, text: str, columns: int = 1, rows: int = 1) -> range:
        """Add a cell, and return the columns that it spans, from 0.

        Spans over `MAX_COLUMNS_SPANNED` and `MAX_ROWS_SPANNED` are cut.
        """
        self._take()
        place = len(self._cells)
        columns = min(max(columns, 1), MAX_COLUMNS_SPANNED)
        for shown in (text, *[text if self._spread else ""] * (columns - 1)):
            if rows > 1:
                self._below[len(self._cells)] = min(rows, MAX_ROWS_SPANNED) - 1, shown
            self._cells.append(shown)
        return range(place, place + columns)

    def end_row(self) -> list[str]:
        """Complete the row, and return it; one without cells is dropped."""
        self._take()
        row, self._cells = self._cells, []
        if row:
            self._growth.add(sum(len(text) + BETWEEN_CELLS for text in row))
            self.rows.append(row)
        return row

    def _take(self) -> None:
        while (place := len(self._cells)) in self._below:
            further, text = self._below.pop(place)
            if further > 1:
                self._below[place] = further - 1, text
            self._cells.append(text)


class Items:
    """Adds what an item of a list holds: its first paragraph with the mark, what follows as blocks of its own.

    Args:
        builder: what is added to.
        depth: of the list.
        number: of the item, if the list is ordered.
        term: what the item explains, if it is a definition.

    Attributes:
        started: whether anything of the item is written.
    """

    def __init__(self, builder: TextBuilder, depth: int, number: int | None = None, term: str = "") -> None:
        self._builder = builder
        self._depth = depth
        self._number = number
        self.term = one_line(term)
        self.started = False

    def paragraph(self, text: str) -> None:
        """Add a paragraph of the item."""
        if self.started:
            self._builder.paragraph(text)
        elif text.strip():
            self._begin(f"{self.term}: {text}" if self.term else text)

    def begin(self) -> None:
        """Write the term, if no paragraph came: something that is not a paragraph follows, or nothing does."""
        if not self.started:
            self._begin(self.term)

    def _begin(self, words: str) -> None:
        self.started = True
        self._builder.item(words, depth=self._depth, number=self._number)


def unindented(lines: Sequence[str]) -> str:
    """Return lines without the indentation that all of them have; the blank ones at both ends are dropped."""
    full = [line for line in lines if line.strip()]
    indent = min((len(line) - len(line.lstrip(" ")) for line in full), default=0)
    return clean("\n".join(line[indent:] for line in lines))


def next_line(lines: Sequence[str], place: int) -> int:
    """Return the place of the first line from here that is not blank; behind the last one if all are."""
    return next((at for at in range(place, len(lines)) if lines[at].strip()), len(lines))
