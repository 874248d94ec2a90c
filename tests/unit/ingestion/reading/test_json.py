"""JSON files: records alone, in arrays, and as search services answer them."""

import base64
import json
from typing import Any

import pytest

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.json import read_json

CLUEWEB = {
    "URL": "https://example.org/wind\n",
    "URL-hash": "0A1B",
    "Language": "en",
    "Topic": "energy",
    "ClueWeb22-ID": "clueweb22-en0000-00-00001",
    "Clean-Text": "Wind turbines explained\nThey turn wind into electricity.",
}
FINEWEB = {"id": "<urn:uuid:0b1f>", "url": "https://example.org/sun", "text": "The sun shines.", "language_score": 0.9}


def read(content: Any) -> list[Document | UnreadableError]:
    return list(read_json(json.dumps(content).encode(), "dir/answer.json"))


def coded(record: dict[str, Any]) -> str:
    return base64.b64encode(json.dumps(record).encode()).decode()


def test_a_clueweb_record_becomes_a_document_with_a_title_people_can_read() -> None:
    assert read(CLUEWEB) == [
        Document(
            "clueweb22-en0000-00-00001",
            "Wind turbines explained",
            "Wind turbines explained\nThey turn wind into electricity.",
            url="https://example.org/wind",
            metadata={"url_hash": "0A1B", "language": "en", "topic": "energy"},
            source="dir/answer.json",
        )
    ]


@pytest.mark.parametrize("key", ["results", "documents", "data"])
def test_the_records_of_a_search_answer_are_read_plain_or_base64_coded(key: str) -> None:
    found = read({"took_ms": 12, key: [coded(CLUEWEB), FINEWEB]})

    assert [item.url for item in found if isinstance(item, Document)] == [
        "https://example.org/wind",
        "https://example.org/sun",
    ]


def test_an_array_of_records_is_read_and_bad_ones_are_named() -> None:
    found = read([FINEWEB, 7, "no base64!", coded(FINEWEB), {"id": "x"}])

    assert [item.fact for item in found if isinstance(item, UnreadableError)] == [
        "Record 2 is not a JSON object.",
        "Record 3 is a string, but no Base64-coded JSON.",
        "Record 4 repeats the id '<urn:uuid:0b1f>' of record 1, which is kept.",
        "Record 5 has no text in any of text, contents, body.",
    ]
    assert isinstance(found[0], Document)


def test_a_record_without_id_is_named_after_the_file() -> None:
    (document,) = read({"title": "T", "text": "x"})

    assert isinstance(document, Document)
    assert document.doc_id == "dir/answer.json"


def test_a_record_with_text_and_an_array_of_data_is_one_record() -> None:
    assert len(read({"id": "a", "text": "x", "data": [1, 2]})) == 1


@pytest.mark.fault("D28")
@pytest.mark.parametrize(
    ("content", "text"),
    [
        (
            [{"tool": "Saw", "at": {"shelf": "K4", "row": 2}}, {"tool": "Vice", "at": {"shelf": "B1", "row": None}}],
            "tool: Saw\nat.shelf: K4\nat.row: 2\n\ntool: Vice\nat.shelf: B1",
        ),
        ({"data": [{"tags": ["old", "red"], "sold": True}]}, "tags: old, red\nsold: yes"),
        ({"legs": [{"to": "Ulm"}, {"to": "Bonn"}], "driver": "Ada"}, "driver: Ada\n\n## legs\n\nto: Ulm\n\nto: Bonn"),
        ([{"name": "a", "vector": [0.5] * 384, "parts": [{"n": 1}, {"n": 2}]}], "name: a\nparts.1.n: 1\nparts.2.n: 2"),
    ],
    ids=["nested fields", "a list of words", "an object with a list", "a vector"],
)
def test_records_without_text_are_one_table(content: Any, text: str) -> None:
    (document,) = read(content)

    assert isinstance(document, Document)
    assert (document.doc_id, document.text) == ("dir/answer.json", text)


def test_a_row_of_such_a_table_keeps_the_names_of_its_fields() -> None:
    (document,) = read([{"tool": "Saw", "shelf": "K4"}, {"tool": "Vice", "shelf": "B1"}])

    assert isinstance(document, Document)
    rows = [block for block in document.structured().structure.blocks if block.kind == "row"]
    assert [row.columns for row in rows] == [("tool", "shelf")] * 2


def test_utf16_is_fine() -> None:
    (document,) = read_json(json.dumps(FINEWEB).encode("utf-16"), "a.json")

    assert isinstance(document, Document)
