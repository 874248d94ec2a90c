"""The mode of an answer: by setting, by request, by the name of a model; and the links in the steps of its rounds."""

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from query_engine.schema.events import Nearest, Token
from research.schema import FoundDocument, Review, Round
from research.steps import round_done
from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.http import client_of

QUESTION = "What turns?"
PLACE = Nearest("guide/wind.md", "Wind", None, 10, 28, "Wind turns blades.")
ROUND = round_done(Round(1, (QUESTION,), (FoundDocument(PLACE),), Review((), "", sufficient=True)))
SCRIPT = (ROUND, Token("Wind turns blades. [1]"), a_done())
LINK = "[Wind](http://testserver/documents/guide/wind.md?corpus=default&start=10&end=28#cited)"


def bodies(**fields: Any) -> dict[str, dict[str, Any]]:
    return {
        "/run": {"question": QUESTION, **fields},
        "/evaluate": {"query": QUESTION, "iid": "1", **fields},
        "/query": {"question": QUESTION, **fields},
        "/query/stream": {"question": QUESTION, **fields},
    }


def modes_asked(engine: FakeEngine) -> list[str]:
    return [inquiry.mode for inquiry in engine.inquiries]


@pytest.mark.parametrize("route", bodies())
def test_a_request_chooses_its_mode_and_the_setting_is_the_default(route: str) -> None:
    engine = FakeEngine(SCRIPT)
    client = client_of(engine, cache={"entries": 0})
    assert client.post(route, json=bodies()[route]).status_code == 200
    assert client.post(route, json=bodies(mode="agent")[route]).status_code == 200
    assert client.post(route, json=bodies(mode="fast")[route]).status_code == 422
    assert modes_asked(engine) == ["single", "agent"]
    assert [gather is None for gather in engine.gathers] == [True, False]

    engine = FakeEngine(SCRIPT)
    client = client_of(engine, cache={"entries": 0}, answer={"mode": "agent"})
    client.post(route, json=bodies()[route])
    client.post(route, json=bodies(mode="single")[route])
    assert modes_asked(engine) == ["agent", "single"]


def chat(client: TestClient, model: str, **fields: Any) -> Any:
    body = {"model": model, "messages": [{"role": "user", "content": QUESTION}], **fields}
    return client.post("/v1/chat/completions", json=body)


def test_the_name_of_a_model_chooses_the_mode() -> None:
    engine = FakeEngine(SCRIPT)
    client = client_of(engine, cache={"entries": 0})

    replies = [chat(client, model) for model in ("default", "default:agent", "default:auto", "default:single")]

    assert [reply.json()["model"] for reply in replies][1] == "default:agent"
    assert modes_asked(engine) == ["single", "agent", "auto", "single"]
    refused = chat(client, "default:fast")
    assert refused.status_code == 404
    assert ":agent" in refused.json()["error"]["message"]


def test_answers_of_different_modes_are_kept_apart() -> None:
    engine = FakeEngine(SCRIPT)
    client = client_of(engine)

    for mode in ("single", "agent", "single", "agent"):
        client.post("/query", json=bodies(mode=mode)["/query"])

    assert modes_asked(engine) == ["single", "agent"]


@pytest.mark.parametrize("route", ["/run", "/query/stream"])
def test_a_round_is_a_step_whose_titles_are_links(route: str) -> None:
    told = client_of(FakeEngine(SCRIPT)).post(route, json=bodies()[route]).text

    assert json.dumps(f"- {LINK}: “Wind turns blades.”")[1:-1] in told
    assert json.dumps(f"**Round 1** searched for “{QUESTION}”")[1:-1] in told


@pytest.mark.parametrize("stream", [True, False])
def test_a_round_is_reasoning_in_chat(stream: bool) -> None:
    told = chat(client_of(FakeEngine(SCRIPT)), "default:agent", stream=stream).text

    assert LINK in told
