from typing import Any

import pytest

from errors import SettingsError
from index.documents.store import Metadata
from query_engine.retrieval.papers import PaperQuestion, Paragraph
from query_engine.retrieval.steering import Steering
from settings import load_settings
from tests.fakes.corpora import stored
from tests.fakes.engines import FakeEngine
from tests.fakes.http import client_of

ROUTES = ["/vector", "/hybrid"]
ASK: dict[str, Any] = {"question": "What is SIDARTHE model?"}
KEYS = {"keys": "first-key-0123456789,second-key-0123456789"}


def finding(metadata: Metadata | None = None) -> FakeEngine:
    engine = FakeEngine()
    document = stored("p1.txt", "The SIDARTHE model has eight\nstages.")
    document.metadata.update({} if metadata is None else metadata)
    engine.paper_search.found = [Paragraph(document, document.text, 0.25)]
    return engine


@pytest.mark.promise("C02")
def test_the_root_answers_a_ping() -> None:
    assert client_of(FakeEngine(), serve=KEYS).get("/").json() == {"ping": "pong!"}


@pytest.mark.promise("C07")
@pytest.mark.parametrize("path", ROUTES)
def test_a_paragraph_comes_with_the_promised_fields_and_where_it_is_from(path: str) -> None:
    terms = ["SIDARTHE", "eight stages", "Not Here"]
    metadata: Metadata = {"paper_id": "p1", "doc_type": "figure", "cosmos_object_id": "o7", "paragraph_terms": terms}
    engine = finding(metadata)

    assert client_of(engine).post(path, json=ASK).json() == [
        {
            "paper_id": "p1",
            "doc_type": "figure",
            "text": "The SIDARTHE model has eight\nstages.",
            "distance": 0.25,
            "cosmos_object_id": "o7",
            "article_terms": [],
            "paragraph_terms": ["SIDARTHE", "eight stages"],
            "source_path": "p1.txt",
            "content_type": "",
            "chunk_index": 0,
            "metadata": metadata,
        }
    ]


def test_a_document_that_is_no_paper_has_its_own_name_for_one() -> None:
    (shown,) = client_of(finding()).post("/vector", json=ASK).json()

    assert (shown["paper_id"], shown["doc_type"], shown["cosmos_object_id"]) == ("p1.txt", "paragraph", None)


def test_left_out_and_null_are_the_documented_defaults() -> None:
    engine = finding()
    client = client_of(engine)
    nothing = dict.fromkeys(["top_k", "distance", "topic", "paper_ids", "paragraph_terms", "move_to", "move_to_weight"])
    client.post("/vector", json=ASK)
    client.post("/hybrid", json=ASK | nothing | {"screening_top_k": None})

    plain = PaperQuestion(ASK["question"], top_k=5)
    assert engine.paper_search.questions == [plain, PaperQuestion(ASK["question"], top_k=5, screening_top_k=100)]


@pytest.mark.promise("C03")
def test_every_field_reaches_the_search() -> None:
    engine = finding()
    body = {
        **ASK,
        "top_k": 3,
        "distance": 1,
        "topic": "covid",
        "doc_type": "figure",
        "preprocessor_id": "v2",
        "article_terms": ["old"],
        "paragraph_terms": ["SIDARTHE"],
        "paper_ids": ["p1", "p2"],
        "move_to": "mathematical equation",
        "move_to_weight": 0.5,
        "move_away_from": "general commentary",
        "move_away_from_weight": 1,
        "screening_top_k": 7,
    }
    reply = client_of(engine).post("/hybrid", json=body)

    assert engine.paper_search.questions == [
        PaperQuestion(
            text=ASK["question"],
            top_k=3,
            max_distance=1,
            topic="covid",
            doc_type="figure",
            preprocessor_id="v2",
            paper_ids=["p1", "p2"],
            paragraph_terms=["SIDARTHE"],
            screening_top_k=7,
            steering=Steering("mathematical equation", 0.5, "general commentary", 1),
        )
    ]
    assert "article_terms is obsolete" in reply.headers["warning"]


@pytest.mark.promise("C08")
@pytest.mark.parametrize("path", ROUTES)
def test_no_hit_is_not_an_empty_list(path: str) -> None:
    reply = client_of(FakeEngine()).post(path, json=ASK)

    assert reply.status_code == 404
    assert reply.json()["error"]["code"] == "nothing_found"


def test_screening_is_not_used_by_vector_which_says_so() -> None:
    engine = finding()
    vector = client_of(engine).post("/vector", json=ASK | {"screening_top_k": 9, "article_terms": ["old"]})
    hybrid = client_of(engine).post("/hybrid", json=ASK | {"screening_top_k": 9})

    assert (vector.status_code, hybrid.status_code) == (200, 200)
    assert [question.screening_top_k for question in engine.paper_search.questions] == [None, 9]
    assert "screening_top_k" in vector.headers["warning"]
    assert "article_terms" in vector.headers["warning"]
    assert "warning" not in hybrid.headers


@pytest.mark.promise("C01")
@pytest.mark.parametrize("path", [*ROUTES, "/react", "/react_streaming"])
@pytest.mark.parametrize(
    "sent", [None, "", "wrong", "first-key-0123456789,second-key-0123456789", "first-ke", "schl\xfcssel"]
)
def test_without_a_right_key_nobody_passes(path: str, sent: str | None) -> None:
    engine = finding()
    headers = {} if sent is None else {b"Api-Key": sent.encode("latin-1")}
    reply = client_of(engine, serve=KEYS).post(path, json=ASK, headers=headers)

    assert reply.status_code == 403
    assert reply.json()["error"]["code"] == "key_refused"
    assert engine.paper_search.questions == []


@pytest.mark.parametrize(
    ("serve", "key"), [(KEYS, "first-key-0123456789"), (KEYS, "second-key-0123456789"), ({}, "whatever")]
)
def test_each_key_opens_and_any_where_none_is_set(serve: dict[str, str], key: str) -> None:
    assert client_of(finding(), serve=serve).post("/vector", json=ASK, headers={"Api-Key": key}).status_code == 200


@pytest.mark.parametrize("keys", [",", "a,,b", "a b", " a", "schl\xfcssel", "a,"])
def test_keys_that_no_header_could_carry_stop_the_start_and_are_not_shown(keys: str) -> None:
    with pytest.raises(SettingsError, match="RAG_SERVE__KEYS is not valid: a key is one or more") as caught:
        load_settings({"RAG_SERVE__KEYS": keys}, None)
    assert f"'{keys}'" not in str(caught.value)
