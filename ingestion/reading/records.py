"""Records with named fields (JSON objects, rows of CSV and Parquet) to documents: one a record, or one table of all.

Flow: `jsonl.py`, `json.py`, `csv.py`, `parquet.py` -> **here** -> `Document`s. Pure; holds the ids seen, and of records
without text what they say.

Field names are those of common collections: plain JSONL, FineWeb and search results made of it, ClueWeb22.
"""

import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from errors import UnreadableError
from index.documents.store import Document
from index.documents.structure import Structure
from ingestion.reading import fields
from ingestion.reading.text import clean, clean_body, one_line, title_from_name
from ingestion.reading.text_builder import TextBuilder

ID_KEYS = ("doc_id", "id", "_id", "docid")
TEXT_KEYS = ("text", "contents", "body")
MAX_ID_CHARS = 500
# A longer list of numbers is a vector.
MAX_NUMBERS = 50
REMEDY = "Correct it or remove it."
_PLAIN = (*ID_KEYS, *TEXT_KEYS, "title", "url", "language")
_CLUEWEB = {
    "clueweb22-id": "doc_id",
    "clean-text": "text",
    "url-hash": "url_hash",
    "topic": "topic",
}
_NAMES = {**{name: name for name in _PLAIN}, **_CLUEWEB}
_TITLE_CHARS = 80
_SENTENCE = re.compile(r".{20,80}?[.!?](?=\s)")

Record = Mapping[str, Any]


def has_text(names: Iterable[str]) -> bool:
    """Tell whether one of these columns holds the text of a document."""
    return any(_known_name(name) in TEXT_KEYS for name in names)


def holds_text(record: Record) -> bool:
    """Tell whether a record has a field for the text of a document."""
    return has_text(name for name, value in record.items() if isinstance(value, str))


def table(
    records: Iterable[tuple[int, Record | UnreadableError]], file_id: str, max_chars: float = math.inf
) -> Iterator[Document | UnreadableError]:
    """Yield one document of records without text, `field: value` a line, and the reason why some cannot be used.

    Args:
        records: as for `documents`.
        file_id: the file.
        max_chars: length at which the table is refused.

    Raises:
        UnreadableError: it is longer, nested too deeply, or empty.
    """
    builder = TextBuilder()
    for _number, record in records:
        if isinstance(record, UnreadableError):
            yield record
            continue
        add_fields(builder, record)
        check_table_length(builder, max_chars)
    yield finished_table(builder, file_id)


def add_fields(builder: TextBuilder, record: Record) -> None:
    """Add the fields of a record as a table's row; of nested ones the names are joined by dots.

    Raises:
        UnreadableError: it is nested too deeply.
    """
    try:
        named = [*_leaves(record, "")]
    except RecursionError as error:
        raise UnreadableError("A record is nested too deeply.", REMEDY) from error
    builder.record([name for name, _ in named], [value for _, value in named])


def check_table_length(builder: TextBuilder, max_chars: float) -> None:
    """Raise UnreadableError if a table is longer than `max_chars`."""
    if len(builder) > max_chars:
        fact = f"The table is longer than {max_chars:,} characters."
        raise UnreadableError(fact, "Split it, or raise RAG_INGEST__MAX_DOCUMENT_CHARS.")


def finished_table(builder: TextBuilder, file_id: str) -> Document:
    """Return the document of a table's rows.

    Raises:
        UnreadableError: there are none.
    """
    text, blocks = builder.finished()
    if not text.strip():
        raise UnreadableError("The file holds no text.", "Fill it or remove it.")
    return Document(file_id, title_from_name(file_id), clean_body(text), source=file_id, structure=Structure(blocks))


def documents(
    records: Iterable[tuple[int, Record | UnreadableError]], file_id: str, unit: str
) -> Iterator[Document | UnreadableError]:
    """Yield a document, or the reason why there is none, for each record.

    Args:
        records: each with its number from 1, or already with the reason why it cannot be used.
        file_id: the file; records without an id are named after it and their number.
        unit: what a record is called in reasons, such as `Line`.
    """
    first: dict[str, int] = {}
    for number, record in records:
        name = f"{unit} {number}"
        try:
            document = to_document(record, name, file_id, f"{file_id}#{number:06d}")
        except UnreadableError as error:
            yield error
            continue
        if (earlier := first.setdefault(document.doc_id, number)) != number:
            fact = f"{name} repeats the id {document.doc_id!r} of {unit.lower()} {earlier}, which is kept."
            yield UnreadableError(fact, REMEDY)
        else:
            yield document


def to_document(record: Record | UnreadableError, name: str, file_id: str, spare_id: str) -> Document:
    """Turn one record into a document; if it has no id, `spare_id` is its id.

    Raises:
        UnreadableError: it has no text or an overlong id; or it is such an error itself.
    """
    if isinstance(record, UnreadableError):
        raise record
    record = _known_names(record)
    text = next((text for key in TEXT_KEYS if (text := _text(record.get(key)))), None)
    if text is None:
        raise UnreadableError(f"{name} has no text in any of {', '.join(TEXT_KEYS)}.", REMEDY)
    doc_id = _record_id(record, name)
    return Document(
        doc_id or spare_id,
        fields.title(record.get("title")) or (doc_id if doc_id and _speaks(doc_id) else _first_words(text)),
        text,
        url=fields.web_address(record.get("url")),
        metadata=fields.metadata(record, without=(*ID_KEYS, *TEXT_KEYS, "title", "url")),
        source=file_id,
    )


def _known_names(record: Record) -> dict[str, Any]:
    """Rename fields that are ours in other letters (`URL`, `Clean-Text`); a field with the very name wins."""
    renamed = {_known_name(key): value for key, value in record.items()}
    return renamed | {key: value for key, value in record.items() if key in _PLAIN}


def _known_name(name: str) -> str:
    return _NAMES.get(str(name).strip().casefold(), str(name))


def _text(value: object) -> str | None:
    return clean(value) or None if isinstance(value, str) else None


def _leaves(value: object, name: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each value; not those of vectors."""
    match value:
        case Mapping():
            for key, inner in value.items():
                yield from _leaves(inner, f"{name}.{key}" if name else str(key))
        case list() if any(isinstance(one, Mapping | list) for one in value):
            for number, inner in enumerate(value, 1):
                yield from _leaves(inner, f"{name}.{number}")
        case list():
            if len(value) <= MAX_NUMBERS or any(isinstance(one, str) for one in value):
                yield name, ", ".join(map(_written, value))
        case _:
            yield name, _written(value)


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else clean(str(value))


def _record_id(record: Record, name: str) -> str | None:
    for key in ID_KEYS:
        value = record.get(key)
        if isinstance(value, bool) or not isinstance(value, str | int):
            continue
        if found := one_line(str(value)):
            if len(found) > MAX_ID_CHARS:
                raise UnreadableError(f"{name} has an id of over {MAX_ID_CHARS} characters.", REMEDY)
            return found
    return None


def _speaks(doc_id: str) -> bool:
    """Tell an id made of words from numbers and keys, which say nothing to people."""
    return not re.search(r"\d", doc_id) and bool(re.search(r"[^\W_]{3,}", doc_id))


def _first_words(text: str) -> str:
    """Return the first line of a text, or its first sentence, or as much of that as makes a title."""
    line = next(line for line in text.split("\n") if line.strip()).lstrip("#>-*• \t") or text
    line = one_line(line[: 5 * _TITLE_CHARS])
    sentence = _SENTENCE.match(line)
    return sentence[0] if sentence else textwrap.shorten(line, _TITLE_CHARS, placeholder=" …")
