"""Who knows the id of what another key was given gets what an id gets that never was."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.security.keyring import add_key
from index.feedback.store import FILE_NAME
from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.http import client_of
from tests.fakes.pipelines import an_engine
from tests.fakes.sources import FakePageAnswers

pytestmark = pytest.mark.fault("E17")

NEVER = "f" * 32
PIPELINE = {"query": "What turns?", "1": {"id": "corpus_datasource", "parameters": {"limit": 2}}}
MCP = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
Headers = dict[str, str]


class Place:
    """A service with the corpora `default` and `other`, and keys for people who know each other's ids."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        engine, other = an_engine(), FakeEngine([a_done()], corpus="other")
        engine._script = [a_done()]
        self.client: TestClient = client_of(
            engine,
            other,
            given=FakePageAnswers("given pages"),
            feedback={"enabled": True},
            index={"dir": folder},
            serve={"keys_file": folder / "keys.json"},
        )

    def key(self, name: str, *corpora: str, scope: str = "read") -> Headers:
        return {"Api-Key": add_key(self.folder / "keys.json", name, [scope], corpora or None, None)}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    with place.client:  # one event loop for all that is asked
        yield place


def answer(place: Place, key: Headers) -> str:
    return str(place.client.post("/query", json={"question": "What turns?"}, headers=key).json()["answer_id"])


def run_answer(place: Place, key: Headers) -> str:
    return place.client.post("/run", json={"question": "What turns?"}, headers=key).headers["x-answer-id"]


def page_answer(place: Place, key: Headers) -> str:
    body = {"question": "What turns?", "pages": [{"url": "https://a.example", "text": "Wind turns."}]}
    return str(place.client.post("/answer", json=body, headers=key).json()["answer_id"])


def chat_answer(place: Place, key: Headers) -> str:
    body = {"model": "default", "messages": [{"role": "user", "content": "What turns?"}]}
    return str(place.client.post("/v1/chat/completions", json=body, headers=key).json()["id"])


def tool_answer(place: Place, key: Headers) -> str:
    call = {"name": "ask", "arguments": {"question": "What turns?"}}
    reply = mcp(place, key, "tools/call", call)
    (data,) = [line for line in reply.text.splitlines() if line.startswith("data:") and "structuredContent" in line]
    return str(json.loads(data.removeprefix("data:"))["result"]["structuredContent"]["answer_id"])


def passages(place: Place, key: Headers) -> str:
    return str(place.client.post("/retrieve", json={"question": "What turns?"}, headers=key).json()["retrieval_id"])


def task(place: Place, key: Headers) -> str:
    return place.client.post("/task/run", json=PIPELINE, headers=key).headers["location"].rpartition("/")[2]


def waiting_task(place: Place, key: Headers) -> str:
    return place.client.post("/task/enqueue", json=PIPELINE, headers=key).text


def chat(place: Place, key: Headers) -> str:
    wanted = {"model": "extractive", "column": "full-text", "task_id": task(place, key)}
    return place.client.get("/task/chat/new", params=wanted, headers=key).text


def mcp(place: Place, key: Headers, method: str, params: Any) -> Any:
    call = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    return place.client.post("/mcp", json=call, headers=MCP | key)


def verdict(kind: str, **part: Any) -> Callable[[Place, str, Headers], Any]:
    def send(place: Place, id_: str, key: Headers) -> Any:
        return place.client.post("/feedback", json={kind: id_, "verdict": "good", **part}, headers=key)

    return send


def on_passage(place: Place, id_: str, key: Headers) -> Any:
    body = {"retrieval_id": id_, "verdict": "relevant", "node_id": "0.md#00000"}
    return place.client.post("/feedback", json=body, headers=key)


def get(path: str, **params: str) -> Callable[[Place, str, Headers], Any]:
    def send(place: Place, id_: str, key: Headers) -> Any:
        filled = {name: value.format(id_) for name, value in params.items()}
        return place.client.get(path.format(id_), params=filled, headers=key)

    return send


HELLO = {"message": "What turns?"}
USES = [
    (answer, verdict("answer_id")),
    (answer, verdict("answer_id", span={"start": 0, "end": 2})),
    (answer, verdict("answer_id", span={"start": 900_000, "end": 900_001})),
    (run_answer, verdict("answer_id")),
    (page_answer, verdict("answer_id")),
    (chat_answer, verdict("answer_id")),
    (tool_answer, verdict("answer_id")),
    (passages, on_passage),
    (passages, verdict("retrieval_id")),
    (task, get("/task/progress/{}")),
    (task, get("/task/table/{}/1")),
    (task, get("/task/table/{}/9")),
    (task, get("/task/cancel/{}")),
    (waiting_task, get("/task/cancel/{}")),
    (task, get("/pipeline/compare/{}")),
    (task, get("/task/chat/new", model="extractive", column="full-text", task_id="{}")),
    (task, get("/task/chat/new", model="extractive", column="nothing", task_id="{}")),
    (chat, get("/task/chat/{}", **HELLO)),
]


@pytest.mark.parametrize("corpora", [(), ("default",), ("other",), ("default", "other")], ids=str)
@pytest.mark.parametrize(("make", "use"), USES)
def test_an_id_of_another_key_is_unknown(
    place: Place,
    make: Callable[[Place, Headers], str],
    use: Callable[[Place, str, Headers], Any],
    corpora: tuple[str, ...],
) -> None:
    mine, other = place.key("mine"), place.key("other", *corpora)
    id_ = make(place, mine)

    foreign, never = use(place, id_, other), use(place, NEVER, other)

    assert foreign.status_code >= 400
    assert (foreign.status_code, foreign.text) == (never.status_code, never.text)
    assert {name for name, _ in foreign.headers.items()} == {name for name, _ in never.headers.items()}


@pytest.mark.parametrize(("make", "use"), USES)
def test_it_is_there_for_the_key_that_was_given_it(
    place: Place, make: Callable[[Place, Headers], str], use: Callable[[Place, str, Headers], Any]
) -> None:
    mine, other = place.key("mine"), place.key("other")
    id_ = make(place, mine)
    use(place, id_, other)

    assert use(place, id_, mine).text != use(place, NEVER, mine).text


@pytest.mark.parametrize(("make", "use"), USES)
def test_a_key_that_opens_everything_opens_what_others_were_given(
    place: Place, make: Callable[[Place, Headers], str], use: Callable[[Place, str, Headers], Any]
) -> None:
    id_, admin = make(place, place.key("mine")), place.key("admin", scope="admin")

    assert use(place, id_, admin).text != use(place, NEVER, admin).text


def test_a_key_for_one_corpus_judges_its_own_answers_and_no_others(place: Place) -> None:
    mine, neighbour = place.key("mine", "default"), place.key("neighbour", "default")
    limited_admin = place.key("admin", "default", scope="admin")
    judge = verdict("answer_id")

    for make in (answer, page_answer):
        id_ = make(place, mine)
        assert judge(place, id_, neighbour).status_code == 404
        assert judge(place, id_, limited_admin).status_code == 404
        assert judge(place, id_, mine).status_code == 200


@pytest.mark.parametrize(("corpora", "status"), [((), 200), (("default",), 200), (("other",), 404)])
def test_what_was_given_without_a_key_is_there_for_keys_of_its_corpus(
    tmp_path: Path, corpora: tuple[str, ...], status: int
) -> None:
    open_to_all = client_of(FakeEngine([a_done()]), feedback={"enabled": True}, index={"dir": tmp_path})
    id_ = open_to_all.post("/query", json={"question": "What turns?"}).json()["answer_id"]
    open_to_all.app.state.service.recorder.close()  # type: ignore[attr-defined]
    place = Place(tmp_path)

    reply = verdict("answer_id")(place, id_, place.key("late", *corpora))

    assert reply.status_code == status


def test_who_was_given_an_answer_is_neither_exported_nor_readable_in_the_file(place: Place) -> None:
    mine = place.key("mine")
    for _ in range(2):
        verdict("answer_id")(place, answer(place, mine), mine)
    exported = place.client.get("/feedback", headers=place.key("admin", scope="admin"))

    with sqlite3.connect(place.folder / FILE_NAME) as database:
        bodies = [json.loads(body) for (body,) in database.execute("SELECT body FROM given")]
    assert len({body["mark"] for body in bodies}) == 2, "the same key has another mark each time"
    assert not any(body["mark"] in exported.text for body in bodies)


@pytest.mark.parametrize(
    "path", ["/pipeline/restore/{}", "/pipeline/compare/{}", "/task/progress/{}", "/task/chat/{}?message=What?"]
)
def test_a_key_for_some_corpora_learns_of_no_saved_pipeline_or_task(place: Place, path: str) -> None:
    admin, limited = place.key("admin", scope="admin"), place.key("limited", "default")
    saved = place.client.post("/pipeline/save", json=PIPELINE, headers=admin).text

    replies = [place.client.get(path.format(id_), headers=limited) for id_ in (saved, task(place, admin), NEVER)]

    assert {(reply.status_code, reply.text) for reply in replies} == {(403, replies[0].text)}
