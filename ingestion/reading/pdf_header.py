"""Name the columns of a table that was found on a PDF's page, where that is certain; join the lines of its cells.

Flow: `pdf_tables.py`'s grid -> **here** -> rows of cells with their columns' names -> `pdf.py` writes them. Pure.

A header is what stands above the figures of a column. It is believed if figures are below it in all columns, or if it
is set apart from the rows: by a rule, by bold type, by a shade. Two columns of the same name, or a name that may belong
to one column or to several, make a table whose columns have no names.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from ingestion.reading.pdf_page import RULE_POINTS, Rule
from ingestion.reading.pdf_tables import PERIOD, Grid, Piece, Row, is_figure, may_name

# Rows of a header and characters of a name; the share of the table's width that a rule below it has.
HEADER_ROWS, NAME_CHARS = 5, 100
HEADER_RULE_SHARE = 0.55
# Words of a name above a column of sentences, at most, and of each sentence, at least.
NAME_WORDS, PROSE_WORDS = 3, 5
# A shaded box of a row is at most this many lines high.
ROW_SHADE_LINES = 4
# This share of the cells of a column of figures are figures.
FIGURES_SHARE = 0.6

_LED = re.compile(r"[^\w\s]*\s?\d")
_BEGINS_NAME = re.compile(r"[^\w\s]*[^\W_a-z]")
_GOES_ON = re.compile(r"[a-z(]")
_UNFINISHED = re.compile(r"(?:.*\s)?(?:and|or|of|the|to|for|in|on|from|with|by|per|&)|.*[,–-]", re.DOTALL)
# What stands above the names of rows and says nothing of them: units, the date of the figures.
_NO_NAME = re.compile(
    r"\(.*\)|.*\bended\b.*|(?>.*?\b(?:in|except)\b).*(?:millions|thousands|billions|share).*", re.IGNORECASE | re.DOTALL
)


Span = tuple[int, int]  # the first and the last of some columns


@dataclass(frozen=True, slots=True)
class _Name:
    """A name in a header: left edge and middle, the columns it touches and may be for, and which have more below."""

    left: float
    middle: float
    own: Span
    free: Span
    below: frozenset[int]


@dataclass(slots=True)
class NamedRow:
    """A row of a table.

    Attributes:
        cells: their pieces, from left to right, one list for each column; of a row that is one line of words only one.
        columns: their names; none where they are not certain.
        header: it names columns.
    """

    cells: list[list[Piece]]
    columns: tuple[str, ...] = ()
    header: bool = False


@dataclass(slots=True)
class NamedTable:
    """A table with what is known of it.

    Attributes:
        rows: from above.
        names: of its columns; none where they are not certain.
        ranges: of its columns, from left to right, in points.
    """

    rows: list[NamedRow]
    names: tuple[str, ...]
    ranges: list[tuple[float, float]]

    @property
    def start(self) -> int:
        """First character of the page's text."""
        return min(piece.start for row in self.rows for cell in row.cells for piece in cell)

    @property
    def end(self) -> int:
        """Behind the last character."""
        return max(piece.end for row in self.rows for cell in row.cells for piece in cell)

    def continues(self, before: "NamedTable") -> bool:
        """Whether its columns stand where those of a table do that ends the page before."""
        if self.names or not before.names or len(self.ranges) != len(before.ranges):
            return False
        for place, (x0, x1) in enumerate(self.ranges):
            touched = [number for number, (left, right) in enumerate(before.ranges) if x0 < right and left < x1]
            if touched != [place]:
                return False
        return True

    def name(self, names: tuple[str, ...]) -> None:
        """Give the columns names."""
        self.names = names
        for row in self.rows:
            if len(row.cells) == len(names):
                row.columns = names


def named(grid: Grid, text: str, is_bold: Callable[[int], bool]) -> NamedTable:
    """Return a table with its columns' names.

    Args:
        grid: the table.
        text: of the page.
        is_bold: whether a character of the text is.
    """
    rows = _joined(grid, text)
    rows[:1] = _levels(rows[0])
    table = _Table(grid, rows, text, is_bold)
    depth, names = table.header()
    found = []
    for place, row in enumerate(rows):
        cells = row.cells(len(grid.columns))
        if _is_line(row) and place >= depth:
            found.append(NamedRow([row.pieces]))
        elif any(first < last for first, last in row.places):
            found.append(NamedRow([[piece] for piece in row.pieces], header=place < depth))
        else:
            found.append(
                NamedRow(cells, tuple(names) if place >= depth and table.is_data(place) else (), place < depth)
            )
    return NamedTable(found, tuple(names), grid.columns)


def _is_line(row: Row) -> bool:
    """Whether a row has words in its first column only, or one piece across several: a heading within the table."""
    return all(first == 0 for first, _ in row.places)


class _Table:
    """A table while its header is looked for."""

    def __init__(self, grid: Grid, rows: Sequence[Row], text: str, is_bold: Callable[[int], bool]) -> None:
        self.grid, self.rows, self.text, self.is_bold = grid, rows, text, is_bold
        self.count = len(grid.columns)
        self.pieces = [row.cells(self.count) for row in rows]
        self.cells = [[words(text, cell) for cell in row] for row in self.pieces]
        self.lines = [_is_line(row) for row in rows]
        self.left, self.right = grid.columns[0][0], grid.columns[-1][1]
        self.height = median(piece.height for row in rows for piece in row.pieces)
        self.figures = [column for column in range(self.count) if self._has_figures(column)]

    def is_data(self, place: int) -> bool:
        """Whether a row has a figure where its columns have figures, if it has any cell there."""
        cells = [cell for column in self.figures if column and (cell := self.cells[place][column])]
        return not cells or any(is_figure(cell) or _LED.match(cell) for cell in cells)

    def header(self) -> tuple[int, list[str]]:
        """Return how many rows name the columns, and the names; none of either if that is not certain."""
        figures = self.figures
        depth = self._rows_without_figures(figures)
        styled = self._set_apart()
        between = self.cells[styled:depth]
        if styled and (not figures or not depth or (between and all(row[0] for row in between))):
            if any(row[column] for row in between for column in figures):
                return 0, []  # names or rows of words
            depth = styled
        if not 0 < depth < len(self.rows) or depth > HEADER_ROWS:
            return 0, []
        if any(is_figure(cell) and not PERIOD.fullmatch(cell) for row in self.cells[:depth] for cell in row):
            return 0, []
        names = self._names(depth)
        if not any(names[1:]) or max(map(len, names)) > NAME_CHARS or self._is_torn():
            return 0, []
        # Before the first column with a name stand the names of rows.
        first = next(column for column, name in enumerate(names[1:], 1) if name)
        if figures:
            named = all(names[column] for column in figures if column >= first)
            periods = any(PERIOD.search(names[column]) for column in figures if column)
            certain = named and (self.count > 2 or styled == depth or periods) and self.is_data(depth)
        else:
            # Words below words: stretched prose has small letters, and below dates are figures.
            certain = styled == depth and all(_BEGINS_NAME.match(name) for name in names[first:])
            certain = certain and not any(map(PERIOD.fullmatch, names))
        return (depth, names) if certain else (0, [])

    def _is_torn(self) -> bool:
        """Whether two figures stand side by side in a cell, which are those of two columns."""
        return any(
            one.y0 < (other.y0 + other.y1) / 2 < one.y1
            and all(is_figure(words(self.text, [piece])) for piece in (one, other))
            and "/" not in (self.text[one.end - 1], self.text[other.start])
            for row in self.pieces
            for cell in row
            for one, other in pairwise(cell)
        )

    def _has_figures(self, column: int) -> bool:
        """Whether a column's cells are figures or begin with one, apart from its header."""
        rows = zip(self.cells, self.lines, strict=True)
        cells = [row[column] for row, is_line in rows if row[column] and not is_line]
        data = cells[1:] if len(cells) > 1 and not is_figure(cells[0]) else cells
        led = [cell for cell in data if is_figure(cell) or _LED.match(cell)]
        share = FIGURES_SHARE if column or any(map(is_figure, led)) else 1
        return bool(led) and len(led) >= share * len(data)

    def _rows_without_figures(self, figures: Sequence[int]) -> int:
        """Return how many rows stand above the first figure of a column that has figures."""
        if not figures:
            return 0
        plain = {
            column
            for column in figures
            if any(is_figure(row[column]) and not PERIOD.fullmatch(row[column]) for row in self.cells)
        }
        named = False
        for place, row in enumerate(self.rows):
            if self.lines[place] and (named or len(row.pieces) == 1):
                ends = named
            else:
                cells = {column: cell for column in figures if (cell := self.cells[place][column])}
                ends = any(
                    (is_figure(cell) and not (PERIOD.fullmatch(cell) and (column in plain)))
                    or (not may_name(cell) and column not in plain)
                    for column, cell in cells.items()
                )
                named |= bool(cells)
            if ends:
                return place
        return 0

    def _set_apart(self) -> int:
        """Return how many rows are set apart from the others by a rule, bold type, a shade, their length; 0 if none."""
        if len(self.rows) < 2:
            return 0
        bold = self._leading([self._is_bold(row) for row in self.rows])
        shaded = self._leading([self._shade(row) for row in self.rows])
        ruled = [self._is_ruled_below(place) for place in range(len(self.rows) - 1)]
        first = ruled.index(True) + 1 if any(ruled) else 0
        ruled_once = first if (first and sum(ruled) == 1) or (first and sum(ruled) <= 2 and len(ruled) > 4) else 0
        return bold or shaded or (ruled_once if 0 < ruled_once <= HEADER_ROWS else self._is_above_prose())

    def _is_above_prose(self) -> bool:
        """Whether the first row has a few words in each column, and below one of them are sentences only."""
        first, *rows = self.cells
        if len(rows) < 2 or not all(cell and len(cell.split()) <= NAME_WORDS for cell in first):
            return False
        return any(all(len(cell.split()) >= PROSE_WORDS for cell in column) for column in zip(*rows, strict=True))

    def _leading(self, marks: Sequence[bool]) -> int:
        """Return how many rows have a mark before the first one without, if few of the others have."""
        depth = marks.index(False) if False in marks else 0
        rest = marks[depth:]
        return depth if depth and depth <= HEADER_ROWS and sum(rest) <= 0.34 * len(rest) else 0

    def _is_bold(self, row: Row) -> bool:
        return all(self.is_bold(piece.start) for piece in row.pieces)

    def _shade(self, row: Row) -> bool:
        middle = (row.y0 + row.y1) / 2
        over = [(rule.x0, rule.x1) for rule in self.grid.rules if rule.shade and rule.y0 < middle < rule.y1]
        return _covered(over, self.left, self.right) > 0.8 * (self.right - self.left)

    def _is_ruled_below(self, place: int) -> bool:
        above, below = self.rows[place], self.rows[place + 1]
        low, high = below.y1 - 0.4 * self.height, above.y0 + 0.4 * self.height
        rules = [(rule.x0, rule.x1) for rule in self.grid.rules if _is_flat(rule) and low < rule.y0 < high]
        return _covered(rules, self.left, self.right) > HEADER_RULE_SHARE * (self.right - self.left)

    def _names(self, depth: int) -> list[str]:
        """Return the columns' names from the first rows, joined from above; nothing where a name may be another's."""
        parts: list[list[tuple[str, Span]]] = [[] for _ in range(self.count)]
        for place in range(depth):
            spans = self._spans(place, depth)
            if spans is None:
                return []
            for (first, last), pieces in spans.items():
                for column in range(first, last + 1):
                    parts[column].append((words(self.text, pieces), (first, last)))
        names = [" ".join(name for name, _ in part) for part in parts]
        if _NO_NAME.fullmatch(names[0]) or (PERIOD.fullmatch(names[0]) and any(map(PERIOD.search, names[1:]))):
            names[0] = ""
        # Columns have the same name only if it is printed once above all of them.
        different = {(name, *(span for _, span in part)) for name, part in zip(names, parts, strict=True) if name}
        return names if len(different) == len({name for name in names if name}) else []

    def _spans(self, place: int, depth: int) -> dict[Span, list[Piece]] | None:
        """Return which columns the names in a row are for; None if that is not certain."""
        row = self.rows[place]
        cells: dict[Span, list[Piece]] = {}
        for piece, columns in zip(row.pieces, row.places, strict=True):
            cells.setdefault(columns, []).append(piece)
        if place == depth - 1 and all(first == last for first, last in cells):
            return self._ruled_cells(place, cells)
        lower = self.cells[place + 1 : depth] or self.cells[depth:]
        below = frozenset(column for column in range(self.count) if any(one[column] for one in lower))
        edges = [self._edges(column, depth) for column in range(self.count)]
        spans: dict[Span, list[Piece]] = {}
        where = sorted(cells)
        for number, own in enumerate(where):
            pieces = cells[own]
            low = where[number - 1][1] + 1 if number else 0
            high = where[number + 1][0] - 1 if number + 1 < len(where) else self.count - 1
            x0, x1 = min(piece.x0 for piece in pieces), max(piece.x1 for piece in pieces)
            name = _Name(x0, (x0 + x1) / 2, own, (low, high), below)
            span = own if own == (0, 0) and 0 not in self.figures else self._span(place, name, edges)
            if span is None or any(span[0] <= last and first <= span[1] for first, last in spans):
                return None
            spans[span] = pieces
        return spans

    def _ruled_cells(self, place: int, cells: dict[Span, list[Piece]]) -> dict[Span, list[Piece]]:
        """Return the names next to the rows, those with a rule below them for all columns above which it runs."""
        found: dict[Span, list[Piece]] = {}
        for own, pieces in cells.items():
            middle = (min(piece.x0 for piece in pieces) + max(piece.x1 for piece in pieces)) / 2
            under, _ = self._ruled_span(place, middle) if own[0] else (None, False)
            if under and under[0] <= own[0] and own[1] <= under[1]:
                alone = all(other == own or other[1] < under[0] or under[1] < other[0] for other in cells)
                found[under if alone else own] = pieces
            else:
                found[own] = pieces
        return found

    def _span(self, place: int, name: "_Name", edges: Sequence[tuple[float, float]]) -> Span | None:
        """Return the first and the last column that a name stands above; None if that is not certain."""
        own, free = name.own, name.free
        under, boxed = self._ruled_span(place, name.middle)
        if under and not (free[0] <= under[0] <= own[0] and own[1] <= under[1] <= free[1]):
            under = None  # it is above other names too
        if under and (boxed or abs((edges[under[0]][0] + edges[under[1]][1]) / 2 - name.middle) < 2 * self.height):
            return under
        tight = not under and self.rows[place].y0 - self.rows[place + 1].y1 < 0.3 * self.height
        if tight and own[0] == own[1] and sum(last > 0 for _, last in self.rows[place].places) == 1:
            return own  # the first line of a name that is longer than those beside it
        centred = self._centred(name, edges)
        if centred != own or own[0] != own[1] or own[0] not in name.below:
            return centred
        left, right = edges[own[0]]
        several = any(column in name.below for column in range(own[0] + 1, free[1] + 1))
        if several and abs(name.left - left) < 0.3 * self.height < abs(name.middle - (left + right) / 2):
            return own[0], free[1]  # at the left edge of several columns, all up to the next name
        return own if under in {None, own} else None

    def _centred(self, name: "_Name", edges: Sequence[tuple[float, float]]) -> Span:
        """Return the most columns in whose middle a name stands, that have something below it."""
        best = name.own
        for first in range(max(name.free[0], min(best[0], 1)), name.own[0] + 1):
            for last in range(name.own[1], name.free[1] + 1):
                off = abs((edges[first][0] + edges[last][1]) / 2 - name.middle)
                wider = last - first > best[1] - best[0]
                if wider and off < 0.8 * self.height and name.below.issuperset(range(first, last + 1)):
                    best = first, last
        return best

    def _edges(self, column: int, depth: int) -> tuple[float, float]:
        """Return where a column stands, without the names above it that may be those of several."""
        pieces = [piece for row in self.pieces[depth - 1 :] for piece in row[column]]
        if not pieces:
            return self.grid.columns[column]
        return min(piece.x0 for piece in pieces), max(piece.x1 for piece in pieces)

    def _ruled_span(self, place: int, middle: float) -> tuple[Span | None, bool]:
        """Return the columns above which a rule runs below a name, and whether they are in one box with it."""
        above, below = self.rows[place], self.rows[place + 1]
        y = (above.y0 + above.y1) / 2
        walls = [rule.x0 for rule in self.grid.rules if _is_upright(rule) and rule.y0 < y < rule.y1]
        before, behind = [x for x in walls if x < middle], [x for x in walls if x > middle]
        if before and behind:
            return self._columns_within(max(before), min(behind)), True
        low, high = below.y1 - 0.4 * self.height, above.y0 + 0.4 * self.height
        runs = _joined_runs([(rule.x0, rule.x1) for rule in self.grid.rules if _is_flat(rule) and low < rule.y0 < high])
        for start, end in runs:
            if start <= middle <= end and end - start < 0.9 * (self.right - self.left):
                return self._columns_within(start, end), False
        return None, False

    def _columns_within(self, start: float, end: float) -> Span | None:
        inner = [column for column, (x0, x1) in enumerate(self.grid.columns) if start - 1 < (x0 + x1) / 2 < end + 1]
        return (inner[0], inner[-1]) if inner else None


def words(text: str, pieces: Sequence[Piece]) -> str:
    """Return the words of a cell on one line."""
    return " ".join(" ".join(text[piece.start : piece.end].split()) for piece in pieces)


def _joined(grid: Grid, text: str) -> list[Row]:
    """Join rows that are lines of one: between two rules or shades, or where a name goes on."""
    rows = grid.rows
    parted = [_is_parted(grid, above, below) for above, below in pairwise(rows)]
    complete = len(parted) > 2 and sum(parted) >= 0.66 * len(parted)
    walls = sum(1 for rule in grid.rules if _is_upright(rule) and rule.y1 - rule.y0 > rows[0].pieces[0].height) > 1
    joined = [rows[0]]
    for below, is_parted in zip(rows[1:], parted, strict=True):
        above = joined[-1]
        banded = complete or _share_shade(grid, above, below)
        if not is_parted and _are_one(
            above, below, text, len(grid.columns), banded=banded, boxed=walls and any(parted)
        ):
            pieces = [*zip(above.pieces, above.places, strict=True), *zip(below.pieces, below.places, strict=True)]
            joined[-1] = Row([piece for piece, _ in pieces], [place for _, place in pieces])
        else:
            joined.append(below)
    return joined


def _levels(row: Row) -> list[Row]:
    """Return a header's row as two, if names above several columns stand above others that are its."""
    pieces = list(zip(row.pieces, row.places, strict=True))
    upper = [
        (piece, (first, last))
        for piece, (first, last) in pieces
        if first < last
        and any(first <= start <= end <= last for _, (start, end) in pieces if start == end)
        and all(
            one.y1 <= piece.y0 + 0.35 * piece.height
            for one, (start, _) in pieces
            if one != piece and first <= start <= last
        )
    ]
    lower = [one for one in pieces if one not in upper]
    parts = [part for part in (upper, lower) if part]
    return [Row([piece for piece, _ in part], [place for _, place in part]) for part in parts]


def _are_one(above: Row, below: Row, text: str, columns: int, *, banded: bool, boxed: bool) -> bool:
    """Whether two rows with no rule between them are lines of one."""
    height = median(piece.height for piece in (*above.pieces, *below.pieces))
    if above.y0 - below.y1 > 0.7 * height:
        return False
    labels = [words(text, row.cells(columns)[0]) for row in (above, below)]
    figures = [any(is_figure(words(text, [piece])) for piece in row.pieces) for row in (above, below)]
    if boxed and not labels[1] and labels[0] and any(figures):
        return True
    if all(figures) or not all(first == last for row in (above, below) for first, last in row.places):
        return False
    starts_label = _is_line(above) and not labels[0].endswith(":") and not _is_line(below) and bool(labels[1])
    if not starts_label or abs(above.pieces[0].x0 - below.pieces[0].x0) > 2 * height:
        return banded and not starts_label
    return banded or bool(_GOES_ON.match(labels[1]) or _UNFINISHED.fullmatch(labels[0]))


def _is_parted(grid: Grid, above: Row, below: Row) -> bool:
    """Whether a rule or the edge of a shade runs between two rows: at the table's left side, or across most of it."""
    height = median(piece.height for piece in (*above.pieces, *below.pieces))
    low, high = below.y1 - 0.45 * height, above.y0 + 0.45 * height
    left, right = grid.columns[0][0], grid.columns[-1][1]
    rules = [rule for rule in grid.rules if _is_flat(rule) and low < rule.y0 < high]
    if not _share_shade(grid, above, below):
        rules += [rule for rule in grid.rules if rule.shade and (low < rule.y0 < high or low < rule.y1 < high)]
    x = left + height
    if any(rule.x0 <= x < rule.x1 for rule in rules):
        return True
    return _covered([(rule.x0, rule.x1) for rule in rules], left, right) > 0.5 * (right - left)


def _share_shade(grid: Grid, above: Row, below: Row) -> bool:
    """Whether two rows stand in one shaded box that holds no more than a few lines."""
    x = grid.columns[0][0] + 1
    low, high = (below.y0 + below.y1) / 2, (above.y0 + above.y1) / 2
    lines = ROW_SHADE_LINES * above.pieces[0].height
    return any(
        rule.shade and rule.x0 <= x <= rule.x1 and rule.y0 < low and high < rule.y1 and rule.y1 - rule.y0 < lines
        for rule in grid.rules
    )


def _is_upright(rule: Rule) -> bool:
    return not rule.shade and rule.x1 - rule.x0 < RULE_POINTS


def _is_flat(rule: Rule) -> bool:
    return not rule.shade and rule.y1 - rule.y0 < RULE_POINTS


def _joined_runs(runs: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for start, end in sorted(runs):
        if found and start < found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def _covered(runs: Sequence[tuple[float, float]], left: float, right: float) -> float:
    """Return how much of `[left, right]` the runs cover."""
    return sum(max(0.0, min(end, right) - max(start, left)) for start, end in _joined_runs(runs))
