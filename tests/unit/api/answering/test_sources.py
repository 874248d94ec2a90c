"""Where sources are set, questions without a corpus are answered from them; a corpus that is named is asked itself."""

import pytest

from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.http import client_of, records_in, refusal_in
from tests.fakes.sources import FakeAnswers

BODIES = {
    "/run": {"question": "What turns?"},
    "/evaluate": {"query": "What turns?", "iid": "1"},
    "/query": {"question": "What turns?"},
    "/query/stream": {"question": "What turns?"},
}


@pytest.mark.parametrize("route", BODIES)
@pytest.mark.parametrize("corpus", [{}, {"corpus": None}, {"corpus": "web"}])
def test_a_question_without_a_corpus_is_answered_from_the_sources(route: str, corpus: dict[str, str | None]) -> None:
    web, engine = FakeAnswers(), FakeEngine([a_done()])
    client = client_of(engine, web=web)

    reply = client.post(route, json={**BODIES[route], **corpus})

    assert reply.status_code == 200
    assert [inquiry.text for inquiry in web.inquiries] == ["What turns?"]
    assert not engine.inquiries


@pytest.mark.parametrize("route", BODIES)
def test_a_corpus_that_is_named_is_asked_itself(route: str) -> None:
    web, engine = FakeAnswers(), FakeEngine([a_done()])

    assert client_of(engine, web=web).post(route, json={**BODIES[route], "corpus": "default"}).status_code == 200
    assert engine.inquiries
    assert not web.inquiries


def test_the_steps_of_sources_are_shown() -> None:
    reply = client_of(web=FakeAnswers()).post("/run", json=BODIES["/run"])

    last = records_in(reply.text)[-1]
    assert last["intermediate_steps"].startswith("**Asking** *clueweb*")
    assert last["complete"]


@pytest.mark.parametrize(("mode", "loops"), [("single", 0), ("agent", 1), ("auto", 1)])
@pytest.mark.parametrize("route", BODIES)
def test_the_mode_of_a_question_holds_for_sources(route: str, mode: str, loops: int) -> None:
    web = FakeAnswers()

    assert client_of(web=web).post(route, json={**BODIES[route], "mode": mode}).status_code == 200
    assert web.loops == loops


def test_answers_from_sources_are_not_kept() -> None:
    web = FakeAnswers()
    client = client_of(web=web)

    hits = [client.post("/query", json=BODIES["/query"]).json()["cache_hit"] for _ in range(2)]

    assert hits == [False, False]
    assert len(web.inquiries) == 2


@pytest.mark.parametrize("route", BODIES)
def test_a_filter_without_meaning_is_refused_before_a_source_is_asked(route: str) -> None:
    web = FakeAnswers()

    assert client_of(web=web).post(route, json={**BODIES[route], "filters": {"filters": []}}).status_code == 422
    assert not web.inquiries


def test_without_sources_the_name_is_that_of_no_corpus() -> None:
    assert (
        client_of(FakeEngine([a_done()])).post("/query", json={**BODIES["/query"], "corpus": "web"}).status_code == 404
    )


def test_a_service_with_sources_is_ready_without_a_corpus() -> None:
    assert client_of().get("/ready").status_code == 503

    reply = client_of(web=FakeAnswers()).get("/ready")

    assert reply.status_code == 200
    assert reply.json()["sources"] == ["clueweb"]


def test_a_report_of_sources_is_refused() -> None:
    reply = client_of(web=FakeAnswers()).post("/run", json={**BODIES["/run"], "form": "report"})

    assert (reply.status_code, refusal_in(reply)["code"]) == (422, "bad_setting")
