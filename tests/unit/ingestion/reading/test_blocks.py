"""Whatever the format, blocks tile the text, and hold the words, cells and code of the source."""

import csv
import io
import json
import random
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest
from pyarrow import parquet

from index.documents.store import Document
from index.documents.structure import Block, Structure, check_blocks
from ingestion.reading.formats import read_file
from ingestion.reading.options import ReadOptions
from tests.fakes.pdfs import make_pdf
from tests.fakes.word import make_docx

OPTIONS = ReadOptions(max_bytes=10_000_000, max_chars=1_000_000)
WORDS = "tern gannet harbour ness pier tide skipper café Größe 1984 4.5 ropes and of the sails".split()
PROSE = "The harbour has had a pier for two hundred years, and boats have been for hire there since it was built. "
CODE = ("hire --all", "if tide > 2:\n\n    sail(1)", "a | b\n# no heading\n- no item")
SAMPLES = sorted((Path(__file__).parents[4] / "data" / "corpus").rglob("*.*"))


class Part(NamedTuple):
    """What a block of a source says.

    Attributes:
        words: one text, of a row its cells.
        level: of a heading or an item.
        columns: of a row, none of its header.
    """

    kind: str
    words: tuple[str, ...]
    level: int = 0
    columns: tuple[str, ...] = ()


def read(folder: Path, name: str, data: bytes) -> list[Document]:
    path = folder / name
    path.write_bytes(data)
    return [item for item in read_file(path.resolve(), name, OPTIONS) if isinstance(item, Document)]


def check(document: Document) -> None:
    blocks = document.structure.blocks
    assert blocks
    check_blocks(blocks, document.text)
    assert Structure(document.structure.to_bytes()).blocks == blocks
    assert all(len(block.columns) in {0, len(block.cells)} for block in blocks)


def parts(document: Document) -> list[Part]:
    def part(block: Block) -> Part:
        spans = block.cells if block.kind == "row" else (block.inner,)
        words = tuple(document.text[slice(*span)] for span in spans)
        return Part(block.kind, words, 0 if block.kind == "quote" else block.level, block.columns)

    return [part(block) for block in document.structure.blocks]


def phrase(chosen: random.Random, most: int = 5) -> str:
    return " ".join(chosen.choices(WORDS, k=chosen.randint(1, most)))


def source(seed: int) -> list[list[Part]]:
    """Return the groups of a made-up document: a list's items and a table's rows are one group."""
    chosen = random.Random(seed)
    groups = [[Part("heading", ("Boats",), 1)], [Part("paragraph", (f"{PROSE * 3}".strip(),))]]
    for number in range(8):
        match chosen.choice(["heading", "paragraph", "item", "row", "code", "quote"]):
            case "heading":
                groups.append([Part("heading", (f"On {phrase(chosen)} {number}",), chosen.randint(2, 4))])
                groups.append([Part("paragraph", (f"{PROSE}So {phrase(chosen)} {number}.",))])
            case "item":
                levels = [0, *chosen.choices([0, 1], k=3)]
                groups.append([Part("item", (f"one {phrase(chosen)} {number}",), level) for level in levels])
            case "row":
                columns = tuple(f"{word} {number}" for word in chosen.sample(WORDS, 3))
                rows = [tuple(f"{phrase(chosen, 2)} x{place}" for place in range(3)) for _ in range(3)]
                groups.append([Part("row", columns), *(Part("row", row, 0, columns) for row in rows)])
            case "code":
                groups.append([Part("code", (f"{chosen.choice(CODE)}\nend {number}",))])
            case kind:
                groups.append([Part(kind, (f"{PROSE}Then {phrase(chosen)} {number}.",))])
        groups.append([Part("paragraph", (f"{PROSE}And {phrase(chosen)} {number}.",))])
    return groups


def as_markdown(groups: Sequence[Sequence[Part]], chosen: random.Random) -> str:
    def written(group: Sequence[Part]) -> str:
        first = group[0].words[0]
        match group[0].kind:
            case "heading" if group[0].level <= 2 and chosen.random() < 0.5:
                return f"{first}\n{'=-'[group[0].level - 1] * 5}"
            case "heading":
                return f"{'#' * group[0].level} {first}{chosen.choice(['', ' ##'])}"
            case "item":
                mark = chosen.choice(["- ", "* ", "1. "])
                return "\n".join(" " * len(mark) * part.level + mark + part.words[0] for part in group)
            case "row":
                edges = chosen.choice([("", ""), ("| ", " |"), ("|", "")])
                rows = [part.words for part in group]
                lines = [" | ".join(cells).join(edges) for cells in (rows[0], ("---",) * 3, *rows[1:])]
                return "\n".join(lines)
            case "code":
                fence = chosen.choice(["```", "~~~~"])
                return f"{fence}sh\n{first}\n{fence}"
            case "quote":
                return f"> {first}"
            case _:
                return first

    return "\n\n".join(map(written, groups))


def as_html(groups: Sequence[Sequence[Part]]) -> str:
    def written(group: Sequence[Part]) -> str:
        first = escape(group[0].words[0])
        match group[0].kind:
            case "heading":
                return f"<h{group[0].level}>{first}</h{group[0].level}>"
            case "item":
                # An item ends where the next one begins; a list inside it does not end it.
                shapes = ("<li>{}", "<ul><li>{}</ul>")
                texts = "".join(shapes[part.level].format(escape(part.words[0])) for part in group)
                return f"<ul>{texts}</ul>"
            case "row":
                rows = ["".join(f"<td>{escape(cell)}</td>" for cell in part.words) for part in group]
                rows[0] = rows[0].replace("td>", "th>")
                return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
            case "code":
                return f'<pre><code class="language-sh">{first}</code></pre>'
            case "quote":
                return f"<blockquote><p>{first}</p></blockquote>"
            case _:
                return f"<p>{first}</p>"

    return f"<html><body><main>{''.join(map(written, groups))}</main></body></html>"


@pytest.mark.parametrize("seed", range(40))
def test_markdown_and_pages_give_the_blocks_that_were_written(tmp_path: Path, seed: int) -> None:
    groups = source(seed)
    written = [part for group in groups for part in group]
    (markdown,) = read(tmp_path, "a.md", as_markdown(groups, random.Random(seed)).encode())
    (page,) = read(tmp_path, "a.html", as_html(groups).encode())

    for document in (markdown, page):
        check(document)
        assert parts(document) == written
    languages = {block.language for block in (*markdown.structure.blocks, *page.structure.blocks)}
    assert languages <= {"", "sh"}


@pytest.mark.parametrize("seed", range(20))
def test_tables_of_csv_give_their_cells(tmp_path: Path, seed: int) -> None:
    chosen = random.Random(seed)
    columns = chosen.sample(["Boat", "Seats, all", "Größe", "Since"], 3)
    rows = [[chosen.choice(["", phrase(chosen), 'a "b"', "x | y"]) for _ in columns] for _ in range(6)]
    text = io.StringIO()
    csv.writer(text).writerows([columns, *rows])
    (document,) = read(tmp_path, "a.csv", text.getvalue().encode())
    check(document)

    filled = [[(name, cell) for name, cell in zip(columns, row, strict=True) if cell] for row in rows]
    assert parts(document) == [
        Part("row", tuple(columns)),
        *(Part("row", tuple(c for _, c in row), 0, tuple(n for n, _ in row)) for row in filled if row),
    ]
    assert [block.header for block in document.structure.blocks] == [True, *[False] * len(list(filter(None, filled)))]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_blocks_of_the_sample_tile_its_texts(tmp_path: Path, path: Path) -> None:
    for document in read(tmp_path, path.name, path.read_bytes()):
        check(document)


@pytest.mark.parametrize("seed", range(20))
def test_blocks_tile_what_any_reader_makes_of_any_text(tmp_path: Path, seed: int) -> None:
    chosen = random.Random(seed)
    pieces = ["# Boats", "- tern", "  - ness", "| a | b |", "|---|---|", "k: v", "> so", "```", "    x", "", "", PROSE]
    pieces += ["<p>Tide", "<pre>a\n b</pre>", "<li>rope", "<td>x", "<table>", "</table>", "<h2>Pier", "<dl><dt>a<dd>b"]
    text = "\n".join(["Boats", *chosen.choices(pieces, k=30)])
    lines = text.split("\n")
    table = io.BytesIO()
    parquet.write_table(pa.table({"text": [text], "n": [1]}), table)
    sources = {
        "a.md": text.encode(),
        "a.txt": text.encode(),
        "0123456789abcdef01234567.txt": text.encode(),
        "a.html": f"<html><body>{text}</body></html>".encode(),
        "a.json": json.dumps([{"text": text}]).encode(),
        "a.jsonl": json.dumps({"text": text}).encode(),
        "a.csv": f"a,b\n{text}".encode(),
        "a.tsv": b"id\ttext\n1\t" + PROSE.encode(),
        "a.parquet": table.getvalue(),
        "a.docx": make_docx([("Heading 1", "Boats"), ("List Bullet", lines[1]), [["a", "b"], ["1", text]]]),
        "a.pdf": make_pdf("\n".join(line for line in lines if line.isascii())),
    }
    for name, data in sources.items():
        documents = read(tmp_path, name, data)
        assert documents, name
        for document in documents:
            check(document)
