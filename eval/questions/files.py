"""Read rows of questions from a file: JSON lines or CSV, plain or packed with gzip or bzip2.

Flow: a file -> **here** -> rows as JSON -> a format -> **here** -> `Case`s. Told by content, never by name: packed
files by their first bytes, CSV by not beginning with `{`. Files are read as a stream: those with web pages are larger
than memory likes.

Strict, because a case that is skipped in silence moves every mean: the first bad row stops the reading. Whatever is
wrong with a file or a row raises BadCasesError, which names the line and says what to do.
"""

import bz2
import csv
import gzip
import io
import json
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar, overload

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from eval.cases import BadCasesError, Case

Value = TypeVar("Value", bound=BaseModel)
AnyCase = TypeVar("AnyCase", bound=Case)
Written = TypeVar("Written")

GZIP, BZIP2 = b"\x1f\x8b", b"BZh"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
UTF_8_MARK = b"\xef\xbb\xbf"
PIECE_BYTES = 1 << 20
AGAIN = "Copy or download the file again."
SAVE_AS_UTF_8 = "Save it as UTF-8."
QUOTE = "Put texts that hold commas or line breaks into quotes; a file that is not CSV has one JSON object a line."


class Record(NamedTuple):
    """One row.

    Attributes:
        place: where it stands, e.g. `Line 3 of questions.jsonl`; lines count from 1.
        json: the row as a JSON object.
        columns: its keys.
    """

    place: str
    json: str
    columns: tuple[str, ...]


@overload
def read_cases(path: Path) -> tuple[Case, ...]: ...
@overload
def read_cases(path: Path, kind: type[AnyCase]) -> tuple[AnyCase, ...]: ...
def read_cases(path: Path, kind: type[Case] = Case) -> tuple[Case, ...]:
    """Return the rows of a file whose columns are the fields of `Case` or a subclass; blank lines are passed over."""
    rows = ((record.place, record.json) for record in records(path))
    return collect(rows, kind.model_validate_json, str(path))


def collect(
    rows: Iterable[tuple[str, Written]],
    to_case: Callable[[Written], AnyCase | None],
    source: str,
    remedy: str = "A case is a JSON object with at least `id` and `question`.",
) -> tuple[AnyCase, ...]:
    """Return the cases of rows, in their order.

    Args:
        rows: where each row stands, e.g. `Line 3 of questions.jsonl`, and what stands there, e.g. its JSON.
        to_case: that -> its case, or None to leave it out.
        source: what is read, for messages.
        remedy: what to do about a row that is not a case.
    """
    cases: list[AnyCase] = []
    places: dict[str, str] = {}
    for place, row in rows:
        try:
            case = to_case(row)
        except ValidationError as error:
            raise BadCasesError(f"{place} is not a case ({first_fault(error)}).", remedy) from error
        if case and case.id in places:
            fact = f"{place} repeats the id {case.id!r} of {places[case.id].split(' of ')[0].lower()}."
            raise BadCasesError(fact, "Give each case a different id.")
        if case:
            cases.append(case)
            places[case.id] = place
    if not cases:
        raise BadCasesError(f"{source} holds no question.", "Name a file with one question a line.")
    return tuple(cases)


def first_fault(error: ValidationError) -> str:
    """Say what is wrong first, and in which field."""
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    fault = first["msg"].removeprefix("Value error, ")
    return f"`{field}`: {fault}" if field else fault


def records(path: Path) -> Iterator[Record]:
    """Yield the rows of a file in their order; blank lines are passed over."""
    with _opened(path) as stream:
        is_json = stream.peek().lstrip()[:1] in {b"{", b"[", b""}
        lines = _lines(stream, path)
        if is_json:
            yield from (Record(place, line, _keys(place, line)) for place, line in lines if line.strip())
        else:
            yield from _csv_rows((line for _, line in lines), path)


def text_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the lines that are not blank, without their ends, each after its place."""
    with _opened(path) as stream:
        yield from ((place, line.rstrip("\r\n")) for place, line in _lines(stream, path) if line.strip())


def check_whole(path: Path) -> None:
    """Read a file to its end: damage of a packed one may look like a wrong line at first, its checksum comes last."""
    with _unpacked(path) as stream:
        while stream.read(PIECE_BYTES):
            pass


def beginning(path: Path) -> str:
    """Return some first characters of a file, the first of which is not blank."""
    with _opened(path) as stream:
        return stream.peek().decode(errors="replace").lstrip()


def whole_json(path: Path, kind: type[Value], title: str) -> Value:
    """Return a file that is one JSON value."""
    with _opened(path) as stream:
        try:
            return kind.model_validate_json(stream.read())
        except ValidationError as error:
            raise BadCasesError(f"{path} is not a file of {title} ({first_fault(error)}).", AGAIN) from error


@contextmanager
def _opened(path: Path) -> Iterator[io.BufferedReader]:
    """Yield the bytes of a text behind its byte order mark."""
    with _unpacked(path) as stream:
        start = stream.peek()
        if start.startswith(UTF_16):
            raise BadCasesError(f"{path} is written in UTF-16.", SAVE_AS_UTF_8)
        if b"\0" in start:
            raise BadCasesError(f"{path} is not text.", "Unpack or export it: JSON lines or CSV, plain, gzip or bzip2.")
        stream.read(len(UTF_8_MARK) if start.startswith(UTF_8_MARK) else 0)
        yield stream


@contextmanager
def _unpacked(path: Path) -> Iterator[io.BufferedReader]:
    try:
        with path.open("rb") as file:
            stream = file
            if file.peek().startswith(GZIP):
                stream = io.BufferedReader(gzip.GzipFile(fileobj=file))
            elif file.peek().startswith(BZIP2):
                stream = io.BufferedReader(bz2.BZ2File(file))
            yield stream
    except FileNotFoundError as error:
        raise BadCasesError(f"There is no file {path}.", "Name a file of questions.") from error
    except (EOFError, OSError, zlib.error) as error:
        refused = error.strerror if isinstance(error, OSError) else None
        remedy = "Name a file that can be read." if refused else AGAIN
        raise BadCasesError(f"{path} cannot be read: {refused or error}.", remedy) from error


def _lines(stream: Iterable[bytes], path: Path) -> Iterator[tuple[str, str]]:
    for number, raw in enumerate(stream, start=1):
        place = f"Line {number} of {path}"
        try:
            line = raw.decode()
        except UnicodeDecodeError as error:
            raise BadCasesError(f"{place} is not UTF-8 (byte {error.start + 1}).", SAVE_AS_UTF_8) from error
        yield place, line


def _keys(place: str, line: str) -> tuple[str, ...]:
    """Return the keys of a line that is a JSON object."""
    why = ""
    try:
        value = from_json(line)
    except ValueError as error:  # its words name a line of the line
        value, why = None, f" ({str(error).replace('line 1 column', 'character')})"
    if isinstance(value, dict):
        return tuple(value)
    if line.lstrip().startswith("{") and not line.endswith("\n"):
        raise BadCasesError(f"{place}, the last, is torn: its object has no end.", AGAIN)
    if line.lstrip().startswith("["):
        raise BadCasesError(f"{place} begins a JSON list.", "Write one object a line, e.g. by `jq -c '.[]'`.")
    raise BadCasesError(f"{place} is not a JSON object{why}.", "Write one JSON object a line, or CSV with a header.")


def _csv_rows(lines: Iterable[str], path: Path) -> Iterator[Record]:
    csv.field_size_limit(sys.maxsize)
    rows = csv.reader(lines, strict=True)
    begins = 1
    try:
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
        raise BadCasesError(f"{path} is not CSV from line {begins} on: {error}.", QUOTE) from error
