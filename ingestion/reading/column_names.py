"""Find the rows that name the columns of a table, below titles and comments, and join names that take two rows.

Flow: rows of cells as they are written, from `csv.py`, `html.py` and `office/grids.py` -> **here** -> names. Pure.

Whether a table of typed cells has a header is `office/grids.py`'s business; here cells are text alone.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise, zip_longest
from statistics import median_low

from ingestion.reading.text import one_line

# A row of names fills such a share of the columns that rows usually fill.
NAMED_SHARE = 0.6
# So many rows of words below another one make it their header, though nothing else tells.
MIN_ROWS_OF_WORDS = 3
_NUMBER = re.compile(r"[-+]?[\d.,]++\s*+%?")
_DIGIT = re.compile(r"\d")
_YEAR = re.compile(r"(?:19|20)\d\d")
# An unbroken word, whatever it is made of, counts as one letter; so do digits.
_LETTERS, _DIGITS = re.compile(r"[^\W\d_]++"), re.compile(r"\d++")

Row = Sequence[str]


def header_span(rows: Sequence[Row]) -> tuple[int, int]:
    """Return where the rows of names begin and end among a table's first rows; a table without names has none there.

    What is above them is a title, a remark or a comment (`#`). The first row that is filled like the others names the
    columns unless it looks like the rows below it: figures, dates or codes in the same columns.

    Args:
        rows: in order, those above the table too; none is blank.
    """
    filled = [sum(map(bool, map(str.strip, row))) for row in rows]
    usual = median_low(filled[len(filled) // 2 :])
    comments = next((place for place, row in enumerate(rows) if not is_comment(row)), 0)
    enough = max(min(2, usual), NAMED_SHARE * usual)
    first = next((place for place in range(comments, len(rows)) if filled[place] >= enough), 0)
    full = next((place for place in range(first, len(rows)) if filled[place] >= usual), first)
    if full > first and _votes(*_cut(rows, full)) > 0:  # what is above it are pairs, such as "Period;June"
        first = full
    votes = _votes(*_cut(rows, first))
    as_wide = first and first == comments and filled[first - 1] == filled[first] > 1
    # "#name" over words names them, and so do words behind "# " over figures.
    if as_wide and (votes < 0 or (not votes and rows[first - 1][0].strip()[1:2].strip())):
        return first - 1, first
    if first + 1 < len(rows) and is_above_names(rows[first], rows[first + 1]) and _votes(*_cut(rows, first + 1)) > 0:
        return first, first + 2
    if votes < 0:
        return first, first
    above = first > comments and is_above_names(rows[first - 1], rows[first])
    return first - above, first + 1


def names_columns(rows: Sequence[Row]) -> bool:
    """Whether the first of some rows names their columns, by figures, dates or codes that stand below its words."""
    return _votes(*_cut(rows, 0)) > 0


def is_above_words(first: Row, below: Sequence[Row]) -> bool:
    """Whether a row names columns of words: none of its own has a digit, stands twice, or is found in its column."""
    names = [cell.strip().casefold() for cell in first]
    return (
        len(below) >= MIN_ROWS_OF_WORDS
        and all(names)
        and len(set(names)) == len(names) > 1
        and not any(map(_DIGIT.search, names))
        and not any(cell.strip().casefold() == name for row in below for cell, name in zip(row, names, strict=False))
    )


def is_comment(row: Row) -> bool:
    """Whether a row begins with the mark of comments."""
    return row[0].lstrip().startswith("#")


def is_above_names(upper: Row, lower: Row) -> bool:
    """Whether a row holds names that each stand above several of the row below, such as years above quantities.

    It leaves gaps between its names where the lower row has some, or the lower row repeats its names.
    """
    named = [place for place, cell in enumerate(upper) if cell.strip()]
    if len(named) < 2:
        return False
    gaps = [cell for place, cell in enumerate(lower) if place > named[0] and place not in named and cell.strip()]
    inner = any(lower[place].strip() for place in range(named[0], min(named[-1], len(lower))) if place not in named)
    names = [one_line(cell) for cell in lower if cell.strip()]
    return bool(gaps) and (inner or len(set(names)) < len(names))


def joined_names(rows: Sequence[Row], merged: Collection[int] = ()) -> list[str]:
    """Return the names of the columns, one line each; of several rows all, the upper one first.

    Args:
        rows: of names. But for the last one a name stands over the gap to its right, too.
        merged: which rows have no such gaps: each cell says what it is below.
    """
    below = [*rows[1:], ()]
    spread = [row if place in merged else _spread(row, below[place]) for place, row in enumerate(rows)]
    columns = zip_longest(*(map(one_line, row) for row in spread), fillvalue="")
    return [" ".join(dict.fromkeys(filter(None, column))) for column in columns]


def _spread(upper: Row, lower: Row) -> Row:
    names, above = [], ""
    for cell, below in zip_longest(upper, lower, fillvalue=""):
        above = cell if cell.strip() else above
        names.append(above if below.strip() else cell)
    return names


def _cut(rows: Sequence[Row], place: int) -> tuple[Row, Sequence[Row]]:
    return rows[place], rows[place + 1 :]


def _votes(first: Row, below: Sequence[Row]) -> int:
    """Return how many columns say that a row names them, less those in which it looks like the rows below it."""
    if not below:
        return -1 if all(map(_NUMBER.fullmatch, filter(None, map(str.strip, first)))) else 0
    if _counts_on(first):
        return 0
    votes = 0
    for column, cell in enumerate(map(str.strip, first)):
        cells = [row[column].strip() for row in below if row[column : column + 1] not in ([], [""])]
        shapes = Counter(_shape(one) for one in cells if _DIGIT.search(one))
        if not cell or 2 * shapes.total() <= len(cells):
            continue
        if not _DIGIT.search(cell):
            votes += 1
        elif _YEAR.fullmatch(cell):
            votes += 1 if not any(map(_YEAR.fullmatch, cells)) else -1
        elif 2 * shapes[_shape(cell)] > len(cells):
            votes -= 1
    return votes


def _counts_on(row: Row) -> bool:
    """Whether a row is a name and then numbers at one distance from each other, as weeks and classes are named."""
    numbers = [int(cell) for cell in row[1:] if cell.strip().isdecimal()]
    steps = {after - before for before, after in pairwise(numbers)}
    return len(numbers) == len(row) - 1 > 2 and len(steps) == 1 and steps != {0} and not _DIGIT.search(row[0])


def _shape(text: str) -> str:
    """Return what a text with figures looks like: `A-77` as `a-9`, any number as `9`."""
    return "9" if _NUMBER.fullmatch(text) else _DIGITS.sub("9", _LETTERS.sub("a", text))
