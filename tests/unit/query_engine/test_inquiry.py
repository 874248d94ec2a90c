"""The key under which an answer is kept."""

from dataclasses import replace

from query_engine.inquiry import Inquiry
from query_engine.retrieval.steering import Steering
from query_engine.runtime.deadline import Deadline
from query_engine.schema.manner import Manner
from query_engine.schema.turn import Turn


def test_everything_that_decides_an_answer_is_in_its_key() -> None:
    plain = Inquiry("What?", top_k=4)
    filters = {"filters": [{"key": "doc_id", "value": "a"}]}
    others = [
        Inquiry("Who?", top_k=4),
        replace(plain, filters=filters),
        replace(plain, steering=Steering("wind", 0.5)),
        replace(plain, top_k=5),
        replace(plain, turns=(Turn("user", "What is wind?"),)),
        replace(plain, query_time="2024-02-28"),
        replace(plain, mode="agent"),
        *(replace(plain, manner=one) for one in (Manner("Be brief."), Manner(max_tokens=9), Manner(temperature=0.5))),
    ]
    keys = [one.key("books", "f") for one in (plain, *others)]
    keys += [plain.key("papers", "f"), plain.key("books", "g")]

    assert len(set(keys)) == len(keys)
    assert replace(plain, filters=dict(filters)).key("books", "f") == keys[2]


def test_a_deadline_does_not_change_the_key() -> None:
    assert Inquiry("What?", deadline=Deadline(3)).key("books", "f") == Inquiry("What?").key("books", "f")
