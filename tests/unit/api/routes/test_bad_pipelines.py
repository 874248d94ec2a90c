"""What clients of `/task` and `/pipeline` may get wrong: refused with step and reason, or an empty result saying so."""

import json
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from pipelines.build import Pipelines
from tests.fakes.http import client_of
from tests.fakes.pipelines import a_registry, an_engine, body_of, scripted
from tests.fakes.sources import FakePageAnswers

SOURCE = "corpus_datasource"
EVERY_STEP_BUT_MODELS = [
    "language_detection",
    "stopword_removal",
    ("punctuation_removal", {"process_query": "Yes"}),
    "text_stemmer",
    "tf_idf_reranker",
    "embedding_reranker",
    ("label_filter", {"labels_column": "doc_id", "filter_by": "x"}),
    "word_counter",
    "relevance_marking_step",
    "llm_summarizer",
    ("all_results_summarizer", {}),
    ("reduction_step", {"k": 3}),
]


@pytest.fixture
def client() -> TestClient:
    return client_of(an_engine(), given=FakePageAnswers())


def refused(client: TestClient, body: object, path: str = "/task/run") -> str:
    content = json.dumps(body).encode()
    reply = client.post(path, content=content, headers={"Content-Type": "application/json"})
    assert reply.status_code == 422, reply.text
    return str(reply.json()["error"]["detail"])


def finished(client: TestClient, body: object) -> dict[str, Any]:
    reply = client.post("/task/run", json=body)
    assert reply.status_code == 200, reply.text
    shown: dict[str, Any] = reply.json()
    return shown


@pytest.mark.parametrize("number", ["9" * 5000, "1" + "0" * 4400, "-1", "1.5", "١", "²", "", " 1", "1 "])
def test_a_step_number_that_is_none_is_refused(client: TestClient, number: str) -> None:
    told = refused(client, {"query": "q", "1": {"id": SOURCE}, number: {"id": "word_counter"}})

    assert "unknown key" in told or "there is a gap" in told
    assert len(told) < 400


@pytest.mark.parametrize("step", [None, 3, "corpus_datasource", [], {}, {"id": None}, {"id": 3}, {"id": []}])
def test_a_step_that_is_none_is_refused_with_its_number(client: TestClient, step: object) -> None:
    assert refused(client, {"query": "q", "1": {"id": SOURCE}, "2": step}).startswith("Step 2 has no id")


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ((SOURCE, {"limit": float("nan")}), "parameter 'limit' is not valid"),
        ((SOURCE, {"limit": float("inf")}), "parameter 'limit' is not valid"),
        ((SOURCE, {"limit": True}), None),
        ((SOURCE, {"limit": "many"}), "parameter 'limit' is not valid"),
        ((SOURCE, {"output_column": "a\nb"}), "parameter 'output_column' is not valid"),
        ((SOURCE, {"output_column": "\ud800"}), "parameter 'output_column' is not valid"),
        ((SOURCE, {"output_column": "x" * 101}), "parameter 'output_column' is not valid"),
        ((SOURCE, {"corpus": "../../etc"}), "There is no corpus"),
        ((SOURCE, {"filters": {"filters": [{"key": "a", "value": float("nan")}]}}), "(corpus_datasource)"),
        ({"id": SOURCE, "on_error": []}, "there is no policy"),
        ({"id": SOURCE, "on_error": {}}, "there is no policy"),
    ],
)
def test_a_value_beyond_its_limits_is_refused_with_its_step(client: TestClient, step: Any, told: str | None) -> None:
    if told is None:
        finished(client, body_of(step))
    else:
        assert told in refused(client, body_of(step))


@pytest.mark.parametrize("path", ["/task/run", "/task/enqueue", "/pipeline/save"])
def test_a_pipeline_in_a_pipeline_is_refused_so_there_are_no_cycles(client: TestClient, path: str) -> None:
    body = body_of(SOURCE)
    saved = client.post("/pipeline/save", json=body).text

    assert "A pipeline holds a pipeline." in refused(client, {"pipeline": {"pipeline": body}}, path)
    assert "there is no step" in refused(client, body_of(SOURCE, saved), path)


def test_a_name_that_no_file_can_hold_is_refused(client: TestClient) -> None:
    assert "name" in refused(client, {"pipeline": body_of(SOURCE), "name": "\ud800"}, "/pipeline/save")
    assert client.get("/pipeline/list").json() == {"pipelines": [], "next": None}


def test_ids_of_other_things_are_not_found(client: TestClient) -> None:
    saved = client.post("/pipeline/save", json=body_of(SOURCE)).text
    task = client.post("/task/run", json=body_of(SOURCE)).headers["Location"].rpartition("/")[2]
    params = {"model": "extractive", "column": "full-text", "task_id": task}
    chat = client.get("/task/chat/new", params=params).text
    ways = {
        "/task/progress/{}": [saved, chat, task[:-1], task.upper() if task.upper() != task else "x", "%00", "'--"],
        "/task/cancel/{}": [saved, chat, "%F0%9F"],
        "/pipeline/compare/{}": [saved, chat],
        "/pipeline/restore/{}": [task, chat],
        "/task/chat/{}?message=a": [saved, task],
    }

    for path, ids in ways.items():
        for one in ids:
            # A message to an unknown chat has a status of its own.
            expected = 500 if "chat" in path else 404
            assert client.get(path.format(one)).status_code == expected, (path, one)


def test_without_documents_every_step_goes_on_and_the_source_says_so() -> None:
    client = client_of(an_engine([]))

    shown = finished(client, body_of(SOURCE, *EVERY_STEP_BUT_MODELS))

    assert shown["progress"]["pipeline_error"] == ""
    assert shown["result"]["data"] == "[]"
    assert "Step 1 (corpus_datasource): The corpus holds nothing for this query." in shown["progress"]["warnings"]


def test_a_column_of_50_mb_fails_its_step_and_the_service_goes_on() -> None:
    large = scripted()
    large.transform_row = lambda *_: "x" * 50_000_000  # type: ignore[method-assign,assignment]
    large.cached = False
    client = client_of(an_engine(["One."]))
    service = client.app.state.service  # type: ignore[attr-defined]
    whole = Pipelines(service.pipelines.services, a_registry(large), None)
    client.app.state.service = replace(service, pipelines=whole)  # type: ignore[attr-defined]

    shown = finished(client, body_of(SOURCE, "scripted", "word_counter"))

    assert shown["progress"]["pipeline_error_index"] == "2"
    assert "Column 'result' takes 50,000,0" in shown["progress"]["pipeline_error"]
    assert shown["result"]["data"] == "[]"
    assert json.loads(finished(client, body_of(SOURCE))["result"]["data"])
    whole.close()


def test_a_body_of_50_mb_is_not_read(client: TestClient) -> None:
    assert client.post("/task/run", content=b"x" * 50_000_000).status_code == 413
