"""Read plain text.

Flow: file bytes -> **here** -> `Document`. Pure.
"""

import re

from index.documents.store import Document
from ingestion.reading.text import clean_body, decode, one_line, title_from_name

_TITLE_CHARS = 80
_SENTENCE_MARK = re.compile(r"[.!?;:](\s|$)")


def read_plain_text(data: bytes, doc_id: str) -> Document:
    """Return the document; a short first line that stands alone is its title, otherwise the file's name is.

    Raises:
        UnreadableError: no text, or binary data.
    """
    text = clean_body(decode(data))
    return Document(doc_id, leading_title(text) or title_from_name(doc_id), text, source=doc_id)


def leading_title(text: str) -> str | None:
    """Return the first line if it reads as a title: short, no sentence, a blank line and then text below it."""
    first, _, rest = text.partition("\n")
    if len(first) > _TITLE_CHARS or not rest.startswith("\n") or _SENTENCE_MARK.search(first):
        return None
    return one_line(first)
