import re

import pytest

from errors import IndexDamagedError
from query_engine.schema.events import Step, Token
from tests.fakes.engines import FakeEngine, a_citation, a_done
from tests.fakes.http import client_of, records_in

SCRIPT = (Step("search", "**Searching**"), Step("found", "**Found**"), Token("Wind."), a_done("Wind. [1]"))


@pytest.mark.promise("A11")
def test_the_answer_comes_as_unbuffered_server_sent_events() -> None:
    reply = client_of(FakeEngine(SCRIPT)).post("/run", json={"question": "What turns?"})

    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.headers["cache-control"] == "no-cache"
    assert reply.headers["x-accel-buffering"] == "no"
    assert "content-encoding" not in reply.headers
    assert re.fullmatch(r"(data: \{[^\n]*\}\n\n)+", reply.text)


def test_the_engine_is_asked_the_cleaned_question() -> None:
    engine = FakeEngine(SCRIPT)
    client_of(engine).post("/run", json={"question": "  Cafe\u0301?\n"})

    assert engine.questions == ["Café?"]


def test_unknown_fields_are_ignored() -> None:
    reply = client_of(FakeEngine(SCRIPT)).post("/run", json={"question": "What?", "session": {"id": 1}})

    assert records_in(reply.text)[-1]["complete"]


@pytest.mark.promise("G07")
def test_a_named_corpus_is_asked() -> None:
    chosen = FakeEngine(SCRIPT, corpus="energy")
    client_of(FakeEngine(SCRIPT), chosen).post("/run", json={"question": "What?", "corpus": "energy"})

    assert chosen.questions == ["What?"]


@pytest.mark.promise("A24")
def test_an_unknown_corpus_is_refused_before_the_stream() -> None:
    reply = client_of(FakeEngine(SCRIPT)).post("/run", json={"question": "What?", "corpus": "nowhere"})

    assert reply.status_code == 404
    assert reply.json()["code"] == "unknown_corpus"


@pytest.mark.promise("A24")
def test_a_damaged_index_is_refused_before_the_stream() -> None:
    damaged = {"default": IndexDamagedError("The index is damaged.", "Rebuild it.")}
    reply = client_of(failures=damaged).post("/run", json={"question": "What?"})

    assert reply.status_code == 503
    told = "The index is damaged. Rebuild it."
    assert reply.json() == {"error": told, "code": "index_damaged", "complete": True}


@pytest.mark.parametrize("path", ["/run", "/evaluate"])
def test_a_service_without_documents_says_so_in_an_answer(path: str) -> None:
    reply = client_of().post(path, json={"question": "What?", "query": "What?", "iid": "1"})

    assert reply.status_code == 200
    if path == "/run":
        last = records_in(reply.text)[-1]
        text = last["final_report"]
        assert "|||---|||" in last["intermediate_steps"]
    else:
        text = reply.json()["generated_response"]
    assert text.startswith("I don't know. This service has no documents yet.")
    assert "python -m ingestion PATH" in text


@pytest.mark.parametrize(
    ("public_url", "base"),
    [(None, "http://testserver/documents/"), ("https://guide.example/t", "https://guide.example/t/documents/")],
    ids=["the request's base URL", "the public URL"],
)
def test_citations_link_to_the_document_pages_of_this_service(public_url: str | None, base: str) -> None:
    done = a_done("A. [1] B. [2]", citations=(a_citation(1), a_citation(2, url="https://b.example/")))
    client = client_of(FakeEngine([*SCRIPT[:3], done]), serve={"public_url": public_url})

    last = records_in(client.post("/run", json={"question": "What?"}).text)[-1]

    assert last["citations"] == [f"{base}guide/wind.md?corpus=default&start=10&end=28#cited", "https://b.example/"]
