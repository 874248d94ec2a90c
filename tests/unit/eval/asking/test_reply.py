import json
from typing import Any

import pytest

from eval.asking.replies import read_reply
from eval.asking.target import NoReplyError

TREELINE = {
    "query_id": "q1",
    "generated_response": "The limit is 59.3 per cent. [1]",
    "citations": [
        {
            "number": 1,
            "doc_id": "wind.md",
            "chunk_id": "wind.md#00000",
            "start": 3,
            "end": 9,
            "quote": "limit ",
            "url": "http://x/documents/wind.md",
            "title": "Wind",
        }
    ],
    "contexts": ["At best 59.3 per cent."],
    "context_sources": [
        {
            "doc_id": "wind.md",
            "chunk_id": "wind.md#00000",
            "title": "Wind",
            "start": 0,
            "end": 22,
            "pages": [0, 1],
            "score": 0.5,
        }
    ],
    "answered": True,
    "gate_reason": "generated_answer",
    "synthesizer": "extractive",
    "warnings": ["low_confidence: Perhaps not."],
    "timings_ms": {"retrieve": 3.5, "total": 5.0},
    "fingerprint": "0123456789abcdef",
}


def read(**changes: Any) -> Any:
    return read_reply(json.dumps({**TREELINE, **changes}).encode(), "q1", 0.25)


def stranger(text: str | None, **extra: Any) -> Any:
    return read_reply(json.dumps({"query_id": "q1", "generated_response": text, **extra}).encode(), "q1", 0.25)


def test_our_reply_becomes_a_row_with_all_it_tells() -> None:
    row = read()

    assert (row.id, row.outcome, row.seconds, row.first_record_s) == ("q1", "answered", 0.25, None)
    assert row.low_confidence
    assert (row.reason, row.synthesizer, row.fingerprint) == ("generated_answer", "extractive", "0123456789abcdef")
    assert (row.citations[0].quote, row.citations[0].start, row.citations[0].end) == ("limit ", 3, 9)
    assert (row.passages[0].text, row.passages[0].doc_id, row.passages[0].pages) == (
        "At best 59.3 per cent.",
        "wind.md",
        (0, 1),
    )
    assert row.timings_ms == {"retrieve": 3.5, "total": 5.0}


def test_two_keys_are_enough() -> None:
    row = stranger("It is 42.")

    assert (row.outcome, row.answer, row.passages, row.fingerprint, row.warnings) == (
        "answered",
        "It is 42.",
        (),
        "",
        (),
    )


@pytest.mark.parametrize("text", ["I don't know.", "  i don’t know the answer", "I DON'T KNOW"])
def test_a_stranger_declines_by_its_words(text: str) -> None:
    assert stranger(text).outcome == "declined"


def test_our_service_declines_by_its_key() -> None:
    assert read(answered=False, generated_response="Nothing was found.").outcome == "declined"


@pytest.mark.parametrize("text", [None, "", " \n"])
def test_a_reply_without_text_counts_as_declined_and_says_so(text: str | None) -> None:
    row = stranger(text)

    assert row.outcome == "declined"
    assert [warning.partition(":")[0] for warning in row.warnings] == ["empty_reply"]


def test_extras_of_another_shape_are_left_out_and_told() -> None:
    row = stranger("So.", contexts="one text", timings_ms={"total": -1}, warnings=3, context_sources=[{}])

    assert (row.outcome, row.passages, row.timings_ms) == ("answered", (), {})
    assert sorted(warning.split("`")[1] for warning in row.warnings) == [
        "context_sources",
        "contexts",
        "timings_ms",
        "warnings",
    ]


def test_sources_that_are_not_one_a_context_are_left_out_and_the_texts_kept() -> None:
    row = read(context_sources=[])
    assert [(seen.text, seen.doc_id) for seen in row.passages] == [("At best 59.3 per cent.", "")]

    row = read(contexts=["one", "two"])
    assert [(seen.text, seen.doc_id) for seen in row.passages] == [("one", ""), ("two", "")]
    assert any("1 entries for 2 contexts" in warning for warning in row.warnings)


def test_bare_addresses_are_citations_by_their_place() -> None:
    row = stranger("So [2].", citations=["http://a/", "http://b/"])

    assert [(quote.number, quote.url) for quote in row.citations] == [(1, "http://a/"), (2, "http://b/")]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>Busy</html>", r"not JSON .* begins with '<html>Busy</html>'"),
        (b"", "not JSON"),
        (b'{"query_id": "q1", "generated_response": "\\ud800"}', "not JSON"),
        (b'{"query_id": "q1", "generated_response": "x", "timings_ms": {"total": NaN}}', "not JSON"),
        (b"[1]", "must be a JSON object"),
        (b'{"generated_response": "x"}', "query_id None; 'q1' was asked"),
        (b'{"query_id": "q2", "generated_response": "x"}', "query_id 'q2'; 'q1' was asked"),
        (b'{"query_id": "q1"}', "no generated_response that is a text"),
        (b'{"query_id": "q1", "generated_response": ["x"]}', "no generated_response that is a text"),
    ],
)
def test_what_is_no_reply_is_refused(body: bytes, message: str) -> None:
    with pytest.raises(NoReplyError, match=message) as caught:
        read_reply(body, "q1", 0.1)

    assert caught.value.lasting


def test_an_id_that_comes_back_as_a_number_is_the_same_id() -> None:
    assert read_reply(b'{"query_id": 7, "generated_response": "x"}', "7", 0.1).id == "7"
