"""`POST /retrieve` with `explain`: what really spoke for a passage, over real stores."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from query_engine.engine import Engine
from settings import Settings
from tests.fakes.corpora import make_corpus
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.http import client_over
from tests.fakes.reading import a_leaf_reader

LEAVES = [
    "Betz published the rotor limit.",
    "The rotor limit holds for any rotor.",
    "No rotor beats the limit of Betz.",
    "Wheat is a cereal.",
    "Bread is baked from wheat.",
    "Ovens are hot.",
]
TEXTS = {"betz.md": " ".join(LEAVES), "dams.md": "Dams hold water back. Fish need ladders. Rivers run on."}
QUESTION = "What is the rotor limit of Betz?"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    embedder = WordHashEmbedding()
    corpus = make_corpus(tmp_path_factory.mktemp("explain") / "books", TEXTS, embedder)
    engine = Engine(corpus, embedder, a_leaf_reader(corpus), (), settings=Settings())
    yield client_over(engine, Settings())
    corpus.close()


def passages(client: TestClient, **options: Any) -> list[dict[str, Any]]:
    reply = client.post("/retrieve", json={"question": QUESTION, "explain": True, **options})
    assert reply.status_code == 200, reply.text
    found: list[dict[str, Any]] = reply.json()["passages"]
    return found


@pytest.mark.promise("G12")
def test_a_leaf_is_explained_by_itself_with_its_place_in_each_search(client: TestClient) -> None:
    found = passages(client, merge=False, top_k=3)

    assert {passage["text"] for passage in found} == set(LEAVES[:3])
    for passage in found:
        (leaf,) = passage["explanation"]["leaves"]
        assert (leaf["node_id"], leaf["score"]) == (passage["node_id"], passage["score"])
        assert leaf["scores"]["dense"] == passage["scores"]["dense"]
        assert leaf["scores"]["lexical"] > 0
        assert (passage["explanation"]["merged"], passage["explanation"]["not_merged"]) == (None, None)
    for search in ("dense", "lexical"):
        ranks = {passage["explanation"]["leaves"][0]["ranks"][search]: passage["scores"][search] for passage in found}
        assert sorted(ranks) == [1, 2, 3]
        assert ranks[1] >= ranks[2] >= ranks[3]


@pytest.mark.promise("B20")
def test_a_merged_passage_names_its_leaves_best_first_and_why_it_is_larger(client: TestClient) -> None:
    best = passages(client, top_k=2)[0]
    leaves = best["explanation"]["leaves"]

    assert best["level"] == "root"
    assert best["text"] == TEXTS["betz.md"]
    assert len(leaves) == len({leaf["node_id"] for leaf in leaves}) == len(LEAVES)
    scores = [leaf["score"] for leaf in leaves]
    assert scores == sorted(scores, reverse=True)
    assert best["scores"]["dense"] == max(leaf["scores"]["dense"] for leaf in leaves)
    assert best["explanation"]["merged"] == "6 matching leaves make up this root passage"


def test_without_the_wish_nothing_is_explained(client: TestClient) -> None:
    assert all("explanation" not in passage for passage in passages(client, explain=False))
