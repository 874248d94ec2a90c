import ast
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient

import errors
from api.errors import STATUS
from settings import HOME
from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.http import client_of, refusal_in

CANARY = "canary-7731"
JSON_TYPE = {"content-type": "application/json"}
ASKING = {"/evaluate": "query"} | dict.fromkeys(
    ["/run", "/retrieve", "/vector", "/hybrid", "/query", "/query/stream"], "question"
)
NEEDED = {
    "/run": {"question": "What?"},
    "/evaluate": {"query": "What?", "iid": "1"},
    "/retrieve": {"question": "What?"},
    "/vector": {"question": "What?"},
    "/hybrid": {"question": "What?"},
}
NEEDED |= {"/query": {"question": "What?"}, "/query/stream": {"question": "What?"}}
NEEDED |= {"/ingest": {"path": "wind.md"}}
NEEDED_BY_OTHERS = {"/react": NEEDED["/run"], "/react_streaming": NEEDED["/run"], "/agent/research": {"topic": "wind"}}

BAD_QUESTIONS = {
    "missing": (b"", "question", "required"),
    "empty": (b'"question": ""', "question", "blank"),
    "blank": (b'"question": " \\t\\n"', "question", "blank"),
    "invisible": (b'"question": "\\u200b\\ufeff"', "question", "blank"),
    "too long": (b'"question": "' + b"a" * 8001 + b'"', "question", "8001 characters"),
    "a number": (b'"question": 7', "question", "string"),
    "a list": (b'"question": ["canary-7731"]', "question", "string"),
    "an object": (b'"question": {"canary-7731": 1}', "question", "string"),
    "null": (b'"question": null', "question", "string"),
    "true": (b'"question": true', "question", "string"),
    "NaN": (b'"question": NaN', "question", "string"),
    "infinity": (b'"question": 1e400', "question", "string"),
    "NUL": (b'"question": "canary-7731 \\u0000"', "question", "NUL"),
    "half a surrogate pair": (b'"question": "canary-7731 \\ud800"', "question", "surrogate"),
}

BAD_OPTIONS = [
    ("/run", {"corpus": 7}, "corpus"),
    ("/run", {"corpus": "../etc"}, "corpus"),
    ("/run", {"corpus": "x" * 100}, "corpus"),
    ("/evaluate", {"corpus": ""}, "corpus"),
    ("/evaluate", {"iid": 7}, "iid"),
    ("/evaluate", {"iid": None}, "iid"),
    ("/retrieve", {"top_k": 0}, "top_k"),
    ("/retrieve", {"top_k": 201}, "top_k"),
    ("/retrieve", {"top_k": 10_000}, "top_k"),
    ("/retrieve", {"top_k": "5"}, "top_k"),
    ("/retrieve", {"top_k": 5.0}, "top_k"),
    ("/retrieve", {"top_k": True}, "top_k"),
    ("/retrieve", {"budget_chars": 0}, "budget_chars"),
    ("/retrieve", {"budget_chars": -1}, "budget_chars"),
    ("/retrieve", {"budget_chars": 10**30}, "budget_chars"),
    ("/query", {"top_k": 0}, "top_k"),
    ("/query", {"top_k": "4"}, "top_k"),
    ("/query", {"include_context": "yes"}, "include_context"),
    ("/retrieve", {"mode": CANARY}, "mode"),
    ("/retrieve", {"merge": "yes"}, "merge"),
    ("/retrieve", {"merge": 1}, "merge"),
    ("/retrieve", {"rerank": "yes"}, "rerank"),
    ("/retrieve", {"rerank_query": " "}, "rerank_query"),
    ("/retrieve", {"dense_share": -0.1}, "dense_share"),
    ("/retrieve", {"dense_share": 1.1}, "dense_share"),
    ("/retrieve", {"dense_share": float("nan")}, "dense_share"),
    ("/retrieve", {"dense_share": "0.5"}, "dense_share"),
    ("/retrieve", {"max_per_document": 0}, "max_per_document"),
    ("/retrieve", {"max_per_document": 10_000}, "max_per_document"),
    ("/retrieve", {CANARY: 1}, "body"),
    ("/retrieve", {"filters": [CANARY]}, "filters"),
    ("/run", {"filters": CANARY}, "filters"),
    ("/evaluate", {"filters": 7}, "filters"),
    ("/retrieve", {"explain": "yes"}, "explain"),
    ("/ingest", {"path": ""}, "path"),
    ("/ingest", {"path": "x" * 5000}, "path"),
    ("/ingest", {"path": 7}, "path"),
    ("/ingest", {"path": None}, "body"),
    ("/ingest", {"corpus": "../up"}, "corpus"),
    ("/ingest", {"root": ""}, "root"),
    ("/ingest", {"root": f"{CANARY}\n"}, "root"),
    ("/ingest", {"topic": f" {CANARY}"}, "topic"),
    ("/ingest", {"doc_type": "\ud800"}, "doc_type"),
    ("/ingest", {"limit": 0}, "limit"),
    ("/ingest", {"limit": "5"}, "limit"),
    ("/ingest", {"prune": "yes"}, "prune"),
    ("/ingest", {"wait": 1}, "wait"),
    ("/ingest", {"retry": True}, "body"),
    ("/ingest", {"chunk_size": "800"}, "chunk_size"),
    ("/ingest", {"metadata": {CANARY: {"a": 1}}}, "metadata"),
    ("/ingest", {"metadata": {"year": float("nan")}}, "metadata"),
    ("/ingest", {"metadata": {"year": 10**30}}, "metadata"),
    ("/ingest", {"metadata": {"note": CANARY * 200}}, "metadata"),
    ("/ingest", {"metadata": {"note": "two\nlines"}}, "metadata"),
    ("/ingest", {"metadata": {"note": "\ud800"}}, "metadata"),
    ("/ingest", {"metadata": {"tags": ["a", 7]}}, "metadata"),
    ("/ingest", {"metadata": {"": 1}}, "metadata"),
    ("/ingest", {"metadata": {str(n): n for n in range(101)}}, "metadata"),
    ("/ingest", {"metadata": [CANARY]}, "metadata"),
    ("/hybrid", {"top_k": 0}, "top_k"),
    ("/hybrid", {"top_k": 10_000}, "top_k"),
    ("/hybrid", {"distance": -0.1}, "distance"),
    ("/hybrid", {"distance": 2.1}, "distance"),
    ("/hybrid", {"distance": "0.5"}, "distance"),
    ("/vector", {"distance": float("nan")}, "distance"),
    ("/hybrid", {"topic": ""}, "topic"),
    ("/hybrid", {"paper_ids": []}, "paper_ids"),
    ("/hybrid", {"paper_ids": CANARY}, "paper_ids"),
    ("/hybrid", {"paragraph_terms": [f"{CANARY}\0"]}, "paragraph_terms"),
    ("/hybrid", {"move_to": "x", "move_to_weight": 1.1}, "move_to_weight"),
    ("/hybrid", {"move_to": "x", "move_to_weight": True}, "move_to_weight"),
    ("/hybrid", {"move_away_from": "x", "move_away_from_weight": -1}, "move_away_from_weight"),
    ("/hybrid", {"move_to_weight": 0.5}, "body"),
    ("/hybrid", {"corpus": "../up"}, "corpus"),
    ("/hybrid", {"model_name": CANARY}, "body"),
    ("/hybrid", {"screening_top_k": 0}, "screening_top_k"),
    *((path, {"question": " "}, "question") for path in ("/react", "/react_streaming")),
    *((path, {"screening_top_k": 0}, "screening_top_k") for path in ("/react", "/react_streaming")),
    *((path, {"model_name": f"{CANARY} b"}, "model_name") for path in ("/react", "/react_streaming")),
    ("/react", {"model_name": ""}, "model_name"),
    ("/react", {"openai_model_name": CANARY}, "body"),
    ("/react", {"move_to_weight": 0.5}, "body"),
    ("/agent/research", {"max_subquestions": 2}, "max_subquestions"),
    ("/agent/research", {"max_subquestions": 9}, "max_subquestions"),
    ("/agent/research", {"max_subquestions": "5"}, "max_subquestions"),
    ("/agent/research", {"include_context": "yes"}, "include_context"),
    ("/agent/research", {"topic": " "}, "topic"),
    ("/agent/research", {"topic": CANARY * 100}, "topic"),
    ("/agent/research", {"topics": CANARY}, "body"),
]


def refusal(path: str, content: bytes, headers: dict[str, str] | None = None) -> dict[str, Any]:
    """Send a body that has to be refused; check what holds for every refusal; return the error."""
    reply = client_of(FakeEngine([a_done()])).post(path, content=content, headers=headers or JSON_TYPE)

    assert reply.status_code == 422
    assert len(reply.content) <= 1000
    assert CANARY not in reply.text
    error = refusal_in(reply)
    assert error.keys() == {"code", "detail", "field"}
    return error


@pytest.mark.promise("A02", "A10")
@pytest.mark.fault("D3")
@pytest.mark.parametrize("path", ASKING)
@pytest.mark.parametrize(("body", "field", "reason"), BAD_QUESTIONS.values(), ids=BAD_QUESTIONS)
def test_a_bad_question_is_refused_with_field_and_reason(path: str, body: bytes, field: str, reason: str) -> None:
    name = ASKING[path]
    fields = [body.replace(b"question", name.encode(), 1)] if body else []
    fields += [b'"iid": "1"'] if path == "/evaluate" else []

    error = refusal(path, b"{" + b", ".join(fields) + b"}")

    assert error["field"] == field.replace("question", name)
    assert reason in error["detail"]


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "", "nonsense"])
def test_another_content_type_is_refused_and_the_right_one_named(content_type: str) -> None:
    error = refusal("/run", b'{"question": "What?"}', {"content-type": content_type})

    assert "Content-Type: application/json" in error["detail"]


@pytest.mark.fault("D3")
@pytest.mark.promise("C15")
@pytest.mark.parametrize(("path", "option", "field"), BAD_OPTIONS, ids=str)
def test_a_bad_option_is_refused_with_its_field(path: str, option: dict[str, Any], field: str) -> None:
    assert refusal(path, json.dumps((NEEDED | NEEDED_BY_OTHERS)[path] | option).encode())["field"] == field


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
FIELDS = (
    "question query iid corpus top_k budget_chars mode merge path metadata retry dense_share max_per_document filters "
    "distance topic paper_ids paragraph_terms move_to move_to_weight"
).split()


@pytest.fixture(scope="module")
def client() -> TestClient:
    return client_of(FakeEngine([a_done()]))


@pytest.mark.fault("D1")
@pytest.mark.parametrize("path", NEEDED)
@given(body=ANYTHING | st.dictionaries(st.sampled_from(FIELDS), ANYTHING))
def test_no_json_makes_a_server_error(client: TestClient, path: str, body: Any) -> None:
    reply = client.post(path, content=json.dumps(body), headers=JSON_TYPE)

    assert reply.status_code in {200, 202, 403, 404, 422}


@pytest.mark.fault("D2")
def test_a_body_over_one_megabyte_is_refused_in_the_same_form() -> None:
    body = b'{"question": "' + b"a" * 1_500_000 + b'"}'

    for content in (body, in_pieces(body)):
        reply = client_of(FakeEngine([a_done()])).post("/run", content=content, headers=JSON_TYPE)
        assert reply.status_code == 413
        assert refusal_in(reply)["code"] == "body_too_large"


def in_pieces(body: bytes) -> Iterator[bytes]:
    """Send without a declared length."""
    for start in range(0, len(body), 65_536):
        yield body[start : start + 65_536]


def test_an_unknown_address_and_a_wrong_method_have_the_same_form() -> None:
    client = client_of(FakeEngine([a_done()]))

    assert client.get("/nowhere").json()["error"]["code"] == "not_found"
    wrong = client.get("/run")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
    assert refusal_in(wrong)["code"] == "method_not_allowed"


@pytest.mark.parametrize(
    ("status", "detail"),
    [
        (418, "The request failed with HTTP status 418: I'm a Teapot."),
        (431, "The request failed with HTTP status 431: Request Header Fields Too Large."),
        (503, "The request failed with HTTP status 503: Service Unavailable."),
        (599, "The request failed with HTTP status 599: a status without a name."),
    ],
)
def test_a_status_that_the_framework_raises_unforeseen_has_the_same_form(status: int, detail: str) -> None:
    raised = HTTPException(status, f"{CANARY} inside", {"Retry-After": "7"})
    client = client_of(failures={"default": raised})

    plain = client.post("/retrieve", json={"question": "What?"})
    assert (plain.status_code, plain.headers["retry-after"]) == (status, "7")
    assert plain.json() == {"error": {"code": f"http_{status}", "detail": detail}}

    page = client.post("/retrieve", json={"question": "What?"}, headers={"accept": "text/html"})
    assert page.status_code == status
    assert page.headers["content-type"].startswith("text/html")
    assert CANARY not in page.text

    messages = [{"role": "user", "content": "What?"}]
    openai = client.post("/v1/chat/completions", json={"model": "default", "messages": messages})
    assert openai.status_code == status
    assert (openai.json()["error"]["message"], openai.json()["error"]["code"]) == (detail, f"http_{status}")


def test_every_foreseen_failure_has_a_status_of_its_own_choice() -> None:
    kinds = [errors.RagError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    foreseen = [kind("Fact.", "Remedy.") for kind in kinds]
    foreseen += [errors.RagError("Fact.", "Remedy.", code) for code in STATUS if code != "too_many_requests"]
    goes_away = {"corpus_busy", "task_unfinished", "out_of_time", "too_many_corpora", "writer_unavailable"}

    for error in foreseen:
        reply = client_of(failures={"default": error}).post("/retrieve", json={"question": "What?"})
        assert reply.json()["error"] == {"code": error.code, "detail": "Fact. Remedy."}
        assert reply.status_code in {401, 403, 404, 409, 410, 422, 429, 500, 503}
        assert ("retry-after" in reply.headers) == (reply.status_code == 429 or error.code in goes_away)


def test_every_code_that_the_service_gives_an_error_without_a_class_has_a_status() -> None:
    rooms = ("api", "index", "ingestion", "pipelines", "query_engine", "research", "sources")
    texts = [path.read_text() for room in rooms for path in sorted((HOME / room).rglob("*.py"))]
    calls = [node for text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    plain = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in {"RagError", "CorpusError"}]
    given = [node for call in plain for code in call.args[2:] for node in ast.walk(code)]
    codes = {node.value for node in given if isinstance(node, ast.Constant)}

    assert "unknown_task" in codes
    assert codes - STATUS.keys() == {"service_error"}  # told on a terminal alone


def test_a_browser_gets_an_error_as_a_page() -> None:
    reply = client_of(FakeEngine([a_done()])).get("/documents/none", headers={"accept": "text/html"})

    assert reply.status_code == 404
    assert reply.headers["content-type"].startswith("text/html")
    assert "holds no such document" in reply.text
