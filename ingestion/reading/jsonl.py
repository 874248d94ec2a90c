"""Read JSON Lines: one record a line, one document a record.

Flow: open file -> **here** -> a stream of `Document`s. Never holds more than one record, plus the ids seen.

A line that cannot be used is reported by its number and the other lines go on.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NoReturn

from errors import UnreadableError
from index.documents import Document
from ingestion.reading import fields
from ingestion.reading.text import clean, one_line

ID_KEYS = ("doc_id", "id", "_id", "docid")
TEXT_KEYS = ("text", "contents", "body")
MAX_LINE_BYTES = 16_000_000
MAX_ID_CHARS = 500
_REMEDY = "Correct the line or remove it."


def read_jsonl(stream: BinaryIO, doc_id: str, size: int) -> Iterator[Document | UnreadableError]:
    """Yield a document, or the reason why there is none, for each line that is not blank.

    Args:
        stream: at its beginning.
        doc_id: the file; records without an id are named after it and their line.
        size: bytes to read; what is appended meanwhile belongs to the next run.

    Raises:
        UnreadableError: the file as a whole is not UTF-8.
    """
    first_line: dict[str, int] = {}
    for number, line in _numbered_lines(stream, size):
        try:
            document = _document(line, number, doc_id)
        except UnreadableError as error:
            yield error
            continue
        if document is None:
            continue
        if (earlier := first_line.setdefault(document.doc_id, number)) != number:
            yield UnreadableError(
                f"Line {number} repeats the id {document.doc_id!r} of line {earlier}, which is kept.", _REMEDY
            )
        else:
            yield document


def _numbered_lines(stream: BinaryIO, size: int) -> Iterator[tuple[int, bytes | None]]:
    """Yield (number from 1, line), with None for a line over the limit, which is passed over piece by piece."""
    number = done = 0
    while done < size and (line := stream.readline(MAX_LINE_BYTES + 1)):
        number += 1
        done += len(line)
        if number == 1:
            if line.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise UnreadableError("The file is in UTF-16; JSON Lines must be UTF-8.", "Convert it, e.g. by iconv.")
            line = line.removeprefix(b"\xef\xbb\xbf")
        too_long = len(line) > MAX_LINE_BYTES
        while too_long and not line.endswith(b"\n") and (line := stream.readline(MAX_LINE_BYTES)):
            done += len(line)
        yield number, None if too_long else line


def _document(line: bytes | None, number: int, file_id: str) -> Document | None:
    """Turn one line into a document, or None if it is blank.

    Raises:
        UnreadableError: naming the line.
    """
    if line is None:
        raise UnreadableError(f"Line {number} is longer than {MAX_LINE_BYTES // 1_000_000} MB.", "Split the record.")
    line = line.strip()
    if not line:
        return None
    try:
        record = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise UnreadableError(f"Line {number} is not valid UTF-8.", _REMEDY) from error
    except json.JSONDecodeError as error:
        where = f"{error.msg}, column {error.colno}"
        raise UnreadableError(f"Line {number} is not valid JSON: {where}.", _REMEDY) from error
    except ValueError as error:
        raise UnreadableError(f"Line {number} holds a number that JSON does not allow.", _REMEDY) from error
    except (RecursionError, MemoryError) as error:
        raise UnreadableError(f"Line {number} is nested too deeply or too large.", _REMEDY) from error
    if not isinstance(record, dict):
        raise UnreadableError(f"Line {number} is no JSON object.", _REMEDY)
    text = next((text for key in TEXT_KEYS if (text := _text(record.get(key)))), None)
    if text is None:
        raise UnreadableError(f"Line {number} has no text in any of {', '.join(TEXT_KEYS)}.", _REMEDY)
    doc_id = _record_id(record, number) or f"{file_id}#{number:06d}"
    return Document(
        doc_id,
        fields.title(record.get("title")) or doc_id,
        text,
        url=fields.web_address(record.get("url")),
        metadata=fields.scalars(record, without=(*ID_KEYS, *TEXT_KEYS, "title", "url")),
        source=file_id,
    )


def _text(value: object) -> str | None:
    return clean(value) or None if isinstance(value, str) else None


def _record_id(record: Mapping[str, Any], number: int) -> str | None:
    for key in ID_KEYS:
        value = record.get(key)
        if isinstance(value, bool) or not isinstance(value, str | int):
            continue
        if name := one_line(str(value)):
            if len(name) > MAX_ID_CHARS:
                raise UnreadableError(f"Line {number} has an id of over {MAX_ID_CHARS} characters.", _REMEDY)
            return name
    return None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)
