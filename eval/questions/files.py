"""Read rows of questions from a file: JSON lines or CSV, plain or packed with gzip or bzip2.

Flow: a file -> **here** -> rows as JSON -> an adapter. Told by content, never by name: packed files by their first
bytes, CSV by not beginning with `{`. Files are read as a stream: those with web pages are larger than memory likes.
"""

import bz2
import csv
import gzip
import json
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from eval.cases import BadCasesError, first_fault

Value = TypeVar("Value", bound=BaseModel)

GZIP, BZIP2 = b"\x1f\x8b", b"BZh"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
PEEK_BYTES = 4096
PIECE_BYTES = 1 << 20
UTF_8_MARK = b"\xef\xbb\xbf"
DAMAGED = (EOFError, OSError, zlib.error)
AGAIN = "Copy or download the file again."
SAVE_AS_UTF_8 = "Save it as UTF-8."
QUOTE = "Put texts that hold commas or line breaks into quotes; a file that is no CSV has one JSON object a line."


@dataclass(frozen=True, slots=True)
class Record:
    """One row.

    Attributes:
        place: where it stands, e.g. `Line 3 of questions.jsonl`; lines count from 1.
        json: the row as a JSON object.
        columns: its keys.
    """

    place: str
    json: str
    columns: tuple[str, ...]


def records(path: Path) -> Iterator[Record]:
    """Yield the rows of a file in their order; blank lines are passed over.

    Raises:
        BadCasesError: the file cannot be read, is damaged or no UTF-8, or a line is no JSON object or no row of CSV.
    """
    with _opened(path) as stream:
        first = _first_character(stream, path)
        yield from _json_rows(stream, path) if first in {"{", "[", ""} else _csv_rows(stream, path)


def check_whole(path: Path) -> None:
    """Read a packed file to its end: damage may look like a wrong line at first, its checksum comes last.

    Raises:
        BadCasesError: it is damaged.
    """
    with _opened(path) as stream:
        while isinstance(stream, gzip.GzipFile | bz2.BZ2File) and stream.read(PIECE_BYTES):
            pass


def text_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the lines that are not blank, without their ends, each after its place.

    Raises:
        BadCasesError: the file cannot be read, is damaged or no UTF-8.
    """
    with _opened(path) as stream:
        _first_character(stream, path)
        for number, raw in enumerate(stream, start=1):
            place = f"Line {number} of {path}"
            if raw.strip():
                yield place, _decoded(raw, place).rstrip("\r\n")


def first_key(path: Path) -> str:
    """Return the first key of a file that begins as a JSON object; empty for any other file."""
    with _opened(path) as stream:
        _first_character(stream, path)
        found = re.match(rb'\s*\{\s*"(\w+)"', stream.peek(PEEK_BYTES))  # type: ignore[attr-defined]  # as below
        return found[1].decode() if found else ""


def whole_json(path: Path, kind: type[Value], title: str) -> Value:
    """Return a file that is one JSON value.

    Raises:
        BadCasesError: the file cannot be read or is damaged, or the value is of another kind.
    """
    with _opened(path) as stream:
        _first_character(stream, path)
        try:
            return kind.model_validate_json(stream.read())
        except ValidationError as error:
            raise BadCasesError(f"{path} is not a file of {title} ({first_fault(error)}).", AGAIN) from error


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        with path.open("rb") as file:
            start = file.read(3)
            file.seek(0)
            if start.startswith(GZIP):
                yield cast(IO[bytes], gzip.GzipFile(fileobj=file))
            elif start.startswith(BZIP2):
                yield cast(IO[bytes], bz2.BZ2File(file))
            else:
                yield file
    except FileNotFoundError as error:
        raise BadCasesError(f"There is no file {path}.", "Name a file of questions.") from error
    except DAMAGED as error:
        refused = error.strerror if isinstance(error, OSError) else None
        remedy = "Name a file that can be read." if refused else AGAIN
        raise BadCasesError(f"{path} cannot be read: {refused or error}.", remedy) from error


def _first_character(stream: IO[bytes], path: Path) -> str:
    start: bytes = stream.peek(PEEK_BYTES)[:PEEK_BYTES]  # type: ignore[attr-defined]  # these three readers have it
    if start.startswith(UTF_16):
        raise BadCasesError(f"{path} is written in UTF-16.", SAVE_AS_UTF_8)
    if b"\0" in start:
        raise BadCasesError(f"{path} is not text.", "Unpack or export it: JSON lines or CSV, plain, gzip or bzip2.")
    if start.startswith(UTF_8_MARK):
        stream.read(len(UTF_8_MARK))
    return start.removeprefix(UTF_8_MARK).lstrip()[:1].decode("latin-1")


def _json_rows(stream: IO[bytes], path: Path) -> Iterator[Record]:
    for number, raw in enumerate(stream, start=1):
        place = f"Line {number} of {path}"
        if raw.strip():
            line = _decoded(raw, place)
            yield Record(place, line, tuple(_object(line, place, torn=not raw.endswith(b"\n"))))


def _decoded(raw: bytes, place: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadCasesError(f"{place} is no UTF-8 (byte {error.start + 1}).", SAVE_AS_UTF_8) from error


def _object(line: str, place: str, *, torn: bool) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        if torn and line.lstrip().startswith("{"):
            raise BadCasesError(f"{place}, the last, is torn: its object has no end.", AGAIN) from error
        value, why = None, f" ({why_no_json(error)})"
    else:
        why = ""
    if isinstance(value, dict):
        return value
    if line.lstrip().startswith("["):
        raise BadCasesError(f"{place} begins a JSON list.", "Write one object a line, e.g. by `jq -c '.[]'`.")
    raise BadCasesError(f"{place} is no JSON object{why}.", "Write one JSON object a line, or CSV with a header.")


def why_no_json(error: Exception) -> str:
    """Say what is wrong with a line, and where; the parser's own words name a line of the line."""
    return f"{error.msg}, character {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)


def _csv_rows(stream: IO[bytes], path: Path) -> Iterator[Record]:
    begins = 1
    before = csv.field_size_limit(sys.maxsize)
    try:
        lines = (_decoded(raw, f"Line {number} of {path}") for number, raw in enumerate(stream, start=1))
        rows = csv.reader(lines, strict=True)
        header = next(rows)
        if len(set(header)) < len(header):
            raise BadCasesError(f"The header of {path} names a column twice.", "Give each column a different name.")
        begins = rows.line_num + 1
        for row in rows:
            place = f"Line {begins} of {path}"
            if len(row) == len(header):
                yield Record(place, json.dumps(dict(zip(header, row, strict=True))), tuple(header))
            elif row:
                raise BadCasesError(f"{place} has {len(row)} columns where the header names {len(header)}.", QUOTE)
            begins = rows.line_num + 1
    except csv.Error as error:
        raise BadCasesError(f"{path} is no CSV from line {begins} on: {error}.", QUOTE) from error
    finally:
        csv.field_size_limit(before)
