"""Read the documents that regions lie in, as the question's author saw them.

Flow: a corpus folder -> **here** -> `nuggets.py`.

Not by the readers that the engine ingests with: a region must not move with them. (Ours drops a page's navigation, and
writes the header of a CSV file into each row.) Only Word documents are read by ours, whose words are the file's.
"""

from collections.abc import Collection, Iterator
from json import loads
from pathlib import Path

from lxml import etree

from eval.metrics import file_name
from eval.nuggets import fold
from ingestion.reading.office.docx import read_docx

_MAX_DOCX_BYTES = 100_000_000


def read_folded(corpus: Path, names: Collection[str]) -> dict[str, str]:
    """Return name -> folded text; PDFs are left out.

    Args:
        corpus: a folder, or a file of JSONL records.
        names: of the files or records, without folders.

    Raises:
        OSError, ValueError, KeyError: a file cannot be read.
        UnreadableError: a Word document cannot be read.
    """
    files = sorted(path for path in corpus.rglob("*") if path.is_file()) if corpus.is_dir() else [corpus]
    return {name: fold(text) for path in files for name, text in _texts(path, names) if name in names}


def _texts(path: Path, names: Collection[str]) -> Iterator[tuple[str, str]]:
    if path.suffix == ".jsonl":
        with path.open(encoding="utf-8") as lines:
            for record in map(loads, lines):
                yield file_name(record["doc_id"]), record["text"]
    elif path.name in names and path.suffix == ".docx":
        yield path.name, read_docx(path.read_bytes(), path.name, _MAX_DOCX_BYTES).text
    elif path.name in names and path.suffix != ".pdf":
        text = path.read_text(encoding="utf-8")
        yield path.name, _html_text(text) if path.suffix == ".html" else text


def _html_text(page: str) -> str:
    """Return the text of a page outside scripts and styles."""
    tree = etree.HTML(page, etree.HTMLParser(remove_comments=True))
    etree.strip_elements(tree, "script", "style", with_tail=False)
    return " ".join(map(str, tree.itertext()))
