"""Read JSON Lines: one record a line, one document a record; a table where the first record has no text.

Flow: open file -> **here** -> `records.py` -> a stream of `Document`s. Never holds more than one line of text.

A line that cannot be used is reported by its number and the other lines go on.
"""

import json
import math
from collections.abc import Iterator
from itertools import chain
from typing import Any, BinaryIO, NoReturn

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.records import REMEDY, documents, holds_text, table

MAX_LINE_BYTES = 16_000_000


def read_jsonl(
    stream: BinaryIO, doc_id: str, size: int, max_chars: float = math.inf
) -> Iterator[Document | UnreadableError]:
    """Yield a document, or the reason why there is none, for each line that is not blank.

    Args:
        stream: at its beginning.
        doc_id: the file; records without an id are named after it and their line.
        size: bytes to read; what is appended meanwhile belongs to the next run.
        max_chars: length at which a table is refused.

    Raises:
        UnreadableError: the file as a whole is not UTF-8, or a table too long.
    """
    records = _numbered_records(stream, size)
    first: list[tuple[int, dict[str, Any] | UnreadableError]] = []
    for number, record in records:
        first.append((number, record))
        if not isinstance(record, UnreadableError):
            if not holds_text(record):
                yield from table(chain(first, records), doc_id, max_chars)
                return
            break
    yield from documents(chain(first, records), doc_id, "Line")


def parse(text: str, name: str) -> Any:
    """Parse JSON; `name` is what a reason calls it.

    Raises:
        UnreadableError: it is not JSON, or more of it than can be parsed.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        where = f"{error.msg}, column {error.colno}"
        raise UnreadableError(f"{name} is not valid JSON: {where}.", REMEDY) from error
    except ValueError as error:
        raise UnreadableError(f"{name} holds a number that JSON does not allow.", REMEDY) from error
    except (RecursionError, MemoryError) as error:
        raise UnreadableError(f"{name} is nested too deeply or too large.", REMEDY) from error


def _numbered_records(stream: BinaryIO, size: int) -> Iterator[tuple[int, dict[str, Any] | UnreadableError]]:
    for number, line in _numbered_lines(stream, size):
        try:
            if (record := _record(line, f"Line {number}")) is not None:
                yield number, record
        except UnreadableError as error:
            yield number, error


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


def _record(line: bytes | None, name: str) -> dict[str, Any] | None:
    """Turn one line into a record, or None if it is blank.

    Raises:
        UnreadableError: naming the line.
    """
    if line is None:
        raise UnreadableError(f"{name} is longer than {MAX_LINE_BYTES // 1_000_000} MB.", "Split the record.")
    line = line.strip()
    if not line:
        return None
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{name} is not valid UTF-8.", REMEDY) from error
    record = parse(text, name)
    if not isinstance(record, dict):
        raise UnreadableError(f"{name} is not a JSON object.", REMEDY)
    return record


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)
