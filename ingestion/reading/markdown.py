"""Read Markdown: front matter becomes title, address and metadata; the rest stays as it is written.

Flow: file bytes -> **here** -> `Document`. Pure.

Tables, lists and code keep their markup: language models read it well, and it carries the structure that
passages are cut along.
"""

import re
from typing import Any

import yaml

from index.documents.store import Document
from ingestion.reading import fields
from ingestion.reading.text import clean_body, decode, one_line, title_from_name

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.{0,65536}?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.+)")
_MARKUP = (
    (re.compile(r"<[^<>]{1,200}>"), ""),  # HTML tags, such as the anchors that generators put into headings
    (re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)"), r"\1"),  # links and images keep their text
    (re.compile(r"\{#[^{}]*\}\s*$"), ""),  # heading ids
    (re.compile(r"\s#+\s*$"), ""),  # closing marks
    (re.compile(r"(\*\*|__|`++)(.+?)\1"), r"\2"),
    (re.compile(r"(?<!\w)([*_])(\S.*?)\1(?!\w)"), r"\2"),
    (re.compile(r"\\([^\w\s])"), r"\1"),
)


def read_markdown(data: bytes, doc_id: str) -> Document:
    """Return the document; its title is the front matter's, else the first heading, else the file's name.

    Raises:
        UnreadableError: no text, or binary data.
    """
    header, body = _split_front_matter(decode(data).replace("\r\n", "\n"))
    text = clean_body(body)
    return Document(
        doc_id,
        fields.title(header.get("title")) or _first_heading(text) or title_from_name(doc_id),
        text,
        url=fields.web_address(header.get("url")),
        metadata=fields.metadata(header, without=("title", "url")),
        source=doc_id,
    )


def _split_front_matter(text: str) -> tuple[dict[Any, Any], str]:
    """Return (header, rest). A block that is no YAML mapping is text between two rules and stays where it is."""
    match = _FRONT_MATTER.match(text)
    if not match:
        return {}, text
    try:
        header = yaml.safe_load(match[1])
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, text
    return (header, text[match.end() :]) if isinstance(header, dict) else ({}, text)


def _first_heading(text: str) -> str | None:
    """Return the first heading outside code, as plain words; both `# A heading` and the underlined form count."""
    fence = ""
    previous = ""
    for line in text.split("\n"):
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = ""
        elif not fence:
            found = _HEADING.match(line)
            underlined = previous and re.fullmatch(r" {0,3}(=+|-{2,})", line)
            if (found or underlined) and (words := _plain(found[1] if found else previous)):
                return words
            previous = line if line and not line.lstrip().startswith(("|", ">", "-", "*", "+", "    ")) else ""
    return None


def _plain(heading: str) -> str | None:
    heading = heading[: 2 * fields.MAX_TITLE_CHARS]
    for pattern, replacement in _MARKUP:
        heading = pattern.sub(replacement, heading)
    return fields.title(one_line(heading))
