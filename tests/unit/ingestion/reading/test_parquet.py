"""Parquet files, written by the test."""

import io
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.parquet import read_parquet


def make(columns: dict[str, Any], schema: pa.Schema | None = None) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(pa.table(columns, schema=schema), buffer, row_group_size=100)
    return buffer.getvalue()


def read(data: bytes) -> list[Document | UnreadableError]:
    return list(read_parquet(io.BytesIO(data), "a.parquet"))


def test_a_row_becomes_a_document_with_scalars_and_lists_of_words_as_metadata() -> None:
    day = datetime(2024, 2, 29, 12, 0, 0, 1, tzinfo=UTC)
    columns = {
        "id": ["a"],
        "text": ["Words."],
        "url": ["https://example.org"],
        "score": [0.5],
        "tags": [["x", "y"]],
        "when": pa.array([day.timestamp() * 1e9 + 1], pa.float64()).cast(pa.int64()).cast(pa.timestamp("ns", "UTC")),
        "vector": [[0.1, 0.2]],
        "picture": [b"\x00"],
    }

    (document,) = read(make(columns))

    assert isinstance(document, Document)
    assert (document.doc_id, document.text, document.url) == ("a", "Words.", "https://example.org")
    assert document.metadata["tags"] == ["x", "y"]
    assert str(document.metadata["when"]).startswith("2024-02-29T12:00:00")
    assert document.metadata.keys() == {"score", "tags", "when"}


def test_rows_stream_through_row_groups_and_bad_ones_are_named() -> None:
    texts = [f"Text {n}." for n in range(1000)]
    texts[500] = " "

    found = read(make({"text": texts}))

    assert len(found) == 1000
    assert isinstance(found[500], UnreadableError)
    assert found[500].fact == "Row 501 has no text in any of text, contents, body."
    assert isinstance(found[999], Document)


@pytest.mark.fault("D28")
def test_a_table_without_a_column_of_text_is_one_document() -> None:
    (document,) = read(make({"tool": ["Saw", "Vice"], "price": [1, 2]}))

    assert isinstance(document, Document)
    assert document.text == "tool: Saw\nprice: 1\n\ntool: Vice\nprice: 2"


def test_rows_before_damage_are_kept() -> None:
    data = bytearray(make({"text": [f"Some text {n}." for n in range(1000)]}))
    place = len(data) // 2
    data[place : place + 400] = bytes(400)
    found: list[Document | UnreadableError] = []

    with pytest.raises(UnreadableError, match="damaged after row"):
        found.extend(read_parquet(io.BytesIO(bytes(data)), "a.parquet"))
