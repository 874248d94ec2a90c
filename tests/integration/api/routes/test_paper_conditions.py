"""Every route of papers returns only what meets the conditions of its request, whichever way it searches.

One paper here stands under two topics, and has documents of several types and releases: a search that goes back from
documents to papers finds those of the other topics again.
"""

import json
from collections.abc import Callable, Iterator
from itertools import combinations, product
from typing import Any

import pytest
from starlette.testclient import TestClient

from query_engine.engine import Engine
from settings import ChunkSettings, Settings
from tests.fakes.http import client_over
from tests.fakes.library import Library
from tests.fakes.reading import a_leaf_reader

SHARED, OTHER = "5e7b1f2a98f3bd0a7c4d1e01", "5e7b1f2a98f3bd0a7c4d1e02"
ROUTES = ["/vector", "/hybrid", "/react", "/react_streaming"]
OPEN = Settings.model_validate({"answer": {"min_confidence": 0}})
QUESTION = "Which sensors count the birds of the estuary?"

Hit = dict[str, Any]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("papers")
    library = Library(folder, chunk=ChunkSettings(root_tokens=64, middle_tokens=32, leaf_tokens=16))
    for topic, kind, release in product(("birds", "water"), ("paragraph", "figure"), ("v1", "v2")):
        files = folder / f"{topic}-{kind}-{release}"
        files.mkdir()
        for paper in (SHARED, OTHER):
            begins = f"The {topic} {kind} {release} of {paper[-1]}:"
            first = f"{begins} sensors count the birds of the estuary by ear."
            second = f"{begins} LIDAR is one of the sensors that count the birds."
            (files / f"{paper}.txt").write_text(f"{first}\n\n{second}")
        metadata = {"topic": topic, "doc_type": kind, "preprocessor_id": release}
        library.ingest(files.name, files, metadata=metadata)
    reader = a_leaf_reader(library.corpus)
    engine = Engine(library.corpus, library.embedder, reader, (), settings=OPEN)
    yield client_over(engine, OPEN)
    library.close()


def found(client: TestClient, route: str, **body: Any) -> list[Hit]:
    """Return every paragraph that a reply shows, at whatever stage."""
    reply = client.post(route, json={"question": QUESTION, "top_k": 50} | body)
    assert reply.status_code == 200, reply.text
    if route != "/react_streaming":
        whole = reply.json()
        return list(whole["used_docs"] if route == "/react" else whole)
    records = [json.loads(line) for line in reply.text.splitlines()]
    return [hit for record in records for hit in record.get("used_docs", ())]


MEETS: dict[str, Callable[[Any, Hit], bool]] = {
    "topic": lambda value, hit: hit["metadata"]["topic"] == value,
    "doc_type": lambda value, hit: hit["doc_type"] == value,
    "preprocessor_id": lambda value, hit: hit["metadata"]["preprocessor_id"] == value,
    "paper_ids": lambda value, hit: hit["paper_id"] in value,
    "paragraph_terms": lambda value, hit: all(term in hit["text"] for term in value),
    "distance": lambda value, hit: hit["distance"] <= value,
}
CONDITIONS: list[dict[str, Any]] = [
    {"topic": "birds"},
    {"topic": "water"},
    {"doc_type": "figure"},
    {"doc_type": "paragraph"},
    {"preprocessor_id": "v2"},
    {"paper_ids": [OTHER]},
    {"paragraph_terms": ["LIDAR"]},
    {"distance": 0.5},
]
PAIRS = [one | other for one, other in combinations(CONDITIONS, 2) if one.keys() != other.keys()]


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("body", CONDITIONS + PAIRS, ids="+".join)
def test_all_that_is_returned_meets_the_conditions(client: TestClient, route: str, body: dict[str, Any]) -> None:
    hits = found(client, route, **body)

    assert hits
    assert all(MEETS[name](value, hit) for hit in hits for name, value in body.items())


@pytest.mark.parametrize("screening_top_k", [1, 2])
def test_screening_narrows_what_the_conditions_allow(client: TestClient, screening_top_k: int) -> None:
    everywhere = found(client, "/vector", topic="water", doc_type="figure")
    screened = found(client, "/hybrid", topic="water", doc_type="figure", screening_top_k=screening_top_k)

    assert {hit["paper_id"] for hit in everywhere} == {SHARED, OTHER}
    assert len({hit["paper_id"] for hit in screened}) == screening_top_k
    assert {hit["source_path"] for hit in screened} <= {hit["source_path"] for hit in everywhere}


@pytest.mark.parametrize("route", ["/react", "/react_streaming"])
@pytest.mark.parametrize(
    "question", ["Which documents do you have?", "How many documents are there?", "Summarise the water figure v2"]
)
def test_a_question_about_the_collection_is_answered_from_paragraphs_too(
    client: TestClient, route: str, question: str
) -> None:
    reply = client.post(route, json={"question": question, "topic": "birds", "top_k": 50})

    assert "The water" not in reply.text
    assert "water-" not in reply.text
