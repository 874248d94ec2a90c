"""Read Jupyter notebooks: prose, code and what the code printed, in order.

Flow: file bytes -> **here** -> `markup.py` -> `Document`. Pure; nothing is run.

Prose is Markdown and stays as it is written, as in a Markdown file. Of an output the plain text is kept; a picture, and
the words that stand for it, are left out.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.markdown_blocks import markdown_blocks
from ingestion.reading.markdown_source import visible
from ingestion.reading.marks import placed_in_markdown
from ingestion.reading.markup import finished
from ingestion.reading.text import clean, decode
from ingestion.reading.text_builder import TextBuilder

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# A progress bar writes its line again and again.
_OVERWRITTEN = re.compile(r"^[^\n]*\r(?!\n)", re.M)


def read_notebook(data: bytes, doc_id: str) -> Document:
    """Return the document; its title is the notebook's, else its first heading, else the file's name.

    Raises:
        UnreadableError: no JSON, no notebook, or without text.
    """
    try:
        notebook = json.loads(decode(data))
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"The notebook is damaged: {error}.", "Save it again.") from error
    cells = _cells(notebook)
    if cells is None:
        raise UnreadableError("The file has no cells of a notebook.", "Give it the right suffix, such as .json.")
    metadata = _mapping(notebook.get("metadata"))
    language = _text(_mapping(metadata.get("kernelspec")).get("language"))
    language = language or _text(_mapping(metadata.get("language_info")).get("name"))
    builder = TextBuilder()
    for cell in cells:
        source = _text(cell.get("source", cell.get("input")))
        match cell.get("cell_type"):
            case "code":
                builder.code(source, language or _text(cell.get("language")))
                for printed in _outputs(cell.get("outputs")):
                    builder.code(_OVERWRITTEN.sub("", _COLOUR.sub("", printed)))
            case "heading":
                level = cell.get("level")
                builder.heading(source, level if isinstance(level, int) else 1)
            case "raw":
                builder.code(source)
            case _:
                if prose := clean(visible(placed_in_markdown(source))).strip():
                    builder.extend(prose, markdown_blocks(prose))
    return finished(builder, doc_id, _text(metadata.get("title")))


def _cells(notebook: object) -> list[Mapping[str, Any]] | None:
    """Return the cells; None for what is not a notebook. Notebooks of version 3 have them in worksheets."""
    if not isinstance(notebook, dict):
        return None
    found = notebook.get("cells")
    if not isinstance(found, list) and isinstance(sheets := notebook.get("worksheets"), list):
        found = [cell for sheet in sheets for cell in _list(_mapping(sheet).get("cells"))]
    return [cell for cell in found if isinstance(cell, dict)] if isinstance(found, list) else None


def _outputs(outputs: object) -> Iterator[str]:
    for output in map(_mapping, _list(outputs)):
        kind = output.get("output_type")
        if kind == "stream":
            yield _text(output.get("text"))
        elif kind in ("error", "pyerr"):
            yield f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"
        else:
            data = _mapping(output.get("data", output))
            if not any(str(name).startswith("image/") or name in ("png", "jpeg", "svg") for name in data):
                yield _text(data.get("text/plain", data.get("text")))


def _text(value: object) -> str:
    """Return a text, which may be a list of lines; `""` for anything else."""
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
