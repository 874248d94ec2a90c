"""JSON Lines files: one record a line."""

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading import jsonl


def read(data: bytes) -> list[Document | UnreadableError]:
    return list(jsonl.read_jsonl(io.BytesIO(data), "dir/records.jsonl", len(data)))


def documents(*records: dict[str, Any]) -> list[Document]:
    found = read(b"\n".join(json.dumps(record).encode() for record in records))
    assert all(isinstance(item, Document) for item in found)
    return [item for item in found if isinstance(item, Document)]


def test_a_record_becomes_a_document() -> None:
    record = {
        "doc_id": "a1",
        "title": "A",
        "text": "One.\r\nTwo. ",
        "url": "https://example.org",
        "year": 2024,
        "tags": [],
    }

    assert documents(record) == [
        Document(
            "a1", "A", "One.\nTwo.", url="https://example.org", metadata={"year": 2024}, source="dir/records.jsonl"
        )
    ]


@pytest.mark.parametrize(
    ("record", "doc_id", "text", "title"),
    [
        *(({key: 7, "text": "x"}, "7", "x", "x") for key in ("doc_id", "id", "_id", "docid")),
        *(({"id": "a", key: "words"}, "a", "words", "words") for key in ("text", "contents", "body")),
        ({"id": "a", "text": " ", "body": "words"}, "a", "words", "words"),
        ({"text": "y", "id": None}, "dir/records.jsonl#000001", "y", "y"),
    ],
)
def test_ids_and_texts_have_several_names_and_what_is_missing_is_made_up(
    record: dict[str, Any], doc_id: str, text: str, title: str
) -> None:
    (document,) = documents(record)

    assert (document.doc_id, document.text, document.title) == (doc_id, text, title)


def test_only_web_addresses_are_kept() -> None:
    assert documents({"id": "a", "text": "x", "url": "javascript:alert(1)"})[0].url is None


def test_blank_lines_a_byte_order_mark_and_windows_line_ends_are_fine() -> None:
    found = read(b'\xef\xbb\xbf{"id":"a","text":"x"}\r\n\r\n  \n{"id":"b","text":"y"}')

    assert [item.doc_id for item in found if isinstance(item, Document)] == ["a", "b"]
    assert len(found) == 2


@pytest.mark.fault("D7")
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"id": "x", "text": ', "Line 2 is not valid JSON: Expecting value, column 20"),
        (b'{"id": "x", "text": "\xff"}', "Line 2 is not valid UTF-8"),
        (b'["a"]', "Line 2 is not a JSON object"),
        (b"{}", "Line 2 has no text in any of text, contents, body"),
        (b'{"id": "x"}', "Line 2 has no text in any of text, contents, body"),
        (b'{"id": "x", "text": 5}', "Line 2 has no text"),
        (b'{"id": "x", "text": " \\u0000\\ud800 "}', "Line 2 has no text"),
        (b'{"text": "x", "n": NaN}', "Line 2 holds a number that JSON does not allow"),
        (b"[" * 100_000, "Line 2 is nested too deeply"),
        (b'{"id": "' + b"x" * 501 + b'", "text": "x"}', "Line 2 has an id of over 500 characters"),
        (b'{"id": "first", "text": "again"}', "Line 2 repeats the id 'first' of line 1, which is kept"),
    ],
)
def test_a_bad_line_is_reported_by_its_number_and_the_others_go_on(line: bytes, reason: str) -> None:
    first, bad, last = read(b'{"id":"first","text":"x"}\n' + line + b'\n{"id":"last","text":"y"}\n')

    assert isinstance(first, Document)
    assert isinstance(bad, UnreadableError)
    assert bad.fact.startswith(reason)
    assert isinstance(last, Document)


@pytest.mark.fault("D28")
def test_lines_without_text_are_one_table_and_a_bad_one_is_reported() -> None:
    document, bad = sorted(read(b'{"tool":"Saw","shelf":"K4"}\n[7]\n{"tool":"Vice","shelf":"B1"}\n'), key=str)

    assert isinstance(document, Document)
    assert document.text == "tool: Saw\nshelf: K4\n\ntool: Vice\nshelf: B1"
    assert isinstance(bad, UnreadableError)


class EndlessLine(io.RawIOBase):
    """A file whose second line never fits; counts the largest piece that was ever asked for."""

    def __init__(self, size: int) -> None:
        self.left = size
        self.largest = 0
        self.lines: Iterator[bytes] = iter([b'{"id":"a","text":"x"}\n'])

    def readline(self, limit: int | None = -1, /) -> bytes:
        self.largest = max(self.largest, limit or 0)
        if line := next(self.lines, b""):
            return line
        if self.left:
            piece = min(self.left, limit or 0)
            self.left -= piece
            return b"x" * piece
        return b""


@pytest.mark.fault("D7")
def test_an_oversized_line_is_refused_by_its_number_in_bounded_memory() -> None:
    stream = EndlessLine(200_000_000)

    good, bad = jsonl.read_jsonl(stream, "a.jsonl", 300_000_000)  # type: ignore[arg-type]

    assert isinstance(good, Document)
    assert isinstance(bad, UnreadableError)
    assert bad.fact == "Line 2 is longer than 16 MB."
    assert stream.largest <= jsonl.MAX_LINE_BYTES + 1


@pytest.mark.fault("D8")
def test_what_is_appended_while_reading_belongs_to_the_next_run() -> None:
    line = b'{"id":"a","text":"x"}\n'

    assert len(list(jsonl.read_jsonl(io.BytesIO(line + b'{"id":"b"'), "a.jsonl", len(line)))) == 1


def test_records_are_read_one_at_a_time() -> None:
    line = b'{"id":"a","text":"x"}\n'
    stream = io.BytesIO(line * 1000)

    next(jsonl.read_jsonl(stream, "a.jsonl", 1000 * len(line)))

    assert stream.tell() == len(line)
