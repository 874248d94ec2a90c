"""The words of drawings in Office Open XML: what stands for an image, the figures of a chart, the text of a diagram.

Flow: `docx.py`, `pptx.py` -> **here**. Pure.
"""

import re
from collections.abc import Iterator
from typing import Any

from ingestion.reading.office.tables import add_table
from ingestion.reading.text_builder import TextBuilder

DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
CHART = f"{_CHART}chart"
DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
RELATED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
RELATED_ID = f"{RELATED}id"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_MAX_POINTS = 10_000

# What programs write in place of a description, and behind one that they made.
_NO_DESCRIPTION = re.compile(
    r"\S+\.(?:png|jpe?g|gif|bmp|tiff?|wmf|emf|svg|webp)|(?:image|picture|grafik|bild) ?\d*", re.I
)
_MADE = re.compile(
    r"(?<!\s)\s*+(?:description automatically generated.*|automatisch generierte beschreibung)\Z", re.I | re.S
)


def alternative_text(properties: Any) -> str:
    """Return the description of an image or drawing by its properties; empty if nobody gave one."""
    text = _MADE.sub("", " ".join((properties.get("descr") or "").split()))
    return "" if _NO_DESCRIPTION.fullmatch(text) else text


def add_chart(builder: TextBuilder, root: Any) -> None:
    """Add a chart as its title and the table of the figures that are stored with it."""
    title = root.find(f".//{_CHART}title")
    if title is not None:
        builder.caption("".join(one.text or "" for one in title.iter(f"{DRAWING}t")))
    columns: dict[int, str] = {}
    names, series = [""], []
    for one in root.iter(f"{_CHART}ser"):
        points = dict(_points(one.find(f"{_CHART}val")))
        columns = columns or dict(_points(one.find(f"{_CHART}cat")))
        if points:
            names.append(" ".join(dict(_points(one.find(f"{_CHART}tx"))).values()) or f"series {len(names)}")
            series.append(points)
    places = sorted({*columns, *(place for points in series for place in points)})[:_MAX_POINTS]
    add_table(builder, [[columns.get(at, ""), *(one.get(at, "") for one in series)] for at in places], names)


def diagram_lines(root: Any) -> Iterator[str]:
    """Yield the texts of a diagram, in the order of its outline."""
    for point in root.iter(f"{_DIAGRAM}pt"):
        if point.get("type", "node") in {"node", "asst"}:
            yield "".join(one.text or "" for one in point.iter(f"{DRAWING}t"))


def _points(element: Any) -> Iterator[tuple[int, str]]:
    """Yield the values that are stored below a reference to cells, by number."""
    for point in () if element is None else element.iter(f"{_CHART}pt"):
        yield int(point.get("idx", 0)), point.findtext(f"{_CHART}v") or ""
