"""The clients that judge the service are judged themselves: each broken stream or file has to be noticed."""

import json
from typing import Any

import pytest

from tests.e2e import official
from tests.e2e.arena import Arena, violations

STEPS = "a\n|||---|||\nb"


def record(**changes: Any) -> dict[str, Any]:
    return {"intermediate_steps": STEPS, "final_report": None, "is_intermediate": True, "complete": False, **changes}


THINKING = record()
ANSWERING = record(final_report="Wind. [1]", is_intermediate=False)
LAST = {**ANSWERING, "complete": True, "citations": ["https://a.example/"]}
GOOD = [THINKING, ANSWERING, LAST]


def body_of(*records: dict[str, Any]) -> bytes:
    return b": ping\n\n" + b"".join(f"data: {json.dumps(r)}\n\n".encode() for r in records)


def test_a_good_stream_breaks_no_rule() -> None:
    assert violations(body_of(*GOOD)) == []


@pytest.mark.parametrize(
    ("records", "complaint"),
    [
        ([], "There is no record"),
        ([THINKING, ANSWERING, THINKING, LAST], "goes back"),
        ([THINKING, LAST], "no record between"),
        ([{**r, "intermediate_steps": "a"} for r in GOOD], "fewer than two steps"),
        ([THINKING, ANSWERING, {**LAST, "citations": ["https://a.example/", "https://b.example/"]}], "2 citations"),
        ([THINKING, ANSWERING, {**LAST, "final_report": "Wind. [1]" + "x" * 70_000}], "a line of"),
        ([{**THINKING, "phase": 1}, ANSWERING, LAST], "unknown key phase"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_broken_rule_is_noticed(records: list[dict[str, Any]], complaint: str) -> None:
    assert complaint in "; ".join(violations(body_of(*records)))


def test_a_line_that_is_no_data_is_noticed() -> None:
    assert violations(b"event: done\n" + body_of(*GOOD)) == ["a line that is neither data nor a ping"]


def test_in_the_arena_each_record_replaces_the_one_before_and_nulls_change_nothing() -> None:
    arena = Arena().read([body_of(*GOOD[:2], record(is_intermediate=False, intermediate_steps=None), LAST)])

    assert (arena.report, arena.shown_steps(), arena.complete) == ("Wind. [1]", ["a", "b"], True)


def test_in_the_arena_the_mere_key_error_takes_the_answer_away() -> None:
    arena = Arena().read([body_of(THINKING, {**ANSWERING, "error": None}, LAST)])

    assert (arena.failed, arena.report, arena.complete) == (True, None, False)


def test_in_the_arena_nothing_after_complete_counts() -> None:
    arena = Arena().read([body_of(*GOOD, {**LAST, "final_report": "late"})])

    assert arena.report == "Wind. [1]"


def test_in_the_arena_equal_addresses_become_one_and_the_marks_follow() -> None:
    last = {**LAST, "final_report": "A [1] B [2] C %[3]%", "citations": ["https://a/", "https://a/", "https://b/"]}

    assert Arena().read([body_of(last)]).shown_report() == ("A [1] B [1] C [2]", ["https://a/", "https://b/"])


def test_the_arena_reads_a_stream_cut_anywhere() -> None:
    body = body_of(*GOOD)

    for size in (1, 7, 64):
        assert Arena().read(body[i : i + size] for i in range(0, len(body), size)).report == "Wind. [1]"


def test_the_tester_refuses_empty_answers_and_ids_that_stand_twice() -> None:
    good = {"query_id": "1", "generated_response": "x"}

    assert official.faults([good, {**good, "query_id": "2"}]) == []
    assert official.faults([good, good]) == ["id '1' stands there 2 times"]
    assert official.faults([{**good, "generated_response": " \n"}]) == ["empty answer to '1'"]


def test_the_tester_refuses_a_changed_id_and_a_missing_answer() -> None:
    assert official.accepts({"query_id": "1", "generated_response": "x", "contexts": []}, "1")
    assert not official.accepts({"query_id": "01", "generated_response": "x"}, "1")
    assert not official.accepts({"query_id": "1", "generated_response": None}, "1")
