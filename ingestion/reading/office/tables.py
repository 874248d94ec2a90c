"""Write a table whose cells are known: a line a row where it is narrow, `column: value` lines where it is not.

Flow: a reader's rows, and the names of their columns if they are certain -> **here** -> `TextBuilder`.
"""

from collections.abc import Sequence

from index.documents.structure import placeholder
from ingestion.reading.column_names import is_above_words, joined_names, names_columns
from ingestion.reading.text_budget import BETWEEN_CELLS, check
from ingestion.reading.text_builder import TextBuilder

# Rows of more columns, or of more characters on average, are read better with a name beside each cell.
MAX_COLUMNS = 8
MAX_ROW_CHARS = 160
# So many cells may a table have, with those that are merged or repeated.
MAX_CELLS = 2_000_000

Rows = Sequence[Sequence[str]]


def add_table(builder: TextBuilder, rows: Rows, names: Sequence[str] = (), *, shows_names: bool = True) -> None:
    """Add a table; rows and columns that hold nothing are left out.

    Args:
        builder: the document so far.
        rows: of cells, as many as names or fewer; without the row of the names.
        names: what the columns are called; leave them out where that is not certain.
        shows_names: the names have not been written yet; no matter where each cell gets its own.
    """
    width = max(map(len, [*rows, names]), default=0)
    check(BETWEEN_CELLS * width * len(rows))
    padded = [[*row, *[""] * (width - len(row))] for row in [names, *rows]]
    used = [column for column in range(width) if any(row[column].strip() for row in padded)]
    header, *body = ([row[column] for column in used] for row in padded)
    body = [row for row in body if any(row)]
    if not body and not any(header):
        return
    if any(header) and body and _is_wide(body):
        titles = [name or placeholder(number) for number, name in enumerate(header, 1)]
        for row in body:
            only = set(filter(None, row))
            builder.record(titles, row) if len(only) > 1 or len(used) == 1 else builder.paragraph(only.pop())
        return
    if any(header) and shows_names:
        builder.row(header, header=True)
    for row in body:
        builder.row(row, header if any(header) else ())


def split_names(rows: Rows, headers: int) -> tuple[Rows, Sequence[str]]:
    """Return the rows, and what the columns are called: by the first `headers` rows, which are marked as names.

    Without marks the first row of three or more columns names them if figures, dates or codes stand below its words, or
    nothing but other words.
    """
    if not headers and len(rows) > 2 and len(rows[0]) > 2 and all(rows[0]):
        headers = int(names_columns(rows) or is_above_words(rows[0], rows[1:]))
    return rows[headers:], joined_names(rows[:headers], range(headers))


def _is_wide(rows: Rows) -> bool:
    """Tell tables whose rows are too long to be read beside a header."""
    chars = sum(sum(map(len, row)) for row in rows) / len(rows)
    return len(rows[0]) > MAX_COLUMNS or chars > MAX_ROW_CHARS
