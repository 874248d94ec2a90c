"""The whole of `/openapi.json`: all of it is described, replies are what it says, a key sees what it opens."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from api.openapi import TAGS
from api.security.auth import COOKIE, OPEN_PATHS
from api.security.keyring import add_key
from query_engine.schema.events import Restarted, Step, Token
from tests.fakes.corpora import stored
from tests.fakes.engines import FakeEngine, a_done, a_nearest
from tests.fakes.http import client_of, records_in
from tests.fakes.sources import FakePageAnswers

REFERENCE = "#/components/schemas/"
METHODS = {"get", "post", "delete", "put", "patch"}
QUESTION = {"question": "What turns?"}
CHAT = {"model": "default", "messages": [{"role": "user", "content": "What turns?"}]}
HTML = {"accept": "text/html"}
MCP = {"accept": "application/json, text/event-stream"}
FILE = {"files": [("file", ("wind.md", b"# Wind"))]}


def documented(client: TestClient, **headers: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/openapi.json", headers=headers).json()
    return found


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert method in METHODS
            yield f"{method.upper()} {path}", operation


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("interface")
    return documented(client_of(FakeEngine(), index={"dir": folder}, given=FakePageAnswers()))


def test_every_parameter_is_described(document: dict[str, Any]) -> None:
    bare = [
        f"{name}: {parameter['name']}"
        for name, operation in operations(document)
        for parameter in operation.get("parameters", ())
        if not parameter.get("description")
    ]

    assert bare == []


def test_every_field_of_every_body_and_reply_is_described(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]

    def described(field: dict[str, Any]) -> bool:
        target = field.get("$ref", "").removeprefix(REFERENCE)
        return bool(field.get("description") or schemas.get(target, {}).get("description"))

    bare = [
        f"{name}.{field}"
        for name, schema in schemas.items()
        for field, about in schema.get("properties", {}).items()
        if not described(about)
    ]

    assert len(schemas) > 80
    assert bare == []
    assert [name for name, schema in schemas.items() if not schema.get("description")] == []


def test_every_operation_has_a_name_a_tag_and_a_schema_of_what_it_takes_and_replies(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, operation in operations(document)]
    lacking = []
    for name, operation in operations(document):
        content = [operation["requestBody"]["content"]] if "requestBody" in operation else []
        content += [reply["content"] for reply in operation["responses"].values() if "content" in reply]
        lacking += [f"{name}: {type_}" for one in content for type_, told in one.items() if not told.get("schema")]
        replies = operation["responses"].items()
        lacking += [] if any(status.startswith("2") and reply.get("content") for status, reply in replies) else [name]
        assert operation["summary"], name
        assert operation["description"], name

    assert lacking == []
    assert len(set(names)) == len(names)
    used = {tag for _, operation in operations(document) for tag in operation["tags"]}
    assert used == {tag["name"] for tag in TAGS}
    assert document["tags"] == TAGS


def test_every_example_is_what_its_schema_allows(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    wrong = [
        f"{name}.{field}: {example}"
        for name, schema in schemas.items()
        for field, about in schema.get("properties", {}).items()
        for example in about.get("examples", ())
        if not validator(document, about).is_valid(example)
    ]

    assert wrong == []


def validator(document: dict[str, Any], schema: dict[str, Any]) -> Draft202012Validator:
    """Return what checks a value; a field that no schema names is a fault."""
    schemas = json.loads(json.dumps(document["components"]["schemas"]))
    for one in schemas.values():
        if "properties" in one:
            one.setdefault("additionalProperties", False)
    return Draft202012Validator({**schema, "components": {"schemas": schemas}})


ENGINE = {
    "answered": lambda: FakeEngine(
        [
            Step("search", "Searching."),
            Token("Sun"),
            Restarted("It failed."),
            Token("Wind turns blades. [1]"),
            a_done(),
        ],
        [stored("wind.md", "Wind turns blades. It is fast.")],
    ),
    "declined": lambda: FakeEngine([a_done(answer=None, nearest=(a_nearest(),))], [stored("wind.md", "Wind.")]),
}
REPLIES: list[tuple[str, str, str, dict[str, Any]]] = [  # method, route, path, what is sent
    ("get", "/", "/", {}),
    ("get", "/", "/", {"headers": HTML}),
    ("get", "/health", "/health", {}),
    ("get", "/ready", "/ready", {}),
    ("post", "/query", "/query", {"json": QUESTION | {"include_context": True}}),
    ("post", "/query", "/query", {"json": QUESTION | {"corpus": "none"}}),
    ("post", "/query", "/query", {"json": {}}),
    ("post", "/query", "/query", {"json": {}, "headers": HTML}),
    ("post", "/query", "/query", {"content": b"x" * 1_000_001}),
    ("post", "/query/stream", "/query/stream", {"json": QUESTION}),
    ("post", "/run", "/run", {"json": QUESTION}),
    ("post", "/react_streaming", "/react_streaming", {"json": {}}),
    ("post", "/evaluate", "/evaluate", {"json": {"query": "What?", "iid": "1"}}),
    ("post", "/run", "/run", {"json": {}}),
    ("post", "/retrieve", "/retrieve", {"json": QUESTION | {"explain": True}}),
    ("post", "/agent/research", "/agent/research", {"json": {"topic": "wind", "include_context": True}}),
    ("post", "/vector", "/vector", {"json": QUESTION}),
    ("post", "/v1/chat/completions", "/v1/chat/completions", {"json": CHAT}),
    ("post", "/v1/chat/completions", "/v1/chat/completions", {"json": CHAT | {"stream": True}}),
    ("post", "/v1/chat/completions", "/v1/chat/completions", {"json": {}}),
    ("post", "/v1/responses", "/v1/responses", {"json": {"model": "default", "input": "What?"}}),
    ("post", "/v1/responses", "/v1/responses", {"json": {"model": "default", "input": "What?", "stream": True}}),
    ("post", "/v1/responses", "/v1/responses", {"json": {}}),
    ("get", "/v1/models/{name}", "/v1/models/none", {}),
    ("get", "/pages/{page}/{doc_id}", "/pages/1/none.pdf", {}),
    ("get", "/task/progress/{task_id}", "/task/progress/none", {}),
    ("post", "/task/enqueue", "/task/enqueue", {"json": {}}),
    ("get", "/feedback", "/feedback", {}),
    ("get", "/runs/{name}/report", "/runs/none/report", {}),
    ("get", "/documents", "/documents", {}),
    ("get", "/documents/{doc_id}", "/documents/wind.md?nodes=true&start=0&end=4", {}),
    ("get", "/documents/{doc_id}", "/documents/none", {}),
    ("delete", "/documents/{doc_id}", "/documents/wind.md", {}),
    (
        "post",
        "/documents/delete",
        "/documents/delete",
        {"json": {"filter": {"filters": [{"key": "title", "value": "x"}]}}},
    ),
    ("get", "/stats", "/stats", {}),
    ("get", "/corpora", "/corpora", {}),
    ("post", "/documents", "/documents", FILE),
    ("post", "/documents", "/documents?wait=true", FILE),
    ("post", "/documents", "/documents", {"content": b""}),
    ("post", "/ingest", "/ingest", {"json": {"path": "wind.md"}}),
    ("post", "/ingest", "/ingest", {"json": {"path": "/etc"}}),
    ("get", "/ingest", "/ingest", {}),
    ("get", "/ingest/{job_id}", "/ingest/none", {}),
    ("post", "/cache/clear", "/cache/clear", {}),
    ("get", "/pipeline/info", "/pipeline/info", {}),
    ("get", "/pipeline/examples", "/pipeline/examples", {}),
    ("get", "/pipeline/list", "/pipeline/list", {}),
    ("get", "/runs", "/runs", {}),
    ("post", "/mcp", "/mcp", {"content": b"no JSON", "headers": MCP | {"content-type": "application/json"}}),
    ("post", "/mcp", "/mcp", {"content": b"no JSON", "headers": MCP}),
]


def a_service(folder: Path, kind: str = "answered") -> TestClient:
    (folder / "wind.md").write_text("Wind.")
    return client_of(ENGINE[kind](), index={"dir": folder}, ingest={"root": folder}, feedback={"enabled": True})


@pytest.mark.parametrize("kind", ENGINE)
@pytest.mark.parametrize("case", REPLIES, ids=lambda case: f"{case[0]} {case[2]}")
def test_a_reply_is_what_the_description_says(
    case: tuple[str, str, str, dict[str, Any]], kind: str, tmp_path: Path, document: dict[str, Any]
) -> None:
    method, route, path, sent = case
    with a_service(tmp_path, kind) as client:
        reply = client.request(method, path, follow_redirects=False, **sent)

    check_described(document, method, route, reply)


def check_described(document: dict[str, Any], method: str, route: str, reply: httpx2.Response) -> None:
    """Check that a status is described, with the type of its body, and what JSON holds."""
    replies = document["paths"][route][method]["responses"]
    assert reply.status_code >= 400 or str(reply.status_code) in replies
    media_type = reply.headers.get("content-type", "").partition(";")[0]
    if media_type:
        told = replies.get(str(reply.status_code)) or replies["default"]
        schema = told["content"][media_type]["schema"]
        if media_type == "application/json" and route != "/mcp":
            validator(document, schema).validate(reply.json())


@pytest.mark.parametrize("kind", ENGINE)
@pytest.mark.parametrize(
    ("route", "body"),
    [("/run", QUESTION), ("/query/stream", QUESTION), ("/v1/chat/completions", CHAT | {"stream": True})],
)
def test_each_record_of_a_stream_is_what_the_description_says(
    route: str, body: dict[str, Any], kind: str, tmp_path: Path, document: dict[str, Any]
) -> None:
    with a_service(tmp_path, kind) as client:
        text = client.post(route, json=body).text.replace("data: [DONE]\n", "")

    told = document["paths"][route]["post"]["responses"]["200"]["content"]["text/event-stream"]
    records = records_in(text)
    assert records
    for record in records:
        validator(document, told["itemSchema"]).validate(record)


def test_the_ways_to_send_a_key_are_described_and_work(tmp_path: Path) -> None:
    client = client_of(FakeEngine([a_done()]), index={"dir": tmp_path}, serve={"keys": "a-long-enough-key-0123456789"})
    document = documented(client)
    schemes = document["components"]["securitySchemes"]

    for name, operation in operations(document):
        is_open = name.partition(" ")[2] in OPEN_PATHS
        assert operation["security"] == ([] if is_open else [{scheme: []} for scheme in schemes]), name
    assert {(one["type"], one.get("in"), one.get("name")) for one in schemes.values()} == {
        ("http", None, None),
        ("apiKey", "header", "Api-Key"),
        ("apiKey", "cookie", COOKIE),
    }


@pytest.mark.parametrize("route", ["/query", "/v1/chat/completions", "/mcp"])
def test_a_missing_key_is_described(route: str, tmp_path: Path) -> None:
    client = client_of(FakeEngine(), index={"dir": tmp_path}, serve={"keys": "a-long-enough-key-0123456789"})
    document = documented(client)

    assert "401" in document["paths"][route]["post"]["responses"]
    check_described(document, "post", route, client.post(route, json={}))


def test_without_keys_none_is_asked_for(document: dict[str, Any]) -> None:
    assert {} in document["paths"]["/query"]["post"]["security"]


def test_a_key_sees_what_it_opens_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    client = client_of(FakeEngine(), FakeEngine(corpus="secret"), index={"dir": tmp_path}, serve={"keys_file": path})

    def seen(*scopes: str, corpora: list[str] | None = None) -> dict[str, Any]:
        return documented(client, **{"Api-Key": add_key(path, f"{scopes} {corpora}", scopes, corpora, None)})

    reader, writer, admin = seen("read"), seen("ingest"), seen("admin")
    assert "/query" in reader["paths"]
    assert "/ingest" not in reader["paths"]
    assert list(reader["paths"]["/documents"]) == ["get"]
    assert "IngestBody" not in reader["components"]["schemas"]
    assert "/query" not in writer["paths"]
    assert "/ingest" in writer["paths"]
    assert set(admin["paths"]) > set(reader["paths"]) | set(writer["paths"])
    assert "/task/run" not in seen("read", corpora=["default"])["paths"]
    assert documented(client)["paths"].keys() == reader["paths"].keys()
    assert "secret" not in json.dumps([reader, writer, admin])


@pytest.mark.promise("A55")
def test_failures_of_run_have_the_keys_of_its_records() -> None:
    reply = client_of(FakeEngine([a_done()])).post("/run", json={"question": ""})

    told = reply.json()
    assert (told["code"], told["field"], told["complete"]) == ("bad_question", "question", True)
    assert isinstance(told["error"], str)


def test_the_page_of_the_description_loads_only_files_of_the_service() -> None:
    client = client_of(FakeEngine())

    page = client.get("/docs")

    assert "unsafe" not in page.headers["content-security-policy"]
    assert "http" not in page.text.partition("<head>")[2]
    names = ["swagger-ui.js", "swagger-ui.css"]
    assert all(f"ui/static/vendor/{name}" in page.text for name in names)
    assert [client.get(f"/ui/static/vendor/{name}").status_code for name in names] == [200, 200]
    assert client.get("/redoc").url.path == "/docs"


def test_behind_a_proxy_the_description_names_the_prefix() -> None:
    client = client_of(FakeEngine())
    behind = TestClient(client.app, root_path="/treeline")

    assert documented(behind)["servers"] == [{"url": "/treeline"}]
