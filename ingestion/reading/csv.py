"""Read CSV: a row is a document where a column holds text, otherwise the whole table is one.

Flow: open file -> **here** -> `records.py` -> `Document`s. Rows with text are streamed.

A table is written out as one `column: value` line a cell and a blank line between rows, so that a passage cut
from the middle of it still says what its numbers mean. Which row names the columns says `column_names.py`; what stands
above it is text.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from errors import UnreadableError
from index.documents.store import Document
from index.documents.structure import placeholder
from ingestion.reading.column_names import header_span, is_comment, joined_names
from ingestion.reading.records import REMEDY, check_table_length, documents, finished_table, has_text
from ingestion.reading.text import encoding_of, one_line
from ingestion.reading.text_builder import TextBuilder

MAX_LINE_CHARS = 16_000_000
# The likelier first: a number may hold a comma, and a text a bar.
_DELIMITERS = "\t;,|"
# Rows that tell delimiter and header, and how many characters of them at most are held.
FIRST_ROWS, FIRST_CHARS = 50, 200_000
_SEP = re.compile(r"\ufeff?\"?sep=(.)\"?\r?\n")
_UNDECODABLE = re.compile("[\udc80-\udcff]")

Row = list[str]
Numbered = tuple[int, Row | UnreadableError]


def read_csv(stream: io.BufferedReader, doc_id: str, max_chars: int) -> Iterator[Document | UnreadableError]:
    """Yield the documents of the file, and the reasons why there is none for some rows.

    Args:
        stream: at its beginning, with a buffer large enough to show the encoding; closed at the end.
        doc_id: the file.
        max_chars: length at which a table is refused.

    Raises:
        UnreadableError: empty, binary data, or a table longer than `max_chars`.
    """
    sample = stream.peek()
    encoding = encoding_of(sample)
    errors = "surrogateescape" if encoding.startswith("utf-8") else "replace"
    with io.TextIOWrapper(stream, encoding, errors, newline="") as text:
        rows = _numbered_rows(_Lines(text), sample.decode(encoding, errors))
        yield from _documents(rows, doc_id, max_chars)


def _documents(rows: Iterator[Numbered], doc_id: str, max_chars: int) -> Iterator[Document | UnreadableError]:
    first, rows = _first_rows(rows)
    top, end = header_span([row for _, row in first])
    columns = joined_names([row for _, row in first[top:end]])
    if has_text(columns):
        numbered = chain(first[end:], rows)
        yield from documents(((number, _record(row, number, columns)) for number, row in numbered), doc_id, "Row")
    else:
        above = [row for _, row in first[:top]]
        yield from _table(above, chain(first[end:], rows), columns, doc_id, max_chars)


def _first_rows(rows: Iterator[Numbered]) -> tuple[list[tuple[int, Row]], Iterator[Numbered]]:
    """Return the rows that tell the header, up to the first that cannot be read, and all that follow.

    Raises:
        UnreadableError: there is none.
    """
    first: list[tuple[int, Row]] = []
    chars = 0
    for number, row in rows:
        if isinstance(row, UnreadableError):
            if not first:
                raise row
            return first, chain([(number, row)], rows)
        first.append((number, row))
        chars += sum(map(len, row))
        if len(first) == FIRST_ROWS or chars > FIRST_CHARS or (len(first) == 1 and has_text(map(one_line, row))):
            break
    if not first:
        raise UnreadableError("The file holds no text.", "Fill it or remove it.")
    return first, rows


def _table(
    above: Sequence[Row], rows: Iterator[Numbered], columns: Row, doc_id: str, max_chars: int
) -> Iterator[Document | UnreadableError]:
    builder = TextBuilder()
    for title in above:
        cells = [cell.strip().lstrip("#") if is_comment(title) else cell for cell in title if cell.strip()]
        if len(cells) == 2 and not is_comment(title):
            builder.pair(*cells)
        else:
            builder.paragraph(", ".join(map(one_line, cells)))
    builder.row([name for name in columns if name], header=True, ruled=False)
    for _number, row in rows:
        if isinstance(row, UnreadableError):
            yield row
            continue
        builder.record([_name(columns, place) for place in range(len(row))], row)
        check_table_length(builder, max_chars)
    yield finished_table(builder, doc_id)


def _record(row: Row | UnreadableError, number: int, columns: Row) -> dict[str, object] | UnreadableError:
    if isinstance(row, UnreadableError):
        return row
    if len(row) > len(columns) and any(row[len(columns) :]):
        return UnreadableError(f"Row {number} has {len(row)} values for {len(columns)} columns.", REMEDY)
    return {name: value for name, value in zip(columns, row, strict=False) if name}


def _name(columns: Row, place: int) -> str:
    return (columns[place] if place < len(columns) else "") or placeholder(place + 1)


def _delimiter(sample: str) -> str:
    """Return the delimiter that cuts the most rows into equally many values."""
    lines = sample.splitlines(keepends=True)[: FIRST_ROWS + 1]
    lines = lines[:-1] or lines  # the last one may be cut off
    best, most = ",", 0
    for delimiter in _DELIMITERS:
        try:
            widths = Counter(filter(lambda width: width > 1, map(len, csv.reader(lines, delimiter=delimiter))))
        except csv.Error:
            continue
        if widths and (rows := widths.most_common(1)[0][1]) > most:
            best, most = delimiter, rows
    return best


def _numbered_rows(lines: "_Lines", sample: str) -> Iterator[Numbered]:
    """Yield rows that are not blank, with their number from 1; not `sep=;`, which tells Excel the delimiter."""
    csv.field_size_limit(MAX_LINE_CHARS)
    told = _SEP.match(sample)
    reader = csv.reader(lines, delimiter=told[1] if told else _delimiter(sample))
    number = 0
    while True:
        number += 1
        lines.begin_row()
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield number, UnreadableError(f"Row {number} is not valid CSV: {error}.", REMEDY)
            continue
        except UnreadableError as error:
            yield number, UnreadableError(f"Row {number} cannot be read: {error.fact}", error.remedy)
            continue
        if lines.ended_inside_row:
            fact = f"The quotation mark opened in row {number} is never closed; this row and what follows it is lost."
            yield number, UnreadableError(fact, "Close it or remove it.")
        elif any(map(_UNDECODABLE.search, row)):
            yield number, UnreadableError(f"Row {number} is not valid UTF-8.", REMEDY)
        elif any(value.strip() for value in row) and not (told and number == 1):
            yield number, row


class _Lines:
    """The lines of a text, one at a time; an overlong line is an error, and the next one follows it.

    A class, because a generator ends with the first exception.
    """

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self._lines_of_row = 0
        self.ended_inside_row = False

    def begin_row(self) -> None:
        self._lines_of_row = 0

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = self._text.readline(MAX_LINE_CHARS)
        if not line:
            self.ended_inside_row = self._lines_of_row > 0
            raise StopIteration
        self._lines_of_row += 1
        if len(line) < MAX_LINE_CHARS:
            return line
        while line and not line.endswith("\n"):
            line = self._text.readline(MAX_LINE_CHARS)
        raise UnreadableError(f"A line is longer than {MAX_LINE_CHARS // 1_000_000} million characters.", "Split it.")
