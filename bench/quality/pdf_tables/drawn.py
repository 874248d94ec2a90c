"""Draw PDFs with tables whose cells are known: what varies is how they look, not what a reader should make of them.

Flow: **here** -> `measure.py`. The same files each time.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, PageTemplate, Paragraph, Spacer
from reportlab.platypus import Table as Drawing

from bench.quality.pdf_tables.scoring import Table

PROSE = (
    "The committee met in the harbour office in spring and went through the plans for the coming season. Most of the "
    "work of the last years is done, and what remains is kept on a list that every member can see. Repairs were "
    "cheaper than expected, because three suppliers made offers and the best one was taken. In the long run the "
    "figures below are what counts, and they are compared with those of other towns along the coast. "
)


@dataclass(frozen=True, slots=True)
class Content:
    """A table's words: rows of its header, `None` for a cell that the one on its left or above covers; then its rows.

    Attributes:
        names: of each column the names that are right, the first one being the plainest.
        section_rows: places of rows that are a heading within the table, and state nothing.
    """

    header: tuple[tuple[str | None, ...], ...]
    names: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[str, ...], ...]
    section_rows: frozenset[int] = frozenset()

    @property
    def table(self) -> Table:
        """What it says."""
        return Table(self.names, tuple(row for place, row in enumerate(self.rows) if place not in self.section_rows))


@dataclass(frozen=True, slots=True)
class Look:
    """How a table is drawn.

    Attributes:
        lines: "grid", "rows" (below each row), "header" (below the header), "frame" (above, below header and table) or
            "none".
        widths: in points; () for what the words need.
        bold: the header is.
        shade: the header is.
        bands: every second row is shaded.
        right: figures stand at the right edge of their column, else at the left one.
        wrap: cells hold paragraphs, which take several lines.
        middle: what is lower than its row stands in the middle of it.
    """

    lines: str = "grid"
    widths: tuple[float, ...] = ()
    points: float = 10
    bold: bool = True
    shade: bool = False
    bands: bool = False
    right: bool = True
    wrap: bool = False
    middle: bool = False
    padding: float = 6
    repeat: bool = False


def _plain(header: Sequence[str], rows: Sequence[str], sections: Sequence[int] = ()) -> Content:
    cells = tuple(tuple(cell.strip() for cell in row.split("|")) for row in rows)
    names = tuple((name.replace("\n", " "),) for name in header)
    return Content((tuple(header),), names, cells, frozenset(sections))


FLEET = _plain(
    ("Boat", "Built", "Length (m)", "Crew"),
    ("Gannet|2004|12.5|5", "Razorbill|1998|9.0|3", "Storm Petrel|2015|18.2|11", "Tern|2021|7.4|2", "Eider|2010|22.0|9"),
)
SALES = _plain(
    ("Region", "Q1", "Q2", "Q3", "Q4"),
    (
        "North|$ 1,204|$ 1,310|$ 998|$ 1,422",
        "South-East|$ 884|$ 901|$ 870|$ 1,005",
        "Islands|$ 95|$ 102|$ 131|$ 88",
        "Total|$ 2,183|$ 2,313|$ 1,999|$ 2,515",
    ),
)
STAFF = _plain(
    ("Name", "Role", "Office", "Phone"),
    (
        "Ada Moreno|Head of maintenance|Building 4|555 0101",
        "Jon Lie|Crane operator|Quay 2|555 0117",
        "Sam O'Neill|Safety officer|Building 1|555 0122",
        "Mia Chen|Clerk|Building 1|555 0138",
    ),
)
PLANTS = _plain(
    ("Plant", "Light", "Water", "Place"),
    (
        "Fern|Shade|Often|Bathroom",
        "Cactus|Full sun|Seldom|Window sill",
        "Ivy|Half shade|Weekly|Stairs",
        "Mint|Sun|Daily|Kitchen balcony",
    ),
)
SEGMENTS = Content(
    (("Segment", "2023", None, "2022", None), (None, "Revenue", "Cost", "Revenue", "Cost")),
    (("Segment",), ("2023 Revenue",), ("2023 Cost",), ("2022 Revenue",), ("2022 Cost",)),
    (
        ("Ferries", "410", "322", "398", "301"),
        ("Cargo", "1,250", "990", "1,190", "975"),
        ("Harbour fees", "77", "12", "70", "11"),
        ("Other", "9", "15", "8", "12"),
    ),
)
SPANNED = Content(
    (("", "Year ended December 31,", None, None), (None, "2023", "2022", "2021")),
    (
        ("",),
        *((year, f"Year ended December 31, {year}") for year in ("2023", "2022", "2021")),
    ),
    (
        ("Net sales", "5,120", "4,870", "4,333"),
        ("Cost of sales", "3,010", "2,990", "2,714"),
        ("Operating income", "844", "702", "655"),
        ("Net income (loss)", "512", "(31)", "402"),
    ),
)
TWO_LINES = _plain(
    ("Station", "Net revenue\n(million EUR)", "Visitors\nper day", "Opened\nin"),
    ("Central|12.4|8,200|1908", "West Gate|3.1|1,950|1962", "Airport|22.9|14,400|1999", "Old Town|0.8|610|1887"),
)
TASKS = _plain(
    ("Task", "What to do", "Hours"),
    (
        "Check the pump|Open the valve, wait for the pressure to fall below two bar, and read the gauge twice|1.5",
        "Grease bearings and hinges of the gate|Use the blue grease only|0.5",
        "Replace filter|Take out the cartridge, clean the seat and press the new one in until it clicks|2",
        "Test alarm|Press the red knob for ten seconds and listen on the upper floor whether it rings|0.25",
    ),
)
MATRIX = _plain(
    ("Course", "Mon", "Tue", "Wed", "Thu", "Fri"),
    ("Knots|9:00||9:00||", "Radio||14:00|||16:00", "First aid|10:30|||10:30|", "Navigation|||11:00|11:00|11:00"),
)
INCOME = _plain(
    ("", "2023", "2022"),
    (
        "Revenues:||",
        "Tickets|18,204|17,110",
        "Freight|9,871|9,440",
        "Total revenues|28,075|26,550",
        "Expenses:||",
        "Fuel|7,002|8,310",
        "Wages|11,560|10,921",
        "Total expenses|18,562|19,231",
    ),
    (0, 4),
)
NOTES = _plain(
    ("Site", "Capacity (1)", "Output (2)", "Availability"),
    ("Hill Farm|120 MW|301 GWh|97.2%", "Sandbank|400 MW (3)|1,420 GWh|94.8%", "Moor|36 MW|80 GWh|98.9%"),
)
PRICES = _plain(
    ("Item", "Unit price", "Amount", "Total"),
    (
        "Rope, 10 mm|€ 1.20|50|€ 60.00",
        "Anchor chain|€ 8.75|20|€ 175.00",
        "Life jacket, adult|£ 42.00|6|£ 252.00",
        "Paint (white)|$ 19.90|3|$ 59.70",
    ),
)
DATES = _plain(
    ("Date", "Event", "Place"),
    (
        "12 May 2024|Spring regatta|Outer harbour",
        "3 June 2024|Open day of the lifeboat station|Pier 3",
        "19 August 2024|Night swim|West beach",
        "30 November 2024|Winter market|Old fish hall",
    ),
)
LONG = _plain(
    ("No.", "Vessel", "Arrival", "Cargo (t)"),
    [
        f"{place}|{name} {place % 7 + 1}|{place % 28 + 1:02d} March|{place * 37 % 900 + 40}"
        for place, name in enumerate(["Astrid", "Blue Whale", "Cormorant", "Dora", "Elbe Star"] * 14, 1)
    ],
)
TREATMENTS = _plain(
    ("Group", "Patients", "Mean age", "Response", "p"),
    ("Placebo|112|54.1|18%|–", "10 mg|108|53.7|31%|0.04", "20 mg|110|55.0|44%|< 0.001", "40 mg|109|54.6|45%|< 0.001"),
)
PHONES = _plain(
    ("Service", "Number"), ("Water|555 2000", "Power cuts|555 2111", "Waste and recycling|555 2340", "Parking|555 2999")
)
HALVES = Content(
    (("Team", "Home", None, None, "Away", None, None), (None, "W", "D", "L", "W", "D", "L")),
    (("Team",), *((f"{place} {name}",) for place in ("Home", "Away") for name in "WDL")),
    (
        ("Rovers", "8", "2", "1", "5", "3", "3"),
        ("Harbour United", "7", "1", "3", "4", "4", "3"),
        ("Albion", "3", "3", "5", "2", "2", "7"),
    ),
)

_BY_NAME: dict[str, tuple[Content, Look]] = {
    "fleet-grid": (FLEET, Look()),
    "fleet-plain": (FLEET, Look("none", bold=False)),
    "fleet-left-tight": (FLEET, Look("none", bold=False, right=False, padding=3)),
    "fleet-wide": (FLEET, Look("header", (160, 90, 120, 90), bold=False)),
    "fleet-small": (FLEET, Look("rows", points=6)),
    "sales-grid": (SALES, Look(shade=True)),
    "sales-plain": (SALES, Look("none", bold=False)),
    "sales-bands": (SALES, Look("none", bands=True, widths=(100, 80, 80, 80, 80))),
    "staff-grid": (STAFF, Look()),
    "staff-bold": (STAFF, Look("none")),
    "staff-rule": (STAFF, Look("header", bold=False)),
    "staff-tight": (STAFF, Look("frame", padding=3, points=8)),
    "plants-grid": (PLANTS, Look()),
    "plants-bold": (PLANTS, Look("none", (110, 90, 90, 120))),
    "plants-plain": (PLANTS, Look("none", bold=False)),
    "segments-grid": (SEGMENTS, Look()),
    "segments-rule": (SEGMENTS, Look("header")),
    "segments-plain": (SEGMENTS, Look("none", bold=False)),
    "spanned-rule": (SPANNED, Look("header", (180, 80, 80, 80))),
    "spanned-plain": (SPANNED, Look("none", bold=False)),
    "two-lines-grid": (TWO_LINES, Look()),
    "two-lines-plain": (TWO_LINES, Look("none", bold=False)),
    "two-lines-frame": (TWO_LINES, Look("frame", points=8, middle=True)),
    "tasks-grid": (TASKS, Look("grid", (110, 260, 60), wrap=True)),
    "tasks-rows": (TASKS, Look("rows", (110, 220, 60), wrap=True, bold=True)),
    "tasks-plain": (TASKS, Look("none", (110, 220, 60), wrap=True, bold=False)),
    "tasks-middle": (TASKS, Look("grid", (90, 180, 60), wrap=True, middle=True, points=8)),
    "matrix-grid": (MATRIX, Look()),
    "matrix-plain": (MATRIX, Look("none")),
    "income-rule": (INCOME, Look("header", (220, 80, 80))),
    "income-plain": (INCOME, Look("none", bold=False)),
    "notes-grid": (NOTES, Look()),
    "notes-frame": (NOTES, Look("frame", bold=False)),
    "prices-grid": (PRICES, Look(shade=True)),
    "prices-plain": (PRICES, Look("none", bold=False)),
    "prices-left": (PRICES, Look("rows", right=False, bold=False)),
    "dates-grid": (DATES, Look()),
    "dates-rule": (DATES, Look("header", (100, 200, 110))),
    "dates-plain": (DATES, Look("none", bold=False)),
    "treatments-frame": (TREATMENTS, Look("frame", bold=False)),
    "treatments-small": (TREATMENTS, Look("none", points=7, padding=4)),
    "phones-grid": (PHONES, Look()),
    "phones-rule": (PHONES, Look("header", (200, 100))),
    "halves-grid": (HALVES, Look()),
    "halves-rule": (HALVES, Look("frame", points=8)),
}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A PDF and what its tables say."""

    name: str
    data: bytes
    tables: tuple[Table, ...]


def drawn() -> Iterator[Drawn]:
    """Yield all files."""
    for name, (content, look) in _BY_NAME.items():
        yield _file(name, [content], [*_prose(1), _drawing(content, look), *_foot(name), *_prose(1)])
    for name in ("fleet-plain", "treatments-frame", "phones-grid", "income-rule"):
        content, look = _BY_NAME[name]
        look = replace(look, widths=(), points=8)
        flow = [*_prose(3, 8), _drawing(content, look), *_prose(12, 8)]
        yield _file(f"{name}-column", [content], flow, columns=2)
    pairs = (("fleet-grid", "prices-grid"), ("staff-rule", "income-plain"), ("sales-plain", "dates-plain"))
    for one, other in pairs:
        flow = [part for name in (one, other) for part in (*_prose(1), _drawing(*_BY_NAME[name]), Spacer(1, 20))]
        yield _file(f"{one}+{other}", [_BY_NAME[one][0], _BY_NAME[other][0]], flow)
    for name, look in (
        ("again", Look(repeat=True)),
        ("once", Look("header")),
        ("plain", Look("none", bold=False)),
    ):
        yield _file(f"pages-{name}", [LONG], [*_prose(2), _drawing(LONG, look)])
    for by_column in (False, True):
        yield Drawn(
            f"strings-{'columns' if by_column else 'rows'}", _strings(FLEET, by_column=by_column), (FLEET.table,)
        )


def _prose(times: int, points: float = 10) -> list[Flowable]:
    style = ParagraphStyle("prose", fontSize=points, leading=1.25 * points, spaceAfter=points)
    return [Paragraph(PROSE, style) for _ in range(times)]


def _foot(name: str) -> list[Flowable]:
    if not name.startswith("notes"):
        return []
    style = ParagraphStyle("foot", fontSize=7, leading=9)
    notes = ("(1) As approved by the county.", "(2) In 2023, before losses.", "(3) 60 MW of it out of service.")
    return [Spacer(1, 4), *(Paragraph(note, style) for note in notes)]


def _drawing(content: Content, look: Look) -> Drawing:
    depth = len(content.header)
    text = ParagraphStyle("cell", fontSize=look.points, leading=1.2 * look.points)
    rows: list[list[Any]] = [[cell or "" for cell in row] for row in content.header]
    rows += [[Paragraph(cell, text) if look.wrap and cell else cell for cell in row] for row in content.rows]
    last = (-1, depth - 1)
    style: list[Any] = [
        ("FONTSIZE", (0, 0), (-1, -1), look.points),
        ("LEADING", (0, 0), (-1, -1), 1.2 * look.points),
        ("LEFTPADDING", (0, 0), (-1, -1), look.padding),
        ("RIGHTPADDING", (0, 0), (-1, -1), look.padding),
        ("VALIGN", (0, 0), (-1, -1), "MIDDLE" if look.middle else "TOP"),
        ("FONTNAME", (0, 0), last, "Helvetica-Bold" if look.bold else "Helvetica"),
    ]
    if look.right and not look.wrap:
        style += [("ALIGN", (1, 0), (-1, -1), "RIGHT")]
    if look.shade:
        style.append(("BACKGROUND", (0, 0), last, colors.lightgrey))
    if look.bands:
        style.append(("ROWBACKGROUNDS", (0, depth), (-1, -1), [colors.whitesmoke, colors.white]))
    style += {
        "grid": [("GRID", (0, 0), (-1, -1), 0.5, colors.black)],
        "rows": [("LINEBELOW", (0, 0), (-1, -1), 0.5, colors.grey)],
        "header": [("LINEBELOW", (0, depth - 1), last, 0.7, colors.black)],
        "frame": [
            ("LINEABOVE", (0, 0), (-1, 0), 1, colors.black),
            ("LINEBELOW", (0, depth - 1), last, 0.5, colors.black),
            ("LINEBELOW", (0, -1), (-1, -1), 1, colors.black),
        ],
        "none": [],
    }[look.lines]
    style += _spans(content.header)
    widths = list(look.widths) or None
    return Drawing(rows, widths, repeatRows=depth if look.repeat else 0, style=style)


def _spans(header: Sequence[Sequence[str | None]]) -> list[Any]:
    found: list[Any] = []
    for y, row in enumerate(header):
        for x, cell in enumerate(row):
            if cell is None:
                continue
            right = x
            while right + 1 < len(row) and row[right + 1] is None and y == 0 and len(header) > 1:
                right += 1
            down = y
            while down + 1 < len(header) and header[down + 1][x] is None:
                down += 1
            if (right, down) != (x, y):
                found += [
                    ("SPAN", (x, y), (right, down)),
                    ("ALIGN", (x, y), (right, down), "CENTER" if right > x else "LEFT"),
                ]
    return found


def _file(name: str, contents: Sequence[Content], flow: list[Any], columns: int = 1) -> Drawn:
    buffer = io.BytesIO()
    document = BaseDocTemplate(buffer, pagesize=A4, title=name, invariant=1)
    width = (A4[0] - 100 - 20 * (columns - 1)) / columns
    frames = [Frame(50 + place * (width + 20), 50, width, A4[1] - 100, 0, 0, 0, 0) for place in range(columns)]
    document.addPageTemplates(PageTemplate("page", frames))
    document.build(flow)
    return Drawn(name, buffer.getvalue(), tuple(content.table for content in contents))


def _strings(content: Content, *, by_column: bool) -> bytes:
    """Return a page on which each cell is a string, row after row or column after column."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.drawString(60, 780, "Boats of the harbour")
    rows = [content.header[0], *content.rows]
    draw = partial(_string, canvas, rows)
    places = [(row, column) for row in range(len(rows)) for column in range(len(rows[0]))]
    for row, column in sorted(places, key=lambda place: place[::-1]) if by_column else places:
        draw(row, column)
    canvas.save()
    return buffer.getvalue()


def _string(canvas: Canvas, rows: Sequence[Sequence[str | None]], row: int, column: int) -> None:
    canvas.setFont("Helvetica-Bold" if row == 0 else "Helvetica", 10)
    canvas.drawString(60 + 100 * column, 740 - 16 * row, rows[row][column] or "")
