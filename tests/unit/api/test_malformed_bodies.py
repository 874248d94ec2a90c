"""Bodies that are no JSON, or that few writers of JSON foresee, on every route that takes one."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.http import client_of
from tests.fakes.sources import FakePageAnswers

CANARY = "canary-7731"
MAX_REPLY_BYTES = 1000
# The refusals of MCP's own library repeat the first and last characters of what they refuse.
OF_LIBRARY, MAX_LIBRARY_BYTES = "/mcp", 4000
# Each stands for the value of every field of the route.
VALUES = {
    "half a surrogate pair": f'"{CANARY} \\ud800"',
    "NaN": "NaN",
    "infinity": "1e400",
    "NUL": f'"{CANARY} \\u0000"',
    "a number too long for Python": "7" * 5000,
    "nested too deeply": "[" * 100_000,
    "null": "null",
    "an object of half a surrogate pair": f'{{"{CANARY}\\udfff": 1}}',
}
BODIES = {
    "nothing": b"",
    "no JSON": f"question={CANARY}".encode(),
    "cut off": f'{{"question": "{CANARY}'.encode(),
    "not UTF-8": f'{{"question": "{CANARY} '.encode() + b'\xff"}',
    "a byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": '{"question": "What?"}'.encode("utf-16"),
    "a list": f'["{CANARY}"]'.encode(),
    "a text": f'"{CANARY}"'.encode(),
    "a name of half a surrogate pair": b'{"\\ud800": 1}',
    "null": b"null",
    "nested too deeply": b"[" * 100_000,
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    folder: Path = tmp_path_factory.mktemp("malformed")
    places: Any = {
        "index": {"dir": folder / "index"},
        "ingest": {"root": folder},
        "pipelines": {"dir": folder / "tasks"},
    }
    return client_of(FakeEngine([a_done()] * 10_000), given=FakePageAnswers(), **places)


@pytest.fixture(scope="module")
def routes(client: TestClient) -> dict[str, list[str]]:
    """The fields of each body in JSON, by the address that takes it."""
    document = client.get("/openapi.json").json()
    found = {}
    for path, methods in document["paths"].items():
        taken = methods.get("post", {}).get("requestBody", {}).get("content", {})
        if "application/json" in taken:
            schema = taken["application/json"]["schema"]
            named = document["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], schema)
            found[path] = list(named.get("properties", {"question": {}}))
    assert len(found) > 15
    return found


@pytest.mark.fault("D1", "D2")
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_malformed_body_is_refused_in_few_words(
    client: TestClient, routes: dict[str, list[str]], body: bytes
) -> None:
    assert {path: why for path in routes if (why := _fault(client, path, body))} == {}


@pytest.mark.fault("D1", "D3")
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_value_that_nobody_expects_makes_no_server_error(
    client: TestClient, routes: dict[str, list[str]], value: str
) -> None:
    def body(names: list[str]) -> bytes:
        return ("{" + ", ".join(f"{json.dumps(name)}: {value}" for name in names) + "}").encode()

    assert {path: why for path, names in routes.items() if (why := _fault(client, path, body(names)))} == {}


def _fault(client: TestClient, path: str, body: bytes) -> dict[str, Any]:
    """Return what is wrong with the reply: a refusal is short and repeats nothing."""
    filled = path.replace("{", "").replace("}", "")
    reply = client.post(filled, content=body, headers={"content-type": "application/json"})
    most, repeats = MAX_REPLY_BYTES, CANARY in reply.text
    if path == OF_LIBRARY:
        most, repeats = MAX_LIBRARY_BYTES, False
    if reply.status_code < 400 or (reply.status_code < 500 and len(reply.content) <= most and not repeats):
        return {}
    return {"status": reply.status_code, "bytes": len(reply.content), "text": reply.text[:200]}
