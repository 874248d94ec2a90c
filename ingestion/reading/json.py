"""Read a JSON file: one record, an array of records, or what a search service answered.

Flow: file bytes -> **here** -> `records.py` -> `Document`s. Pure. Where none has text, the file is a table of them.

Search services over FineWeb and ClueWeb22 answer with an object whose `results` are records, or records as
Base64-coded JSON; `unpack` undoes that.
"""

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.jsonl import parse
from ingestion.reading.records import REMEDY, add_fields, documents, finished_table, holds_text, table, to_document
from ingestion.reading.text import decode
from ingestion.reading.text_builder import TextBuilder

_ARRAY_KEYS = ("results", "documents", "data")


def read_json(data: bytes, doc_id: str) -> Iterator[Document | UnreadableError]:
    """Yield the documents of the file; records without an id are named after it and their place.

    Raises:
        UnreadableError: the file as a whole is not JSON, or holds no records.
    """
    content = parse(decode(data), "The file")
    found = _records(content)
    if found is not None:
        numbered = [(number, unpack(item, number)) for number, item in enumerate(found, 1)]
        if any(isinstance(record, dict) and holds_text(record) for _, record in numbered):
            yield from documents(numbered, doc_id, "Record")
        else:
            yield from table(numbered, doc_id)
    elif not isinstance(content, dict):
        raise UnreadableError("The file holds a single value, no record.", REMEDY)
    elif holds_text(content):
        yield to_document(content, "The file", doc_id, doc_id)
    else:
        yield _object(content, doc_id)


def _object(content: dict[str, Any], doc_id: str) -> Document:
    """Return an object without text: its fields, then each list of objects below its name."""
    builder = TextBuilder()
    lists = {name: value for name, value in content.items() if _is_list_of_objects(value)}
    add_fields(builder, {name: value for name, value in content.items() if name not in lists})
    for name, rows in lists.items():
        builder.heading(name, 2)
        for row in rows:
            add_fields(builder, row)
    return finished_table(builder, doc_id)


def _is_list_of_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def unpack(item: object, number: int) -> dict[str, Any] | UnreadableError:
    """Return a record, decoded if it is Base64-coded JSON, or the reason why it is none."""
    name = f"Record {number}"
    if isinstance(item, str):
        try:
            item = parse(base64.b64decode(item, validate=True).decode(), name)
        except (binascii.Error, ValueError):
            return UnreadableError(f"{name} is a string, but no Base64-coded JSON.", REMEDY)
        except UnreadableError as error:
            return error
    return item if isinstance(item, dict) else UnreadableError(f"{name} is not a JSON object.", REMEDY)


def _records(content: object) -> list[Any] | None:
    """Return the array that the file is or holds; None if it holds none, or is itself a record."""
    if isinstance(content, dict) and not holds_text(content):
        return next((content[key] for key in _ARRAY_KEYS if isinstance(content.get(key), list)), None)
    return content if isinstance(content, list) else None
