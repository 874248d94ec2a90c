import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errors import LLMError
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Step, Token, Unsupported
from tests.fakes.engines import ORIGIN, FakeEngine, a_done, a_nearest, a_passage
from tests.fakes.http import client_of, records_in

STEPS = (Step("search", "**Searching**"), Step("found", "**Found**"))


@pytest.mark.promise("A07")
def test_the_reply_carries_the_answer_and_what_an_evaluation_needs() -> None:
    done = a_done(warnings=(AnswerWarning("llm_failed", "The model broke."),))
    reply = client_of(FakeEngine([*STEPS, Token("W"), done])).post("/evaluate", json={"query": "What?", "iid": "7"})

    assert reply.json() == {
        "query_id": "7",
        "generated_response": "Wind turns blades. [1]",
        "citations": [
            {
                "number": 1,
                "doc_id": "guide/wind.md",
                "chunk_id": "guide/wind.md#00002",
                "start": 10,
                "end": 28,
                "quote": "Wind turns blades.",
                "url": "http://testserver/documents/guide/wind.md?corpus=default&start=10&end=28#cited",
                "title": "Wind",
                "marks": [],
            }
        ],
        "contexts": [a_passage().text],
        "context_sources": [
            {
                "doc_id": "guide/wind.md",
                "chunk_id": "guide/wind.md#00002",
                "title": "Wind",
                "start": 10,
                "end": 28,
                "pages": [0],
                "score": 0.9,
                **ORIGIN,
            }
        ],
        "answered": True,
        "gate_reason": "generated_answer",
        "decline_text": None,
        "unsupported": [],
        "synthesizer": "extractive",
        "warnings": ["llm_failed: The model broke."],
        "timings_ms": {"retrieve": 3.0, "total": 5.0},
        "fingerprint": "0123456789abcdef",
        "answer_id": None,
    }


@pytest.mark.parametrize("sent", [{"top_k": 4}, {}])
def test_the_answer_is_written_from_as_many_passages_as_are_wanted(sent: dict[str, int]) -> None:
    engine = FakeEngine([*STEPS, a_done()])

    assert client_of(engine).post("/evaluate", json={"query": "What?", "iid": "7", **sent}).status_code == 200
    assert [inquiry.top_k for inquiry in engine.inquiries] == [sent.get("top_k")]


@pytest.mark.promise("A05")
def test_a_declined_question_gets_a_sentence_and_is_marked() -> None:
    declined = a_done(None, nearest=(a_nearest(),))
    reply = client_of(FakeEngine([*STEPS, declined])).post("/evaluate", json={"query": "What?", "iid": "7"}).json()

    assert reply["generated_response"] == "I don't know. The passages found do not answer this."
    assert (reply["answered"], reply["citations"], reply["synthesizer"]) == (False, [], None)


def test_a_model_s_own_decline_is_the_response() -> None:
    said = "I don't know: the guide names no price."
    declined = replace(a_done(None, message=said), decline_text=said)
    reply = client_of(FakeEngine([*STEPS, declined])).post("/evaluate", json={"query": "What?", "iid": "7"}).json()

    assert (reply["generated_response"], reply["decline_text"], reply["answered"]) == (said, said, False)


def test_places_of_what_no_source_holds_are_those_of_the_response() -> None:
    done = replace(a_done("Port 8443. [1]"), unsupported=(Unsupported(5, 9, "8443"),))
    client = client_of(FakeEngine([*STEPS, done]))
    reply = client.post("/evaluate", json={"query": "What?", "iid": "7"}).json()

    (place,) = reply["unsupported"]
    assert reply["generated_response"][place["start"] : place["end"]] == place["text"] == "8443"


@pytest.mark.promise("A22")
def test_it_says_what_run_says() -> None:
    client = client_of(FakeEngine([*STEPS, Token("Wind "), Token("turns."), a_done("Wind turns.")]))

    streamed = records_in(client.post("/run", json={"question": "What?"}).text)[-1]["final_report"]

    assert client.post("/evaluate", json={"query": "What?", "iid": "7"}).json()["generated_response"] == streamed


@pytest.mark.promise("A03")
@given(st.text(st.characters(exclude_categories=())))
def test_any_id_comes_back_as_it_was_sent(iid: str) -> None:
    body = json.dumps({"query": "What?", "iid": iid})
    reply = client_of(FakeEngine([*STEPS, a_done()])).post(
        "/evaluate", content=body, headers={"content-type": "application/json"}
    )

    assert reply.status_code == 200
    # Both sides of the wire are JSON, where a high and a low half next to each other are one character.
    assert reply.json()["query_id"] == json.loads(body)["iid"]


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [(LLMError("The model broke.", "Restart it."), 503, "llm_failed"), (KeyError("secret"), 500, "internal")],
    ids=["foreseen", "a bug"],
)
def test_a_failure_is_an_error_and_no_answer(failure: Exception, status: int, code: str) -> None:
    reply = client_of(FakeEngine([*STEPS, failure])).post("/evaluate", json={"query": "What?", "iid": "7"})

    assert reply.status_code == status
    assert reply.json()["error"]["code"] == code
    assert "secret" not in reply.text
