"""No route shows a document to a key whose groups may not see it: every route, kind of key and kind of document."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from api.jobs.ingester import Ingester
from api.security.keyring import add_key
from api.serve import application
from ingestion.schema import RunOptions
from settings import EmbedSettings, IndexSettings, ServeSettings, Settings
from tests.fakes.pdfs import make_pdf

QUESTION = "Who keeps the lighthouse at night?"
SEARCH = {"question": QUESTION}
LINE = "The lighthouse is kept at night by {}."


class Restricted(NamedTuple):
    """A document, a word found in no other document, and the groups that may see it."""

    doc_id: str
    word: str
    allow: frozenset[str]


RESTRICTED = (
    Restricted("zanthor.md", "zanthor", frozenset({"staff"})),
    Restricted("quibble.md", "quibble", frozenset({"staff", "board"})),
    Restricted("plimsoll.txt", "plimsoll", frozenset({"board"})),
    Restricted("vexillo.pdf", "vexillo", frozenset({"board"})),
    Restricted("wimble", "wimble", frozenset({"staff"})),
    Restricted("uploads/grommet.md", "grommet", frozenset({"board"})),
    Restricted("papers/fardel.txt", "fardel", frozenset({"staff"})),
)
OPEN_WORD, ANNEX_WORD = "marigold", "umber"
GROUPS = {"nobody": (), "staff": ("staff",), "board": ("board",), "both": ("staff", "board"), "other": ("visitors",)}


class Served(NamedTuple):
    """A service, and the keys by their groups; `admin` sees everything."""

    client: TestClient
    keys: dict[str, str]
    tasks: dict[str, str]

    def send(self, key: str, method: str, path: str, **sent: Any) -> Any:
        return self.client.request(method, path, headers={"Api-Key": self.keys[key]} | sent.pop("headers", {}), **sent)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("rights")
    _write(folder / "docs")
    settings = Settings(
        index=IndexSettings(dir=folder / "index"),
        embed=EmbedSettings(cache_dir=model_cache),
        serve=ServeSettings(keys_file=folder / "keys.json", allowed_hosts="testserver", originals=True),
    )
    keys = {
        name: add_key(folder / "keys.json", name, ["read", "ingest"], None, None, groups=groups)
        for name, groups in GROUPS.items()
    }
    keys["admin"] = add_key(folder / "keys.json", "admin", ["admin"], None, None)
    with application(settings, "http://testserver") as app, TestClient(app) as client:
        engines = app.state.service.engines.unguarded
        for name, options in (("docs", RunOptions()), ("papers", RunOptions("papers", {"topic": "light"}))):
            Ingester(engines, settings).ingest("default", folder / "docs" / name, options, _ignored, threading.Event())
        annex = folder / "docs" / "annex"
        Ingester(engines, settings).ingest("annex", annex, RunOptions(), _ignored, threading.Event())
        service = Served(client, keys, {})
        upload = {"file": ("grommet.md", "# Keeper\n\n" + LINE.format("grommet"))}
        sent = service.send("admin", "POST", "/documents", params={"allow": "board", "wait": True}, files=upload)
        assert sent.status_code == 200, sent.text
        for name in keys:
            task = service.send(name, "POST", "/task/run", json=PIPELINE)
            service.tasks[name] = task.headers["Location"].rpartition("/")[2]
        yield service


def _ignored(_: Any) -> None:
    pass


def _write(folder: Path) -> None:
    docs, papers = folder / "docs", folder / "papers"
    docs.mkdir(parents=True)
    papers.mkdir()
    (folder / "annex").mkdir()
    (folder / "annex" / "umber.md").write_text("# Keeper\n\n" + LINE.format(ANNEX_WORD))
    (docs / "open.md").write_text("# Keeper\n\n" + LINE.format(OPEN_WORD))
    (docs / "zanthor.md").write_text("---\nallow: [staff]\ntopic: zanthor\n---\n# zanthor\n\n" + LINE.format("zanthor"))
    (docs / "quibble.md").write_text("---\nallow: staff, board\n---\n# Keeper\n\n" + LINE.format("quibble"))
    (docs / "plimsoll.txt").write_text(LINE.format("plimsoll"))
    (docs / "plimsoll.txt.meta.json").write_text('{"allow": ["board"]}')
    (docs / "vexillo.pdf").write_bytes(make_pdf(LINE.format("vexillo")))
    (docs / "vexillo.pdf.meta.json").write_text('{"allow": "board"}')
    records = [
        {"id": "wimble", "text": LINE.format("wimble"), "allow": ["staff"]},
        {"id": "plain", "text": "The harbour is swept in the morning."},
    ]
    (docs / "records.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    (papers / "fardel.txt").write_text(LINE.format("fardel"))
    (papers / "fardel.txt.meta.json").write_text('{"allow": ["staff"]}')
    (papers / "common.txt").write_text(LINE.format(OPEN_WORD))


PIPELINE = {
    "query": QUESTION,
    "parameters": {},
    "1": {"id": "corpus_datasource", "parameters": {"output_column": "full-text"}},
}
CHAT = {"model": "default", "messages": [{"role": "user", "content": QUESTION}]}
RESPONSE = {"model": "default", "input": QUESTION}
ALL = {"filters": [{"key": "doc_id", "operator": "!=", "value": ""}]}


def _post(path: str, body: Any, **sent: Any) -> Callable[[Served, str], list[str]]:
    return lambda served, key: [served.send(key, "POST", path, json=body, **sent).text]


def _get(path: str, **sent: Any) -> Callable[[Served, str], list[str]]:
    return lambda served, key: [served.send(key, "GET", path, **sent).text]


def _each(template: str, method: str = "GET") -> Callable[[Served, str], list[str]]:
    """Ask for each document that the key may not see; in place of those that it may, for one that is not there."""

    def ask(served: Served, key: str) -> list[str]:
        return [
            _text(served.send(key, method, template.format(one.doc_id)))
            for one in (RESTRICTED if key == "admin" else _hidden_from(key))
        ]

    return ask


def _text(reply: Any) -> str:
    return f"{reply.headers} {reply.content!r}"


def _task(path: str) -> Callable[[Served, str], list[str]]:
    """Ask for the tasks of all keys."""
    return lambda served, key: [served.send(key, "GET", path.format(task)).text for task in served.tasks.values()]


def _mcp(served: Served, key: str) -> list[str]:
    def call(tool: str, **arguments: Any) -> str:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        accepted = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
        return str(served.send(key, "POST", "/mcp", json=body, headers=accepted).text)

    fetched = [
        call("fetch", id=f"default:{one.doc_id}") for one in (RESTRICTED if key == "admin" else _hidden_from(key))
    ]
    return [call("search", query=QUESTION), call("ask", question=QUESTION), call("list_corpora"), *fetched]


ROUTES: dict[tuple[str, str], Callable[[Served, str], list[str]]] = {
    ("POST", "/query"): _post("/query", SEARCH | {"include_context": True, "top_k": 50}),
    ("POST", "/query/stream"): _post("/query/stream", SEARCH | {"include_context": True}),
    ("POST", "/run"): _post("/run", SEARCH),
    ("POST", "/evaluate"): _post("/evaluate", {"query": QUESTION, "iid": "1"}),
    ("POST", "/retrieve"): _post("/retrieve", SEARCH | {"top_k": 50}),
    ("POST", "/agent/research"): _post("/agent/research", {"topic": QUESTION, "include_context": True}),
    ("POST", "/v1/chat/completions"): _post("/v1/chat/completions", CHAT),
    ("POST", "/v1/responses"): _post("/v1/responses", RESPONSE),
    ("POST", "/vector"): _post("/vector", SEARCH | {"top_k": 50}),
    ("POST", "/hybrid"): _post("/hybrid", SEARCH | {"top_k": 50}),
    ("POST", "/react"): _post("/react", SEARCH),
    ("POST", "/react_streaming"): _post("/react_streaming", SEARCH),
    ("POST", "/mcp"): _mcp,
    ("POST", "/task/run"): _post("/task/run", PIPELINE),
    ("GET", "/task/progress/{task_id}"): _task("/task/progress/{}"),
    ("GET", "/task/table/{task_id}/{step}"): _task("/task/table/{}/1"),
    ("GET", "/pipeline/compare/{task_id}"): _task("/pipeline/compare/{}"),
    ("GET", "/documents"): _get("/documents"),
    ("GET", "/documents/{doc_id:path}"): _each("/documents/{}?nodes=true"),
    ("GET", "/documents/{doc_id:path}/original"): _each("/documents/{}/original"),
    ("GET", "/pages/{page}/{doc_id:path}"): _each("/pages/1/{}"),
    ("GET", "/marks/{doc_id:path}"): _each("/marks/{}?start=0&end=9"),
    ("DELETE", "/documents/{doc_id:path}"): lambda served, key: (
        [] if key == "admin" else _each("/documents/{}", "DELETE")(served, key)
    ),
    ("POST", "/documents/delete"): _post("/documents/delete", {"filter": ALL, "dry_run": True}),
    ("GET", "/stats"): _get("/stats"),
    ("GET", "/corpora"): _get("/corpora"),
    ("GET", "/ready"): _get("/ready"),
    ("GET", "/metrics"): _get("/metrics"),
    ("GET", "/feedback"): _get("/feedback"),
    ("GET", "/ui/beginning"): _get("/ui/beginning"),
    ("GET", "/ui/config"): _get("/ui/config"),
}
"""How each route that may show documents is asked: all replies to a key."""

EXEMPT = {
    "/cache/clear": "forgets answers",
    "/ingest": "names files of the operator's folders to who may ingest them",
    "/ingest/{job_id}": "likewise",
    "/corpora/{name}": "deletes a corpus, for admins",
    "/task/enqueue": "returns the id of a task, which /task/progress is asked for",
    "/task/cancel/{task_id}": "says that a task ends",
    "/task/chat/new": "begins a chat over a task's own results",
    "/task/chat/{chat_id}": "chats over a task's own results",
    "/answer": "answers from the pages that come with the question",
    "/pipeline/info": "describes steps",
    "/pipeline/examples": "are shipped",
    "/pipeline/save": "keeps what is sent",
    "/pipeline/restore/{pipeline_id}": "returns what was sent",
    "/pipeline/list": "names what was sent",
    "/pipeline/{pipeline_id}": "deletes what was sent",
    "/study": "is for admins",
    "/runs": "are files that the operator puts there",
    "/runs/{name}/report": "likewise",
    "/app_config": "has settings",
    "/v1/models": "names models",
    "/v1/models/{name}": "names a model",
    "/": "says that the service is there",
    "/health": "says how the stores are",
    "/login": "is a form",
    "/logout": "forgets a cookie",
    "/openapi.json": "describes the routes",
    "/docs": "is a page",
    "/redoc": "is a page",
}
TAKES_ONLY = {("POST", "/documents"), ("POST", "/feedback")}
"""They take something in, and return what became of it."""


def _hidden_from(key: str) -> list[Restricted]:
    return [one for one in RESTRICTED if key != "admin" and one.allow.isdisjoint(GROUPS[key])]


def _routes(routes: Any) -> Iterator[tuple[str, str]]:
    for route in routes:
        if (router := getattr(route, "original_router", None)) is not None:
            yield from _routes(router.routes)
        else:
            yield from ((method, route.path) for method in route.methods - {"HEAD"})


def test_every_route_is_asked_or_exempt_for_a_reason(served: Served) -> None:
    app = served.client.app
    assert isinstance(app, FastAPI)
    static = re.compile(r"/ui(/static/.*)?|/[\w./-]+\.(js|css|html|svg|txt)")
    there = {(method, path) for method, path in _routes(app.routes) if not static.fullmatch(path)}

    assert {one for one in there if one[1] not in EXEMPT} == ROUTES.keys() | TAKES_ONLY


@pytest.mark.parametrize("key", GROUPS)
@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
def test_no_reply_holds_a_word_of_a_hidden_document(served: Served, route: tuple[str, str], key: str) -> None:
    replies = ROUTES[route](served, key)

    # An id that was asked for may be repeated to who asked.
    hidden = {one.word for one in _hidden_from(key)}
    assert {word for word in hidden for reply in replies if word in reply.lower()} == set()


@pytest.mark.parametrize("key", ["staff", "board", "both", "admin"])
def test_what_a_group_may_see_is_found_and_shown(served: Served, key: str) -> None:
    seen = {one.word for one in RESTRICTED} - {one.word for one in _hidden_from(key)}

    for route in (("POST", "/retrieve"), ("GET", "/documents"), ("POST", "/task/run"), ("POST", "/mcp")):
        text = " ".join(ROUTES[route](served, key)).lower()
        assert seen - {word for word in seen if word in text} == set(), route


def test_papers_are_searched_for_their_groups(served: Served) -> None:
    for path in ("/vector", "/hybrid"):
        found = {key: _post(path, SEARCH | {"top_k": 50})(served, key)[0].lower() for key in ("nobody", "staff")}
        assert OPEN_WORD in found["nobody"]
        assert "fardel" in found["staff"]


def test_a_hidden_document_looks_like_one_that_is_not_there(served: Served) -> None:
    for template in ("/documents/{}", "/documents/{}/original", "/pages/1/{}", "/marks/{}?start=0&end=9"):
        for one in RESTRICTED:
            hidden, absent = (served.send("nobody", "GET", template.format(name)) for name in (one.doc_id, "none.md"))
            assert (hidden.status_code, hidden.json()) == (404, absent.json())
            assert served.send("admin", "GET", f"/documents/{one.doc_id}").status_code == 200


def test_a_hidden_document_is_in_no_count(served: Served) -> None:
    for key in GROUPS:
        visible = 3 + len(RESTRICTED) - len(_hidden_from(key))
        deletion = served.send(key, "POST", "/documents/delete", json={"filter": ALL, "dry_run": True}).json()
        assert served.send(key, "GET", "/stats").json()["documents"] == visible
        assert [one["documents"] for one in served.send(key, "GET", "/corpora").json()["corpora"]] == [1, visible]
        assert len(served.send(key, "GET", "/documents").json()["documents"]) == visible == deletion["matched"]
        assert served.send(key, "GET", "/ui/beginning").json()["documents"] == visible


def test_several_corpora_hide_what_each_of_them_hides(served: Served) -> None:
    texts = {
        key: served.send(key, "POST", "/retrieve", json=SEARCH | {"corpus": "*", "top_k": 50}).text for key in GROUPS
    }
    words = {key: {one.word for one in RESTRICTED if one.word in text} for key, text in texts.items()}

    assert all(ANNEX_WORD in text for text in texts.values())
    assert words == {key: {one.word for one in RESTRICTED} - {one.word for one in _hidden_from(key)} for key in GROUPS}


def test_an_answer_from_the_cache_was_made_for_the_same_documents(served: Served) -> None:
    question = SEARCH | {"question": "By whom is the lighthouse kept at night?"}
    fingerprints = {key: served.send(key, "POST", "/query", json=question).json()["fingerprint"] for key in GROUPS}

    assert fingerprints["nobody"] == fingerprints["other"]
    assert len(set(fingerprints.values())) == len(GROUPS) - 1


def test_a_file_is_no_original_for_who_may_not_see_all_of_it(served: Served) -> None:
    statuses = [served.send(key, "GET", "/documents/plain/original").status_code for key in ("nobody", "staff")]

    assert statuses == [404, 200]
