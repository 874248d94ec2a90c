"""Read PDFs whose tables are known, and count the statements that their blocks make: `python -m bench pdf-tables`.

Flow: the files of `drawn/`, and pages of the data sets' files as `real/` and `held_out/` have them -> `read_pdf` ->
`scoring.py` -> **here** the table. A page whose file is not there is left out. Thresholds were chosen on the even ones
of the drawn files and of `real/`; those of `held_out/` were transcribed when they were.

Reportlab drew the files of `drawn/` from the tables of `drawn.json`, in several looks: with and without lines, bold
headers, cells of several lines, in columns of a page, over several pages (by `drawn.py`, last in commit 59820e50).
"""

import argparse
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pypdfium2

from bench.figures import keep
from bench.quality.pdf_tables.scoring import Score, Table, score
from eval.tables import figure, of_items
from ingestion.reading.pdf import read_pdf
from settings import Settings

HERE = Path(__file__).parent

File = tuple[str, bytes, Sequence[Table]]
"""The name of a PDF, its content, and what its tables say."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A file's figures."""

    group: str
    name: str
    score: Score


def measure(folder: Path) -> list[Measured]:
    """Return the figures of all drawn files, and of the real pages that are below a folder."""
    groups = {"drawn": drawn(), "real": real_pages(folder, "real"), "held out": real_pages(folder, "held_out")}
    return [
        Measured(group, name, _scored(data, tables)) for group, files in groups.items() for name, data, tables in files
    ]


def _scored(data: bytes, tables: Sequence[Table]) -> Score:
    document = read_pdf(data, "one.pdf").structured()
    return score(tables, document.text, document.structure.blocks)


def drawn() -> Iterator[File]:
    """Yield the drawn files."""
    known = json.loads((HERE / "drawn.json").read_text(encoding="utf-8"))
    tables = {name: _table(table) for name, table in known["tables"].items()}
    for name, shown in known["files"].items():
        yield name, (HERE / "drawn" / f"{name}.pdf").read_bytes(), [tables[one] for one in shown]


def real_pages(data: Path, folder: str = "real") -> Iterator[File]:
    """Yield the pages of a folder, each as a file of its own."""
    for path in sorted((HERE / folder).glob("*.json")):
        page = json.loads(path.read_text(encoding="utf-8"))
        source = data / page["file"]
        if source.exists():
            yield path.stem, _page(source, page["page"]), [_table(table) for table in page["tables"]]


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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option of `python -m bench pdf-tables`."""
    parser.description = "Draw PDFs with known tables, and read pages of the data sets' PDFs whose tables are known."
    parser.add_argument("--data", type=Path, default=Path(), help="folder of data sets with PDFs")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Read all files, print one table."""
    measured = measure(arguments.data)
    print(table(measured))
    keep("pdf-tables", {f"{one.group}: {one.name}": asdict(one.score) for one in measured}, settings)
    return 0


def table(measured: Sequence[Measured]) -> str:
    """Return the figures of each group, and of its halves."""
    rows: list[tuple[str, Score]] = []
    for group in dict.fromkeys(one.group for one in measured):
        files = [one.score for one in measured if one.group == group]
        halves = {f"{len(files)} files": files, "even ones": files[0::2], "odd ones": files[1::2]}
        rows += [(f"{group}, {name}", sum(scores, Score())) for name, scores in halves.items()]
    return of_items(
        {
            "tables": lambda row: row[0],
            "statements": lambda row: figure(row[1].total, 0),
            "right": lambda row: figure(row[1].right / row[1].total),
            "wrong": lambda row: figure(row[1].wrong / row[1].total),
            "raw": lambda row: figure(max(0.0, 1 - (row[1].right + row[1].wrong) / row[1].total)),
        },
        rows,
    )
