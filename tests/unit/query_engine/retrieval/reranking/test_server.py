"""Reranking by a server: both forms of request, every way to fail, and a deadline that holds."""

import time
from collections.abc import Callable, Iterator

import pytest
from pydantic import SecretStr

from errors import ModelError, ModelServerError, OutOfTimeError, RagError, SettingsError
from query_engine.retrieval.reranking.base import Reranker, Reranking
from query_engine.retrieval.reranking.build import build_reranker
from query_engine.runtime.deadline import Deadline
from query_engine.schema.hit import LeafHit
from settings import RerankSettings, Settings
from tests.servers.scripted_models import Fault, Script, ScriptedModels

QUESTION = "How deep is the lake?"
TEXTS = ["Nothing of it.", "The lake is deep.", "How deep the lake is: 40 metres."]


@pytest.fixture
def server() -> Iterator[ScriptedModels]:
    with ScriptedModels() as server:
        yield server


@pytest.fixture(params=["http", "tei"])
def connect(request: pytest.FixtureRequest, server: ScriptedModels) -> Callable[..., Reranker]:
    def connect(**given: object) -> Reranker:
        options = {"method": request.param, "model": "judge", "base_url": server.base_url} | given
        reranker = build_reranker(Settings(rerank=RerankSettings.model_validate(options)), None)
        assert reranker is not None
        assert reranker.name == request.param
        return reranker

    return connect


Connect = Callable[..., Reranker]


def test_scores_come_in_the_order_of_the_texts(connect: Connect) -> None:
    assert connect().score(QUESTION, TEXTS, Deadline(10)) == pytest.approx([0, 0.8, 1])


def test_no_texts_need_no_server(connect: Connect, server: ScriptedModels) -> None:
    assert connect().score(QUESTION, [], Deadline(10)) == []
    assert not server.requests


def test_requests_hold_no_more_than_the_limit(
    connect: Connect, server: ScriptedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("query_engine.retrieval.reranking.server.BATCH_TEXTS", 2)
    scores = connect(api_key=SecretStr("sesame")).score(QUESTION, TEXTS * 3, Deadline(10))

    assert scores == pytest.approx([0, 0.8, 1] * 3)
    bodies = [request.body for request in server.requests]
    assert sorted(len(body.get("documents") or body["texts"]) for body in bodies) == [1, 2, 2, 2, 2]
    assert {request.headers["authorization"] for request in server.requests} == {"Bearer sesame"}


def test_the_forms_are_those_of_the_servers(server: ScriptedModels) -> None:
    for method in ("http", "tei"):
        options = RerankSettings.model_validate({"method": method, "model": "judge", "base_url": server.base_url})
        reranker = build_reranker(Settings(rerank=options), None)
        assert reranker is not None
        reranker.score("Deep?", ["a", "b"], Deadline(10))

    assert [request.path for request in server.requests] == ["/v1/rerank", "/v1/rerank"]
    assert [request.body for request in server.requests] == [
        {"model": "judge", "query": "Deep?", "documents": ["a", "b"], "top_n": 2},
        {"query": "Deep?", "texts": ["a", "b"]},
    ]


@pytest.mark.parametrize(
    ("fault", "fact"),
    [
        ("nan", "scores that are not numbers"),
        ("short", "scores of 2 passages instead of 3"),
        ("repeated_index", "scores of 1 passages instead of 3"),
        ("garbage", "not a list of scores"),
        ("other_json", "not a list of scores"),
    ],
)
def test_what_is_no_score_a_text_is_refused(connect: Connect, server: ScriptedModels, fault: Fault, fact: str) -> None:
    server.play(Script(fault=fault))

    with pytest.raises(ModelError, match=fact):
        connect().score(QUESTION, TEXTS, Deadline(10))


@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        (Script(status=429, headers={"Retry-After": "7"}), ModelServerError, "no more requests"),
        (Script(status=500), ModelServerError, "The script says so"),
        (Script(status=422, error=b'{"error": "batch size 3 > 2"}'), ModelError, "batch size 3 > 2"),
    ],
    ids=["busy", "500", "too many"],
)
def test_failures_are_told_and_not_tried_again(
    connect: Connect, server: ScriptedModels, script: Script, kind: type[RagError], words: str
) -> None:
    server.play(script)

    with pytest.raises(kind, match=words):
        connect().score(QUESTION, TEXTS, Deadline(10))
    assert len(server.requests) == 1


@pytest.mark.parametrize("script", [Script(stall=True), Script(drip=True)], ids=["nothing", "the head only"])
def test_the_deadline_ends_a_request(connect: Connect, server: ScriptedModels, script: Script) -> None:
    server.play(script)

    deadline = Deadline(10, lambda: 20.0 if server.open_requests else 0.0)
    with pytest.raises(OutOfTimeError, match="while the reranking server was scoring"):
        connect().score(QUESTION, TEXTS, deadline)
    assert server.wait_until(lambda server: not server.open_requests)


def test_a_client_that_leaves_ends_a_request(connect: Connect, server: ScriptedModels) -> None:
    server.play(Script(stall=True))

    def clock() -> float:
        if server.open_requests:
            deadline.stop.set()
        return time.monotonic()

    deadline = Deadline(600, clock)
    with pytest.raises(OutOfTimeError, match="given up"):
        connect().score(QUESTION, TEXTS, deadline)


def test_a_failure_leaves_the_order_and_warns(connect: Connect, server: ScriptedModels) -> None:
    server.play(Script(status=503))
    hits = [LeafHit(f"d:{place}", 1.0 - place / 10, {}, {}) for place in range(3)]

    reranking = Reranking(connect(), lambda _: TEXTS, RerankSettings())
    found, warning = reranking.reorder(QUESTION, hits, Deadline(60))

    assert found == hits
    assert warning is not None
    assert warning.code == "rerank_skipped"
    assert server.base_url in warning.text


@pytest.mark.parametrize(
    ("options", "missing"),
    [
        ({"method": "http", "model": "judge"}, "RAG_RERANK__BASE_URL"),
        ({"method": "http", "base_url": "http://x"}, "RAG_RERANK__MODEL"),
        ({"method": "tei"}, "RAG_RERANK__BASE_URL"),
    ],
)
def test_a_server_has_to_be_named(options: dict[str, str], missing: str) -> None:
    with pytest.raises(SettingsError, match=f"needs {missing}"):
        build_reranker(Settings(rerank=RerankSettings.model_validate(options)), None)
