from dataclasses import replace
from typing import Any

import pytest

from query_engine.retrieval.pipeline import RetrievalPipeline
from query_engine.retrieval.reranking.base import Reranking
from query_engine.schema.hit import LeafHit
from settings import RerankSettings, RetrievalSettings
from tests.fakes.engines import ORIGIN, FakeEngine, a_passage
from tests.fakes.http import client_of
from tests.fakes.reranking import LengthReranker


@pytest.mark.promise("G09")
def test_passages_come_with_the_promised_keys() -> None:
    reply = client_of(FakeEngine()).post("/retrieve", json={"question": "What?"}).json()

    passage = a_passage()
    assert reply == {
        "passages": [
            {
                "node_id": passage.node_id,
                "chunk_id": "guide/wind.md#00002",
                "doc_id": "guide/wind.md",
                "title": "Wind",
                "url": None,
                "level": "leaf",
                "start": 10,
                "end": 28,
                "pages": [0],
                "score": 0.9,
                "scores": {"dense": 0.8, "fused": 0.9},
                "text": "Wind turns blades.",
                **ORIGIN,
            }
        ],
        "timings_ms": {"retrieve": 3.0},
        "warnings": ["rerank_skipped: It is too slow."],
        "retrieval_id": None,
    }


def leaf(number: int, score: float, scores: dict[str, float], ranks: dict[str, int], **place: int) -> dict[str, Any]:
    node_id = f"0a1b2c.{number}"
    return {"node_id": node_id, "score": score, "scores": scores, "ranks": ranks, "start": 0, "end": 0, **place}


def test_an_explanation_names_the_leaves_with_scores_and_ranks_and_why_passages_were_merged_or_not() -> None:
    engine = FakeEngine()
    hits = (
        LeafHit("0a1b2c.5", 0.9, {"dense": 0.8, "lexical": 3.5}, {"dense": 2, "lexical": 1}, 40, 90),
        LeafHit("0a1b2c.4", 0.5, {"dense": 0.7}, {"dense": 3}),
    )
    engine.found = (
        replace(a_passage(), hits=hits, merged="2 matching leaves follow each other"),
        replace(a_passage("sea.md"), alone="The next one is too far away"),
    )
    client = client_of(engine)

    plain = client.post("/retrieve", json={"question": "What?"}).json()["passages"]
    explained = client.post("/retrieve", json={"question": "What?", "explain": True}).json()["passages"]

    assert [passage.pop("explanation") for passage in explained] == [
        {
            "leaves": [
                leaf(5, 0.9, {"dense": 0.8, "lexical": 3.5}, {"dense": 2, "lexical": 1}, start=40, end=90),
                leaf(4, 0.5, {"dense": 0.7}, {"dense": 3}),
            ],
            "merged": "2 matching leaves follow each other",
            "not_merged": None,
        },
        {
            "leaves": [leaf(4, 0.9, {"dense": 0.8}, {"dense": 1})],
            "merged": None,
            "not_merged": "The next one is too far away",
        },
    ]
    assert explained == plain


def test_an_explanation_names_the_leaves_that_were_found_and_are_not_read() -> None:
    engine = FakeEngine()
    engine.left_out = (a_passage("sea.md"),)
    client = client_of(engine)

    [left] = client.post("/retrieve", json={"question": "What?", "explain": True}).json()["left_out"]

    assert (left["doc_id"], left["text"], left["score"]) == ("sea.md", "Wind turns blades.", 0.9)
    assert "explanation" not in left
    assert "left_out" not in client.post("/retrieve", json={"question": "What?"}).json()


def test_what_the_body_leaves_out_comes_from_the_settings() -> None:
    engine = FakeEngine()
    client_of(engine, retrieval={"top_k": 5}).post("/retrieve", json={"question": "What?"})

    assert engine.options == [RetrievalSettings(top_k=5)]


def test_what_the_body_says_wins() -> None:
    engine = FakeEngine()
    chosen: dict[str, Any] = {
        "top_k": 3,
        "budget_chars": 500,
        "mode": "lexical",
        "dense_share": 0,
        "merge": False,
        "max_per_document": 2,
    }
    client_of(engine, retrieval={"top_k": 5}).post("/retrieve", json={"question": "What?", **chosen})

    assert engine.options == [RetrievalSettings(**chosen)]


def reranking_engine() -> FakeEngine:
    engine = FakeEngine()
    engine.pipeline = RetrievalPipeline(reranking=Reranking(LengthReranker(), list, RerankSettings()))
    return engine


@pytest.mark.promise("G09")
@pytest.mark.parametrize(
    ("body", "query"),
    [({}, None), ({"rerank": True}, None), ({"rerank_query": "mine"}, "mine"), ({"rerank": False}, None)],
)
def test_a_request_may_leave_reranking_out_or_give_it_a_question(body: dict[str, Any], query: str | None) -> None:
    engine = reranking_engine()
    client_of(engine).post("/retrieve", json={"question": "What?", **body})

    (pipeline,) = engine.refinements
    assert pipeline is not None
    assert (pipeline.reranking.query if pipeline.reranking else None) == query


@pytest.mark.parametrize("body", [{"rerank": True}, {"rerank_query": "mine"}])
def test_reranking_that_the_service_does_not_have_is_refused(body: dict[str, Any]) -> None:
    reply = client_of(FakeEngine()).post("/retrieve", json={"question": "What?", **body})

    assert reply.status_code == 422
    assert "no reranker" in reply.text
    assert "RAG_RERANK__MODEL" in reply.text
