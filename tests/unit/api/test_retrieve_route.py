from settings import RetrievalSettings
from tests.fakes.engines import FakeEngine, a_passage
from tests.fakes.http import client_of


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
            }
        ],
        "timings_ms": {"retrieve": 3.0},
    }


def test_what_the_body_leaves_out_comes_from_the_settings() -> None:
    engine = FakeEngine()
    client_of(engine, retrieval={"top_k": 5}).post("/retrieve", json={"question": "What?"})

    assert engine.options == [RetrievalSettings(top_k=5)]


def test_what_the_body_says_wins() -> None:
    engine = FakeEngine()
    body = {"question": "What?", "top_k": 3, "budget_chars": 500, "mode": "lexical", "merge": False}
    client_of(engine, retrieval={"top_k": 5}).post("/retrieve", json=body)

    assert engine.options == [RetrievalSettings(top_k=3, budget_chars=500, mode="lexical", merge=False)]
