import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.fakes.http import client_of
from tests.fakes.pipelines import an_engine

BODY = {
    "query": "What turns blades?",
    "parameters": {"limit": 3},
    "1": {"id": "corpus_datasource", "parameters": {"output_column": "full-text"}},
    "2": {"id": "tf_idf_reranker", "parameters": {"input_column": "full-text", "similarity_metric": "BM25"}},
    "3": {"id": "word_counter", "parameters": {"input_column": "full-text", "output_column": "wordCount"}},
}


@pytest.fixture
def client() -> TestClient:
    return client_of(an_engine())


@pytest.mark.parametrize("body", [BODY, {"pipeline": BODY}], ids=["plain", "wrapped"])
def test_a_pipeline_runs_and_the_reply_is_that_of_the_progress(client: TestClient, body: dict[str, Any]) -> None:
    reply = client.post("/task/run", json=body)

    shown = reply.json()
    assert reply.status_code == 200
    assert client.get(reply.headers["Location"]).json() == shown
    assert shown["has_finished"] is True
    assert set(shown["progress"]) == {
        *("current_step", "current_step_index", "pipeline_progress", "pipeline_percentage", "log", "step_output"),
        *("step_progress", "pipeline_error", "pipeline_error_index", "warnings"),
    }
    assert shown["progress"]["warnings"] == ["Step 1 (corpus_datasource): rerank_skipped: It is too slow."]
    assert set(shown["result"]) == {"data", "result_description", "aggregated_data", "metadata"}
    rows = json.loads(shown["result"]["data"])
    assert [row["wordCount"] for row in rows] == [3, 4, 5]
    assert [row["_reranking_rank_1_"] for row in rows] == [1, 2, 3]
    assert {"id": "wordCount", "rank": False, "text": False, "chip": True} in json.loads(shown["result"]["metadata"])


def test_an_enqueued_task_is_named_in_plain_text(client: TestClient) -> None:
    reply = client.post("/task/enqueue", json=BODY)

    assert reply.headers["content-type"].startswith("text/plain")
    task_id = reply.text
    client.app.state.service.pipelines.tasks.end_of(task_id).result(30)  # type: ignore[attr-defined]
    assert client.get(f"/task/progress/{task_id}").json()["has_finished"] is True
    assert client.get(f"/task/cancel/{task_id}").text == "Success"


@pytest.mark.parametrize("path", ["/task/progress/x", "/task/cancel/x", "/pipeline/compare/x"])
def test_an_unknown_task_is_not_found(client: TestClient, path: str) -> None:
    reply = client.get(path)

    assert reply.status_code == 404
    assert reply.json()["error"]["code"] == "unknown_task"


@pytest.mark.parametrize("route", ["/task/run", "/task/enqueue", "/pipeline/save"])
@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (BODY | {"5": {"id": "word_counter"}}, "numbered 1, 2, 3, 5: there is a gap"),
        (BODY | {"3": {"id": "word_countr"}}, "Step 3: there is no step 'word_countr'. The nearest known one"),
        ([1], "not a JSON object"),
        (None, "a JSON object"),
    ],
)
def test_what_cannot_run_is_refused(client: TestClient, route: str, body: object, detail: str) -> None:
    reply = client.post(route, json=body)

    assert reply.status_code == 422
    assert detail in reply.json()["error"]["detail"]


def test_no_json_is_refused(client: TestClient) -> None:
    assert client.post("/task/run", content="{").status_code == 422


@pytest.mark.promise("D01")
def test_a_pipeline_can_be_saved_listed_and_restored(client: TestClient) -> None:
    without_query = {key: value for key, value in BODY.items() if key != "query"}

    named = client.post("/pipeline/save", json={"pipeline": without_query, "name": "by words"})
    plain = client.post("/pipeline/save", json=BODY)

    assert named.status_code == plain.status_code == 201
    assert client.get(f"/pipeline/restore/{named.text}").json() == without_query
    assert client.get(f"/pipeline/restore/{plain.text}").json() == BODY
    listed = client.get("/pipeline/list").json()["pipelines"]
    assert [(one["id"], one["name"], one["query"]) for one in listed] == [
        (plain.text, "", "What turns blades?"),
        (named.text, "by words", None),
    ]
    assert listed[0]["steps"] == ["corpus_datasource", "tf_idf_reranker", "word_counter"]
    assert client.get("/pipeline/restore/x").status_code == 404


def test_a_saved_pipeline_can_be_deleted_and_the_list_has_pages(client: TestClient) -> None:
    ids = [client.post("/pipeline/save", json=BODY).text for _ in range(3)]

    first = client.get("/pipeline/list", params={"limit": 2}).json()
    second = client.get("/pipeline/list", params={"limit": 2, "after": first["next"]}).json()

    assert [one["id"] for one in [*first["pipelines"], *second["pipelines"]]] == ids[::-1]
    assert second["next"] is None
    assert client.delete(f"/pipeline/{ids[0]}").json() == {"deleted": ids[0]}
    assert client.delete(f"/pipeline/{ids[0]}").status_code == 404
    assert client.get(f"/pipeline/restore/{ids[0]}").status_code == 404
    assert client.get("/pipeline/list", params={"after": "x"}).status_code == 404


def test_a_pipeline_of_a_book_s_length_is_refused(client: TestClient) -> None:
    long = {"id": "embedding_reranker", "parameters": {"query": "x" * 8000}}
    body = {"query": "q", "1": {"id": "corpus_datasource"}, **{str(number): long for number in range(2, 20)}}

    for route in ("/task/run", "/pipeline/save"):
        reply = client.post(route, json=body)
        assert reply.status_code == 422
        assert "100,000" in reply.json()["error"]["detail"]


def test_the_steps_declare_themselves(client: TestClient) -> None:
    info = client.get("/pipeline/info").json()

    assert info["tf_idf_reranker"]["category"] == "Rerankers"
    assert info["tf_idf_reranker"]["parameters"]["similarity_metric"] == {
        "title": "Similarity metric",
        "description": "How query and document are compared.",
        "type": "dropdown",
        "enforce-limit": True,
        "required": False,
        "supported-values": ["Cosine", "Euclidean", "Manhattan", "BM25"],
        "default": "Cosine",
    }
    assert info["reduction_step"]["parameters"]["reset_index"]["supported-values"] == ["Yes", "No"]
    assert info["reduction_step"]["parameters"]["k"]["maximum"] == 100_000
    assert info["label_filter"]["parameters"]["filter_by"]["required"] is True
    assert info["corpus_datasource"]["parameters"]["max_per_document"]["type"] == "number"
    parameters = [one for step in info.values() for one in step["parameters"].values()]
    assert all(isinstance(value, str) for one in parameters for value in one["supported-values"])
    assert info["corpus_datasource"]["parameters"]["limit"]["supported-values"] == ["10", "20", "50", "100"]


@pytest.mark.promise("D13")
def test_rankings_are_put_side_by_side(client: TestClient) -> None:
    body = BODY | {"2": {"id": "tf_idf_reranker", "parameters": {"query": "rain on hills, salt"}}}
    task = client.post("/task/run", json=body).headers["Location"].rpartition("/")[2]

    compared = client.get(f"/pipeline/compare/{task}").json()

    assert compared["rank_columns"] == ["_original_ranking_", "_reranking_rank_1_"]
    (pair,) = compared["pairs"]
    assert pair["kendall_tau"] == -1.0
    assert [(move["doc_id"], move["from"], move["to"]) for move in pair["moves"]] == [("2.md", 3, 1), ("0.md", 1, 3)]


@pytest.mark.promise("D12")
def test_the_table_after_each_step_can_be_looked_at_by_pages(client: TestClient) -> None:
    task = client.post("/task/run", json=BODY).headers["Location"].rpartition("/")[2]

    first = client.get(f"/task/table/{task}/1").json()
    last = client.get(f"/task/table/{task}/3", params={"offset": 1, "limit": 1, "cell_chars": 5}).json()

    assert (first["step"], first["id"], first["count"], len(first["rows"]), first["cut"]) == (
        *(1, "corpus_datasource", 3, 3),
        0,
    )
    assert "wordCount" not in first["rows"][0]
    assert (last["count"], len(last["rows"])) == (3, 1)
    assert last["rows"][0]["_reranking_rank_1_"] == 2
    assert len(last["rows"][0]["full-text"]) == 6
    assert last["rows"][0]["full-text"].endswith("…")
    assert last["cut"] > 0
    columns = {column["id"]: column for column in last["columns"]}
    assert columns["wordCount"] == {"id": "wordCount", "rank": False, "text": False, "chip": True}
    assert columns["start"] == {"id": "start", "rank": False, "text": False, "chip": False}


@pytest.mark.parametrize(
    ("path", "status"),
    [("x/1", 404), ("TASK/4", 404), ("TASK/0", 422), ("TASK/99999999999999999999", 422), ("TASK/1?limit=0", 422)],
)
def test_a_table_that_is_not_there_is_not_found(client: TestClient, path: str, status: int) -> None:
    task = client.post("/task/run", json=BODY).headers["Location"].rpartition("/")[2]

    assert client.get(f"/task/table/{path.replace('TASK', task)}").status_code == status


def test_the_guide_s_pipelines_that_can_run_are_offered_and_can_be_saved(client: TestClient) -> None:
    offered = client.get("/pipeline/examples").json()["examples"]

    assert [one["title"] for one in offered] == [
        "Rank twice, keep the best",
        "Prepare texts",
        "Mark and summarise",
    ]
    for one in offered:
        assert client.post("/pipeline/save", json=one["pipeline"]).status_code == 201
