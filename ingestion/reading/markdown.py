"""Read Markdown: front matter becomes title, address and metadata; the rest stays as it is written but for comments.

Flow: file bytes -> **here** -> `Document`. Pure.

Tables, lists and code keep their markup, which language models read well; what is what says `markdown_blocks.py`.
"""

import re
import tomllib
from typing import Any

import yaml

from index.documents.store import Document
from index.documents.structure import Structure
from ingestion.reading import fields
from ingestion.reading.front_matter import as_written, front_matter
from ingestion.reading.markdown_blocks import markdown_blocks, plain
from ingestion.reading.markdown_source import visible
from ingestion.reading.marks import placed_in_markdown
from ingestion.reading.text import clean, clean_body, decode, title_from_name

_YAML = re.compile(r"---[ \t]*\n(.{0,65536}?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_TOML = re.compile(r"\+\+\+[ \t]*\n(.{0,65536}?)\n\+\+\+[ \t]*(?:\n|$)", re.DOTALL)


def read_markdown(data: bytes, doc_id: str) -> Document:
    """Return the document; its title is the front matter's, else the first heading, else the file's name.

    Raises:
        UnreadableError: no text, or binary data.
    """
    header, body = _split_front_matter(decode(data).replace("\r\n", "\n"))
    text = clean_body(visible(clean(placed_in_markdown(body))))
    blocks = markdown_blocks(text)
    headings = (plain(text[slice(*block.inner)]) for block in blocks if block.kind == "heading")
    return Document(
        doc_id,
        fields.title(header.get("title"))
        or fields.title(next(filter(None, headings), None))
        or title_from_name(doc_id),
        text,
        url=fields.web_address(header.get("url")),
        metadata=fields.metadata(header, without=("title", "url")),
        source=doc_id,
        structure=Structure(blocks),
    )


def _split_front_matter(text: str) -> tuple[dict[Any, Any], str]:
    """Return (header, rest). A block that is not a mapping is text between two rules and stays where it is."""
    yaml_block, toml_block = _YAML.match(text), _TOML.match(text)
    block = yaml_block or toml_block
    if not block:
        return {}, text
    try:
        header = front_matter(block[1]) if yaml_block else tomllib.loads(block[1], parse_float=as_written)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, text
    return (header, text[block.end() :]) if isinstance(header, dict) else ({}, text)
