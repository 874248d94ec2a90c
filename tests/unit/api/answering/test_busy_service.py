"""What clients see of a service that has no room, on every route that asks."""

from typing import Any

import pytest

from query_engine.runtime.deadline import Deadline
from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.http import client_of, records_in, refusal_in

QUESTION = "What turns?"
ROUTES: dict[str, dict[str, Any]] = {
    "/run": {"question": QUESTION},
    "/evaluate": {"query": QUESTION, "iid": "1"},
    "/retrieve": {"question": QUESTION},
    "/vector": {"question": QUESTION},
    "/hybrid": {"question": QUESTION},
    "/agent/research": {"topic": QUESTION},
    "/react": {"question": QUESTION},
    "/react_streaming": {"question": QUESTION},
    "/query": {"question": QUESTION},
    "/query/stream": {"question": QUESTION},
}


@pytest.mark.fault("B4")
@pytest.mark.parametrize("route", ROUTES)
def test_a_full_service_refuses_before_any_work(route: str) -> None:
    engine = FakeEngine([a_done()])
    client = client_of(engine, serve={"slots": 1, "queue": 0})
    client.app.state.service.slots.enter(Deadline(240))  # type: ignore[attr-defined]  # a FastAPI application

    reply = client.post(route, json=ROUTES[route])

    assert reply.status_code == 429
    assert refusal_in(reply)["code"] == "too_many_questions"
    assert int(reply.headers["retry-after"]) > 0
    assert engine.questions == []
    assert engine.paper_search.questions == []


@pytest.mark.parametrize("route", ROUTES)
def test_every_question_gives_its_slot_back(route: str) -> None:
    client = client_of(FakeEngine([a_done()]), serve={"slots": 1, "queue": 0})

    replies = [client.post(route, json=ROUTES[route]) for _ in range(3)]

    # ASK-xDD's routes say 404 where nothing is found.
    assert {reply.status_code for reply in replies} <= {200, 404}


@pytest.mark.fault("B4")
@pytest.mark.parametrize(("route", "status"), [("/retrieve", 503), ("/vector", 503), ("/evaluate", 200)])
def test_who_waits_too_long_is_told_so(route: str, status: int) -> None:
    client = client_of(FakeEngine([a_done()]), serve={"slots": 1}, answer={"deadline_s": 0.05})
    client.app.state.service.slots.enter(Deadline(240))  # type: ignore[attr-defined]  # a FastAPI application

    reply = client.post(route, json=ROUTES[route])

    assert reply.status_code == status
    assert "out_of_time" in reply.text
    assert ("retry-after" in reply.headers) == (status == 503)


def test_who_waits_too_long_for_a_stream_reads_the_steps_that_led_there() -> None:
    client = client_of(FakeEngine([a_done()]), serve={"slots": 1}, answer={"deadline_s": 0.05})
    client.app.state.service.slots.enter(Deadline(240))  # type: ignore[attr-defined]  # a FastAPI application

    *_, last = records_in(client.post("/run", json=ROUTES["/run"]).text)

    assert last["complete"]
    assert "error" not in last
    assert last["final_report"].startswith("I don't know. The service was too busy")
    assert "**Waiting** for 1 question" in last["intermediate_steps"]
    assert "**Out of time**" in last["intermediate_steps"]
