"""Read Markdown: front matter becomes title, address and metadata; the rest stays as it is written.

Flow: file bytes -> **here** -> `Document`. Pure.

Tables, lists and code keep their markup, which language models read well; what is what says `markdown_blocks.py`.
"""

import re
from typing import Any

import yaml

from index.documents.store import Document
from index.documents.structure import Structure
from ingestion.reading import fields
from ingestion.reading.markdown_blocks import markdown_blocks, plain
from ingestion.reading.marks import placed_in_markdown
from ingestion.reading.text import clean_body, decode, title_from_name

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.{0,65536}?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)


def read_markdown(data: bytes, doc_id: str) -> Document:
    """Return the document; its title is the front matter's, else the first heading, else the file's name.

    Raises:
        UnreadableError: no text, or binary data.
    """
    header, body = _split_front_matter(decode(data).replace("\r\n", "\n"))
    text = clean_body(placed_in_markdown(body))
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
    """Return (header, rest). A block that is not a YAML mapping is text between two rules and stays where it is."""
    match = _FRONT_MATTER.match(text)
    if not match:
        return {}, text
    try:
        header = yaml.safe_load(match[1])
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, text
    return (header, text[match.end() :]) if isinstance(header, dict) else ({}, text)
