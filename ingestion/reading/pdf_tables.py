"""Find the tables of a PDF's page by where its words stand: rows, columns, and the cells of each row.

Flow: `pdf_page.py`'s text with boxes, and the page's rules and shades -> **here** -> `Grid`s, whose columns
`pdf_header.py` names. Pure.

Words that stand close are pieces; pieces that follow each other in the text and overlap in height are a row, so a page
of two columns of prose, which PDFium returns one after the other, has rows of one piece each. Rows of several pieces
that follow each other are cut into columns where the fewest pieces are in the way.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

import numpy as np

from ingestion.reading.pdf_page import Floats, PageText, Rule

# In heights of the type: words of a cell stand closer, and somewhere in a table cells stand further apart.
CELL_GAP = 0.45
TABLE_GAP = 0.9
# The words of close cells stand at least so far apart, where the rows beside them say that they are two.
SPLIT_GAP = 0.3
# How far signs stand from a figure at most: before it, before that from the cell before, and behind it.
SIGN_GAP, BEFORE_SIGN_GAP, BEHIND_SIGN_GAP = 12.0, 0.15, 2.0
# A row of a table may have this many lines; rows of one piece that may stand between those of several.
ROW_LINES = 14
BETWEEN_ROWS = 3
# How far rows stand below each other at most, in heights of the type.
ROW_GAP = 3.2
# What is set this much larger than a table is the heading above it.
TITLE_HEIGHT = 1.25
# A cut between columns goes through pieces of at most this share of the rows that it parts.
CROSSED_SHARE = 0.34

_WORD = re.compile(r"[^\s\ufffe]+")
_SIGNS = frozenset(("$", "€", "£", "¥", "US$", "A$", "C$"))
_BEGINS_FIGURE = frozenset("(-–−—.0123456789")
_FIGURE = re.compile(
    r"(?:[$€£¥]?\s?[-–—−‒]+|n/?a|[($€£¥+\-–−<>~≈\s]*\d[\d.,\s/±:]*(?:[)%*†‡]|\s?\(\d\))*+)", re.IGNORECASE
)
PERIOD = re.compile(
    r"(?:(?:FY|Q[1-4]|[A-Z][a-z]{2,8}\.?(?: \d{1,2},)?) ?)?(?:19|20)\d\d(?:[-–/]\d{2,4})?(?: ?\(\d\))*"
    r"|[A-Z][a-z]{2,8}\.? \d{1,2},"
)
CAPTION = re.compile(r"(?:Table|Figure|Fig\.|Tab\.|Exhibit|Abbildung|Tabelle)\s+[A-Z]?\d")
_LEADER = re.compile(r"[._·\s]+")  # in a table of contents
_MARK = re.compile(r"[•▪◦‣*·–-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]+)[.)]|[A-Z]?\d{0,2}(?:\.\d{1,3})*")


@dataclass(slots=True)
class Piece:
    """Words of a line that stand close: `[start, end)` of the text, and their box in points."""

    start: int
    end: int
    x0: float
    x1: float
    y0: float
    y1: float

    @property
    def height(self) -> float:
        """Of the type."""
        return self.y1 - self.y0


@dataclass(slots=True)
class Row:
    """Pieces of a row in the order of the text; a piece is in one column, or stretches over several."""

    pieces: list[Piece]
    places: list[tuple[int, int]] = field(default_factory=list)  # the first and the last column of each piece
    y0: float = field(init=False)
    y1: float = field(init=False)

    def __post_init__(self) -> None:
        self.y0 = min(piece.y0 for piece in self.pieces)
        self.y1 = max(piece.y1 for piece in self.pieces)

    def cells(self, columns: int) -> list[list[Piece]]:
        """Pieces of each column, without those that stretch over several."""
        found: list[list[Piece]] = [[] for _ in range(columns)]
        for piece, (first, last) in zip(self.pieces, self.places, strict=True):
            if first == last:
                found[first].append(piece)
        return found


@dataclass(slots=True)
class Grid:
    """A table: rows, the columns' ranges from left to right, and the rules beside them."""

    rows: list[Row]
    columns: list[tuple[float, float]]
    rules: list[Rule]


def find_grids(page: PageText, rules: Callable[[], Sequence[Rule]]) -> list[Grid]:
    """Return the tables of a page in the order of its text.

    Args:
        page: its text with boxes.
        rules: returns what is drawn on the page; called only if there may be a table.
    """
    rows = _rows(_pieces(page))
    runs = list(_runs(page.text, rows))
    if not runs:
        return []
    drawn = rules()
    grids = []
    free = 0  # rows before it are in a table
    for place, (first, last) in enumerate(runs):
        limit = runs[place + 1][0] if place + 1 < len(runs) else len(rows)
        found = _grid(page, rows, (first, last), (free, limit), drawn)
        if found:
            grid, free = found
            grids.append(grid)
    return grids


def _pieces(page: PageText) -> list[Piece]:
    """Return the pieces of a page: words closer than `CELL_GAP`, a sign of a currency with its figure."""
    text = page.text
    spans = [match.span() for match in _WORD.finditer(text)]
    if not spans:
        return []
    starts, ends = np.array(spans).T
    first, last = page.boxes[starts], page.boxes[ends - 1]
    x0, x1 = first[:, 0], last[:, 2]
    y0, y1 = np.minimum(first[:, 3], last[:, 3]), np.maximum(first[:, 1], last[:, 1])
    height = np.minimum((y1 - y0)[1:], (y1 - y0)[:-1])
    overlap = np.minimum(y1[1:], y1[:-1]) - np.maximum(y0[1:], y0[:-1])
    gap = x0[1:] - x1[:-1]
    near = _nearness([text[start:end] for start, end in spans], gap / np.maximum(height, 1e-6))
    joined = (height > 0) & (2 * overlap > height) & (gap > -height) & (gap < near * height)
    begins = np.flatnonzero(np.append(True, ~joined))
    stops = np.append(begins[1:], len(spans))
    edges = zip(
        starts[begins].tolist(),
        ends[stops - 1].tolist(),
        x0[begins].tolist(),
        np.maximum.reduceat(x1, begins).tolist(),
        np.minimum.reduceat(y0, begins).tolist(),
        np.maximum.reduceat(y1, begins).tolist(),
        strict=True,
    )
    return [piece for edge in edges if (piece := Piece(*edge)).y1 > piece.y0 and piece.x1 >= piece.x0]


def _nearness(words: Sequence[str], gaps: Floats) -> Floats:
    """Return how near two words of a cell stand, in heights of the type, for each word and the one behind it."""
    near = np.full(len(gaps), CELL_GAP)
    for place, word in enumerate(words):
        if word in _SIGNS:
            if place < len(gaps) and words[place + 1][0] in _BEGINS_FIGURE:
                near[place] = SIGN_GAP
            if place and gaps[place - 1] > BEFORE_SIGN_GAP and (place < 2 or words[place - 1] not in _SIGNS):
                near[place - 1] = BEFORE_SIGN_GAP
        elif place and not word.strip(")%"):
            near[place - 1] = BEHIND_SIGN_GAP
    return near


def _rows(pieces: Sequence[Piece]) -> list[Row]:
    """Return pieces that follow each other in rows: as few as overlap in height.

    A cell of several lines is followed by the next cell, which begins higher up again.
    """
    rows: list[Row] = []
    for piece in pieces:
        tolerance = 0.35 * piece.height
        back = len(rows)
        while (
            back
            and len(rows) - back < ROW_LINES
            and piece.y1 > rows[back - 1].y0 + tolerance
            and (back == len(rows) or rows[back].y1 < rows[back - 1].y1)
        ):
            back -= 1
        joined = [one for row in rows[back:] for one in row.pieces]
        if joined and _belongs(piece, rows[back], rows[back + 1 :], tolerance):
            rows[back:] = [Row([*joined, piece])]
        elif (first := _bottom_label(piece, rows)) is not None:
            rows[first:] = [Row([*(one for row in rows[first:] for one in row.pieces), piece])]
        else:
            rows.append(Row([piece]))
    return rows


def _bottom_label(piece: Piece, rows: Sequence[Row]) -> int | None:
    """Return the place of a cell that stands before a piece and beside it, below the lines between them in the text.

    The lines and the piece are one cell, whose row's first cell stands lower than its first line.
    """
    place = len(rows)
    while place and len(rows) - place < ROW_LINES and len(rows[place - 1].pieces) == 1:
        one = rows[place - 1].pieces[0]
        if one.x1 <= piece.x0 and place < len(rows):
            beside = min(one.y1, piece.y1) - max(one.y0, piece.y0) > piece.height / 2
            return place - 1 if beside and rows[place].y0 > one.y0 else None
        if one.y0 <= piece.y0 or abs(one.x0 - piece.x0) > piece.height:
            return None
        place -= 1
    return None


def _belongs(piece: Piece, row: Row, lines: Sequence[Row], tolerance: float) -> bool:
    """Whether a piece is in a row, and with it the lines between them in the text, all of one cell."""
    if any(len(line.pieces) > 1 for line in lines):
        return False
    joined = [*row.pieces, *(line.pieces[0] for line in lines)]
    right = all(piece.x0 >= one.x1 - 1 for one in joined)
    if piece.y0 >= row.y1 - tolerance:
        # The first line of a cell that stands at the bottom of its row, beside others that are lower.
        return right and len(row.pieces) > 1 and piece.y0 - row.y1 < 2 * piece.height
    return all(piece.x0 >= one.x1 - 1 or piece.x1 <= one.x0 + 1 or piece.y1 <= one.y0 + tolerance for one in joined)


def _runs(text: str, rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """Yield where rows stand, several of them with pieces set apart: from the first such row to behind the last."""
    wide: list[int] = []
    for place, row in enumerate(rows):
        if wide and not _follows(rows[place - 1], row):
            yield from _parted(text, rows, wide)
            wide = []
        if _is_wide(text, row):
            if wide and place - wide[-1] - 1 > BETWEEN_ROWS:
                yield from _parted(text, rows, wide)
                wide = []
            wide.append(place)
    yield from _parted(text, rows, wide)


def _parted(text: str, rows: Sequence[Row], wide: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Part a run where another table begins: with names again, below a line or a gap that follows figures."""
    if len(wide) < 2:
        return
    gaps = [rows[place - 1].y0 - rows[place].y1 for place in wide[1:]]
    usual = median(gaps)
    first, figures = wide[0], False
    count = 0
    for before, place in zip([wide[0], *wide], wide, strict=False):
        row = rows[place]
        words = [text[piece.start : piece.end] for piece in row.pieces]
        names = all(PERIOD.fullmatch(word) or not is_figure(word) for word in words)
        again = words[0] == text[rows[first].pieces[0].start : rows[first].pieces[0].end]
        apart = again or place - before > 1 or rows[place - 1].y0 - row.y1 > usual + 0.5 * row.pieces[0].height
        # A caption that looked like a row, with its lines, before the first row.
        caption = count == 1 and any(one.pieces[0].x0 <= row.pieces[0].x0 + 1 for one in rows[before + 1 : place])
        if names and apart and (figures or caption):
            if count > 1:
                yield first, before + 1
            first, figures, count = place, False, 0
        figures |= any(is_figure(word) and not PERIOD.fullmatch(word) for word in words)
        count += 1
    if count > 1:
        yield first, wide[-1] + 1


def _follows(above: Row, below: Row) -> bool:
    height = median(piece.height for piece in (*above.pieces, *below.pieces))
    gap = above.y0 - below.y1
    if gap < -0.5 * height:
        # A name for several rows stands in the middle beside them, and before them in the text.
        return len(above.pieces) == 1 and gap > -5 * height and below.pieces[0].x0 > above.pieces[0].x1
    return gap < ROW_GAP * height


def _is_wide(text: str, row: Row) -> bool:
    """Whether a row has pieces side by side, further apart than the words of a line; what has a mark is a list."""
    pieces = sorted(row.pieces, key=lambda piece: piece.x0)
    first = pieces[0]
    if len(pieces) == 2 and _MARK.fullmatch(text[first.start : first.end]) and text[pieces[1].start].isalpha():
        return False
    if CAPTION.match(text, first.start) or _has_leaders(text, row):
        return False
    edge = first.x1
    for before, piece in pairwise(pieces):
        edge = max(edge, before.x1)
        if piece.x0 - edge > TABLE_GAP * min(piece.height, before.height):
            return True
    return False


def _has_leaders(text: str, row: Row) -> bool:
    return any(_LEADER.fullmatch(text, piece.start, piece.end) for piece in row.pieces)


def _grid(
    page: PageText, rows: Sequence[Row], run: tuple[int, int], limits: tuple[int, int], rules: Sequence[Rule]
) -> tuple[Grid, int] | None:
    """Cut rows into columns; None if they have not the shape of a table.

    Args:
        page: its text.
        rows: all of the page.
        run: the first row of the table, and the one behind its last.
        limits: the first row that may be in it, and the one behind the last that may.
        rules: what is drawn on the page.

    Returns:
        The table, and the place of the row behind it.
    """
    first, last = run
    chosen = [Row(list(row.pieces)) for row in rows[first:last]]
    columns = _columns(chosen)
    if len(columns) < 2 or any(_has_leaders(page.text, row) for row in chosen):
        return None
    height = median(piece.height for row in chosen for piece in row.pieces)
    while last < limits[1] and _ends(rows[last - 1], rows[last], columns, rows[last]):
        chosen.append(Row(list(rows[last].pieces)))
        last += 1
    while first > limits[0] and _heads(page.text, rows[first - 1], rows[first], columns, height):
        first -= 1
        chosen.insert(0, Row(list(rows[first].pieces)))
    _place(page, chosen, columns)
    left, right = columns[0][0] - 2 * height, columns[-1][1] + 2 * height
    low, high = chosen[-1].y0 - height, chosen[0].y1 + height
    near = [rule for rule in rules if rule.x1 > left and rule.x0 < right and rule.y1 > low and rule.y0 < high]
    return Grid(chosen, columns, near), last


def _ends(above: Row, below: Row, columns: Sequence[tuple[float, float]], row: Row) -> bool:
    """Whether the row of the two that is outside a table is its first or last one, with narrow gaps."""
    places = [_columns_of(piece, columns) for piece in row.pieces]
    apart = len(places) > 1 and len(set(places)) == len(places) and all(first == last for first, last in places)
    return apart and _follows(above, below)


def _heads(text: str, row: Row, below: Row, columns: Sequence[tuple[float, float]], height: float) -> bool:
    """Whether a line above a table is in its header: in the middle above some columns, not above all, or beside."""
    if min(piece.height for piece in row.pieces) > TITLE_HEIGHT * height:
        return False
    if len(row.pieces) == 1 and row.y0 < below.y1 - 0.35 * height and row.pieces[0].x1 <= columns[1][0]:
        return _follows(row, below)
    if _ends(row, below, columns, row):
        return not any(is_figure(text[piece.start : piece.end]) for piece in row.pieces)
    piece = row.pieces[0]
    if len(row.pieces) > 1 or not -0.5 * height < row.y0 - below.y1 < 1.2 * height or piece.x0 < columns[0][1]:
        return False
    middle = piece.x0 + piece.x1
    spans = [(start, end) for place, (start, _) in enumerate(columns) for _, end in columns[place:]][1:]
    whole = columns[0][0] + columns[-1][1]
    near = [start + end for start, end in spans if start + end != whole and abs(start + end - middle) < 1.5 * height]
    return bool(near) and abs(whole - middle) > min(abs(one - middle) for one in near)


def _columns(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Return the ranges of the columns."""
    spans: list[tuple[int, float, float]] = []
    for number, row in enumerate(rows):
        merged: list[list[float]] = []
        for piece in sorted(row.pieces, key=lambda one: one.x0):
            if merged and piece.x0 < merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], piece.x1)
            else:
                merged.append([piece.x0, piece.x1])
        spans += [(number, x0, x1) for x0, x1 in merged]
    return list(_cut(spans))


def _cut(spans: list[tuple[int, float, float]]) -> Iterator[tuple[float, float]]:
    by_row: dict[int, list[tuple[float, float]]] = {}
    for number, x0, x1 in spans:
        by_row.setdefault(number, []).append((x0, x1))
    gaps = [(before[1], after[0]) for row in by_row.values() for before, after in pairwise(row)]
    if not gaps:
        yield min(x0 for _, x0, _ in spans), max(x1 for _, _, x1 in spans)
        return
    edges = np.array(sorted({edge for gap in gaps for edge in gap} | {edge for span in spans for edge in span[1:]}))
    middles = (edges[1:] + edges[:-1]) / 2
    parted, crossed = _counts(gaps, middles), _counts([span[1:] for span in spans], middles)
    worth = parted - 2 * crossed + np.minimum(1.0, np.diff(edges) / 1000)
    worth[(parted == 0) | (crossed > CROSSED_SHARE * parted)] = 0
    best = int(np.argmax(worth))
    if worth[best] <= 0:
        yield min(x0 for _, x0, _ in spans), max(x1 for _, _, x1 in spans)
        return
    yield from _cut([span for span in spans if span[2] <= middles[best]])
    yield from _cut([span for span in spans if span[1] >= middles[best]])


def _counts(spans: Sequence[tuple[float, float]], places: Floats) -> Floats:
    """Return how many spans each place is inside of."""
    starts, ends = np.sort(np.array(spans), axis=0).T
    return np.asarray(np.searchsorted(starts, places) - np.searchsorted(ends, places), dtype=np.float32)


def _place(page: PageText, rows: Iterable[Row], columns: Sequence[tuple[float, float]]) -> None:
    """Say which columns each piece stands in; cut a piece that is the close cells of several columns."""
    for row in rows:
        pieces, row.pieces = row.pieces, []
        for piece in pieces:
            first, last = _columns_of(piece, columns)
            cells = _cells(page, piece, columns[first : last + 1]) if last > first else []
            row.pieces += cells or [piece]
            row.places += [(first + place, first + place) for place in range(len(cells))] or [(first, last)]
        # The name of a row may be longer than its column, where the next cells are empty.
        first, last = row.places[0]
        if first == 0 < last and len(row.places) > 1 and row.places[1][0] > last:
            row.places[0] = (0, 0)


def _cells(page: PageText, piece: Piece, columns: Sequence[tuple[float, float]]) -> list[Piece]:
    """Return a piece cut at the columns, if each of its parts stands where its column does; else nothing."""
    parts: list[Piece] = []
    columns_of: list[int] = []
    for word in _WORD.finditer(page.text, piece.start, piece.end):
        x0, x1 = float(page.boxes[word.start()][0]), float(page.boxes[word.end() - 1][2])
        overlaps = [min(x1, end) - max(x0, start) for start, end in columns]
        column = overlaps.index(max(overlaps))
        if parts and columns_of[-1] == column:
            parts[-1].end, parts[-1].x1 = word.end(), x1
            continue
        if parts and x0 - parts[-1].x1 < SPLIT_GAP * piece.height:
            return []
        parts.append(Piece(word.start(), word.end(), x0, x1, piece.y0, piece.y1))
        columns_of.append(column)
    return parts if columns_of == list(range(len(columns))) else []


def _columns_of(piece: Piece, columns: Sequence[tuple[float, float]]) -> tuple[int, int]:
    left, right, width = piece.x0, piece.x1, piece.x1 - piece.x0
    overlaps = [(right if right < x1 else x1) - (left if left > x0 else x0) for x0, x1 in columns]
    most = max(overlaps)
    deep = [place for place, overlap in enumerate(overlaps) if overlap > 0.6 * piece.height]
    if not deep or most > 0.85 * width:
        nearest = overlaps.index(most)
        return nearest, nearest
    return deep[0], deep[-1]


def is_figure(text: str) -> bool:
    """Whether a cell is a number, with its sign, unit or share, or a dash that stands for one."""
    return _FIGURE.fullmatch(text) is not None


def may_name(text: str) -> bool:
    """Whether a cell may name a column: years and periods may, other figures may not."""
    return PERIOD.fullmatch(text) is not None or not (is_figure(text) or text[:1].isdigit())
