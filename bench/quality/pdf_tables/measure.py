"""Read PDFs whose tables are known, and count the statements that their blocks make: `python -m bench pdf-tables`.

Flow: `drawn.py`'s files, and pages of the data sets' files as `real/` and `held_out/` have them -> `read_pdf` ->
`scoring.py` -> **here** the table. A page whose file is not there is left out. Thresholds were chosen on the even ones
of the drawn files and of `real/`; those of `held_out/` were transcribed when they were.
"""

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pypdfium2

from bench.quality.pdf_tables.drawn import Drawn, drawn
from bench.quality.pdf_tables.scoring import Score, Table, score
from index.documents.store import Document
from ingestion.reading.pdf import read_pdf

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Measured:
    """A file's figures."""

    group: str
    name: str
    score: Score


def measure(data: Path) -> list[Measured]:
    """Return the figures of all drawn files, and of the real pages that are below `data`."""
    groups = {"drawn": drawn(), "real": real_pages(data, "real"), "held out": real_pages(data, "held_out")}
    return [Measured(group, one.name, _scored(one)) for group, files in groups.items() for one in files]


def _scored(one: Drawn) -> Score:
    document: Document = read_pdf(one.data, f"{one.name}.pdf").structured()
    return score(one.tables, document.text, document.structure.blocks)


def real_pages(data: Path, folder: str = "real") -> Iterator[Drawn]:
    """Yield the pages of a folder, each as a file of its own."""
    for path in sorted((HERE / folder).glob("*.json")):
        page = json.loads(path.read_text(encoding="utf-8"))
        source = data / page["file"]
        if source.exists():
            yield Drawn(path.stem, _page(source, page["page"]), tuple(map(_table, page["tables"])))


def _table(table: dict[str, list[list[str] | str]]) -> Table:
    columns = tuple((names,) if isinstance(names, str) else tuple(names) for names in table["columns"])
    return Table(columns, tuple(tuple(row) for row in table["rows"]))


def _page(path: Path, number: int) -> bytes:
    """Return one page, counted from 1, as a PDF."""
    with pypdfium2.PdfDocument(path) as whole, pypdfium2.PdfDocument.new() as one:
        one.import_pages(whole, [number - 1])
        buffer = io.BytesIO()
        one.save(buffer)
        return buffer.getvalue()


def table(measured: Sequence[Measured]) -> str:
    """Return the figures as Markdown."""
    lines = ["| tables | statements | right | wrong | raw |", "|---|---:|---:|---:|---:|"]
    groups = dict.fromkeys(one.group for one in measured)
    for group in groups:
        files = [one for one in measured if one.group == group]
        lines.append(_line(f"{group}, {len(files)} files", files))
        for half, name in ((files[0::2], "even"), (files[1::2], "odd")):
            lines.append(_line(f"{group}, {name} ones", half))
    return "\n".join(lines)


def _line(name: str, files: Sequence[Measured]) -> str:
    total = sum((one.score for one in files), Score())
    right, wrong = total.right / total.total, total.wrong / total.total
    return f"| {name} | {total.total:,} | {right:.3f} | {wrong:.3f} | {max(0.0, 1 - right - wrong):.3f} |"
