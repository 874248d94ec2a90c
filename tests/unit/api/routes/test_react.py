import json
from dataclasses import replace
from typing import Any

import pytest

from errors import LLMError
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Nearest, Retrieved, Step, Token, Unsupported
from research.schema import FoundDocument, Review, Round
from research.steps import round_done
from tests.fakes.engines import FakeEngine, a_done, a_passage
from tests.fakes.http import client_of

ROUTES = ["/react", "/react_streaming"]
ASK: dict[str, Any] = {"question": "What is SIDARTHE model?"}
PASSAGE = a_passage()
ROUND = round_done(
    Round(
        1,
        ("What is SIDARTHE model?",),
        (FoundDocument(Nearest(PASSAGE.doc_id, "Wind", None, 10, 28, "Wind turns blades.")),),
        Review((PASSAGE,), "", sufficient=True),
    )
)
SCRIPT = (Step("search", "**Searching**"), ROUND, Retrieved((PASSAGE,)), Token("Wind turns blades. [1]"), a_done())


def lines_of(body: str) -> list[dict[str, Any]]:
    assert body.endswith("\n")
    return [json.loads(line) for line in body.splitlines()]


def test_the_reply_is_an_answer_and_the_paragraphs_it_was_written_from() -> None:
    reply = client_of(FakeEngine(SCRIPT)).post("/react", json=ASK)

    assert reply.status_code == 200
    # The script searched nothing.
    assert reply.json() == {"answer": "Wind turns blades. [1]", "used_docs": [], "unsupported": [], "warnings": []}


@pytest.mark.promise("C02")
def test_a_stream_tells_thoughts_then_documents_then_the_answer() -> None:
    reply = client_of(FakeEngine(SCRIPT)).post("/react_streaming", json=ASK)

    assert reply.headers["content-type"].startswith("application/x-ndjson")
    records = lines_of(reply.text)
    assert [next(iter(record)) for record in records] == ["thoughts", "thoughts", "used_docs", "answer"]
    assert records[0] == {"thoughts": "**Searching**"}
    assert "**Round 1**" in records[1]["thoughts"]
    assert records[-1] == {"answer": "Wind turns blades. [1]"}


def test_a_declined_question_says_so_without_documents() -> None:
    engine = FakeEngine([a_done(None)])

    assert client_of(engine).post("/react", json=ASK).json() == {
        "answer": "I don't know. The passages found do not answer this.",
        "used_docs": [],
        "unsupported": [],
        "warnings": [],
    }


def test_what_no_source_holds_is_named() -> None:
    done = replace(a_done("Port 8443. [1]"), unsupported=(Unsupported(5, 9, "8443"),))

    assert client_of(FakeEngine([done])).post("/react", json=ASK).json()["unsupported"] == ["8443"]


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    "named", [{"model_name": "gpt-5"}, {"writer": "gpt-5"}, {"writer": "gpt-5", "model_name": "gpt-4"}]
)
def test_a_model_that_is_not_configured_is_refused_by_its_name(route: str, named: dict[str, str]) -> None:
    engine = FakeEngine(SCRIPT)

    reply = client_of(engine).post(route, json=ASK | named)

    assert reply.status_code == 422
    assert reply.json()["error"]["code"] == "unknown_writer"
    assert "'gpt-5'" in reply.json()["error"]["detail"]
    assert engine.questions == []


QWEN = {"provider": "openai", "base_url": "http://localhost:1/v1", "model": "Qwen/Qwen3-8B"}


@pytest.mark.parametrize(("llm", "writer"), [({}, "quotes"), (QWEN, "Qwen/Qwen3-8B")])
def test_the_default_of_ask_xdd_is_answered_by_what_is_set_here_and_told(llm: dict[str, str], writer: str) -> None:
    client = client_of(FakeEngine(SCRIPT), llm=llm)
    whole, streamed = (client.post(route, json=ASK | {"model_name": "gpt-4"}) for route in ROUTES)

    assert whole.json()["answer"] == "Wind turns blades. [1]"
    (warning,) = whole.json()["warnings"]
    assert "gpt-4" in warning
    assert writer in warning
    assert lines_of(streamed.text)[0] == {"thoughts": warning}
    assert all(warning in reply.headers["warning"] for reply in (whole, streamed))


def test_what_lowered_the_quality_of_an_answer_is_told() -> None:
    done = a_done(warnings=(AnswerWarning("passages_left_out", "The window is small."),))

    assert client_of(FakeEngine([done])).post("/react", json=ASK).json()["warnings"] == [
        "passages_left_out: The window is small."
    ]


def test_a_model_that_is_called_like_the_default_is_used_without_a_word() -> None:
    client = client_of(FakeEngine(SCRIPT), llm=QWEN | {"model": "gpt-4"})
    reply = client.post("/react", json=ASK | {"model_name": "gpt-4"})

    assert (reply.json()["warnings"], "warning" in reply.headers) == ([], False)


def test_the_configured_model_may_be_named_and_left_out() -> None:
    client = client_of(FakeEngine(SCRIPT), llm=QWEN)

    assert client.post("/react", json=ASK | {"model_name": "Qwen/Qwen3-8B"}).status_code == 200
    assert client.post("/react", json=ASK | {"model_name": None}).status_code == 200
    refused = client.post("/react", json=ASK | {"model_name": "other"}).json()["error"]["detail"]
    assert "Qwen/Qwen3-8B, quotes" in refused


@pytest.mark.parametrize("route", ROUTES)
def test_the_obsolete_field_is_told(route: str) -> None:
    reply = client_of(FakeEngine(SCRIPT)).post(route, json={**ASK, "article_terms": ["old"]})

    assert "article_terms is obsolete" in reply.headers["warning"]


def test_a_failure_after_the_first_line_ends_the_stream_with_an_error() -> None:
    for failure, code in ((LLMError("It broke.", "Mend it."), LLMError.code), (ValueError("x"), "internal")):
        *_, last = lines_of(client_of(FakeEngine([Step("search", "S"), failure])).post(ROUTES[1], json=ASK).text)

        assert last["error"]["code"] == code


def test_a_question_asks_for_several_searches_under_any_settings() -> None:
    engine = FakeEngine(SCRIPT)
    client_of(engine).post("/react", json=ASK)

    assert [inquiry.mode for inquiry in engine.inquiries] == ["agent"]
    assert engine.gathers[0] is not None
