"""A folder as ASK-xDD keeps its papers, ingested and asked as its README does, over real stores."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from query_engine.engine import Engine
from settings import ChunkSettings, Settings
from tests.fakes.embedding import word_vector
from tests.fakes.http import client_over
from tests.fakes.library import Library
from tests.fakes.reading import a_leaf_reader

MODEL, MASKS, VACCINES = "5e7b1f2a98f3bd0a7c4d1e01", "5e7b1f2a98f3bd0a7c4d1e02", "5e7b1f2a98f3bd0a7c4d1e03"
PAPERS = {
    MODEL: "The SIDARTHE model of the epidemic has eight stages of infection.\n\n"
    "Its parameters are fitted with data from Italy, and the WHO publishes such numbers every day of the week.",
    MASKS: "Masks slow the spread of droplets in closed rooms.\n\n"
    "The WHO advises to wear them in trains and buses, wherever many people stand close to each other for long.",
    VACCINES: "Vaccines train the immune system against the virus.\n\n"
    "Two doses of BNT162b2 protect most people against a severe course, as trials in several countries have shown.",
}
FIGURE = f"{MODEL}.f00d.txt"
QUESTION: dict[str, Any] = {"topic": "covid", "question": "What is SIDARTHE model?", "top_k": 3}
FIELDS = {"paper_id", "doc_type", "text", "distance", "cosmos_object_id", "article_terms", "paragraph_terms"}
ROUTES = ["/vector", "/hybrid"]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("papers")
    library = Library(folder, chunk=ChunkSettings(root_tokens=64, middle_tokens=32, leaf_tokens=16))
    for name, text in PAPERS.items():
        (library.files / f"{name}.txt").write_text(text)
    library.ingest(metadata={"topic": "covid"})
    library.ingest("figures", folder_of(folder / "figures", FIGURE, "Figure 1: stages of SIDARTHE"), **figure("covid"))
    library.ingest("geo", folder_of(folder / "geo", "rocks.md", "# Rocks\n\nThe SIDARTHE ridge is no model of rocks."))
    engine = Engine(library.corpus, library.embedder, a_leaf_reader(library.corpus), (), settings=Settings())
    settings = Settings.model_validate({"serve": {"keys": "k1-0123456789abc"}})
    yield client_over(engine, settings, headers={"Api-Key": "k1-0123456789abc"})
    library.close()


def figure(topic: str) -> dict[str, Any]:
    return {"metadata": {"topic": topic, "doc_type": "figure"}}


def folder_of(folder: Path, name: str, text: str) -> Path:
    folder.mkdir()
    (folder / name).write_text(text)
    return folder


def found(client: TestClient, path: str, **body: Any) -> list[dict[str, Any]]:
    reply = client.post(path, json=QUESTION | body)
    assert reply.status_code == 200, reply.text
    hits: list[dict[str, Any]] = reply.json()
    return hits


def papers(hits: list[dict[str, Any]]) -> set[str]:
    return {hit["paper_id"] for hit in hits}


@pytest.mark.parametrize("path", ROUTES)
def test_the_example_of_its_readme_finds_the_paper(client: TestClient, path: str) -> None:
    hits = found(client, path)

    assert hits[0]["paper_id"] == MODEL
    assert "SIDARTHE" in hits[0]["paragraph_terms"]
    assert all(hit.keys() > FIELDS for hit in hits)
    assert [hit["distance"] for hit in hits] == sorted(hit["distance"] for hit in hits)


@pytest.mark.parametrize("path", ROUTES)
def test_distances_are_those_of_question_and_paragraph(client: TestClient, path: str) -> None:
    asked = word_vector(QUESTION["question"])

    for hit in found(client, path, doc_type="figure"):
        # A leaf is embedded below its document's title.
        same = word_vector(f"{hit['text']}\n{hit['text']}")
        cosine = sum(a * b for a, b in zip(asked, same, strict=True))
        assert hit["distance"] == pytest.approx(1 - cosine, abs=1e-3)


@pytest.mark.promise("C05", "C10")
def test_screening_picks_papers_by_their_words_and_finds_their_objects_too(client: TestClient) -> None:
    everywhere = found(client, "/vector", top_k=50)
    screened = found(client, "/hybrid", top_k=50, screening_top_k=1)

    assert papers(everywhere) == {MODEL, MASKS, VACCINES}
    assert papers(screened) == {MODEL}
    assert {hit["doc_type"] for hit in screened} == {"paragraph", "figure"}


def test_screening_without_a_common_word_finds_nothing(client: TestClient) -> None:
    reply = client.post("/hybrid", json=QUESTION | {"question": "zebra"})

    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "nothing_found")


@pytest.mark.promise("C03")
@pytest.mark.parametrize("path", ROUTES)
def test_conditions_hold_for_every_hit(client: TestClient, path: str) -> None:
    question = "What does the WHO say of SIDARTHE and masks and vaccines?"

    def of(**body: Any) -> list[dict[str, Any]]:
        return found(client, path, question=question, top_k=50, **body)

    assert papers(of(paper_ids=[MASKS, "gone"])) == {MASKS}
    assert papers(of(topic=None)) == {MODEL, MASKS, VACCINES, "geo/rocks.md"}
    assert {hit["cosmos_object_id"] for hit in of(doc_type="figure")} == {"f00d"}
    assert {hit["doc_type"] for hit in of(doc_type="paragraph", topic=None)} == {"paragraph"}
    with_terms = of(paragraph_terms=["WHO"])
    assert papers(with_terms) == {MODEL, MASKS}
    assert all("WHO" in hit["text"] and "WHO" in hit["paragraph_terms"] for hit in with_terms)


@pytest.mark.promise("C08")
@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize(
    "condition",
    [
        {"topic": "rocks"},
        {"doc_type": "equation"},
        {"preprocessor_id": "v1"},
        {"paper_ids": ["gone"]},
        {"paragraph_terms": ["WHO", "SIDARTHE", "BNT162b2"]},
        {"distance": 0.01},
    ],
)
def test_what_nothing_meets_is_404(client: TestClient, path: str, condition: dict[str, Any]) -> None:
    assert client.post(path, json=QUESTION | condition).status_code == 404


def test_a_distance_keeps_all_that_is_nearer(client: TestClient) -> None:
    distances = [hit["distance"] for hit in found(client, "/vector", top_k=50)]

    assert len(found(client, "/vector", top_k=50, distance=distances[3] + 1e-4)) == 4


def test_a_rare_term_is_found_however_far_its_paragraph_is(client: TestClient) -> None:
    (hit,) = found(client, "/vector", top_k=1, paragraph_terms=["BNT162b2"])

    assert hit["paper_id"] == VACCINES


@pytest.mark.promise("C04")
def test_steering_brings_other_papers_up(client: TestClient) -> None:
    goal = "Vaccines train the immune system against the virus."

    def rank(**body: Any) -> int:
        hits = found(client, "/vector", top_k=50, doc_type="paragraph", **body)
        return [hit["paper_id"] for hit in hits].index(VACCINES)

    assert rank(move_to=goal, move_to_weight=1) < rank()
    assert rank(move_to=goal, move_to_weight=0) == rank()
    nearest = found(client, "/vector", top_k=1)[0]["text"]
    assert found(client, "/vector", top_k=1, move_away_from=nearest, move_away_from_weight=1)[0]["text"] != nearest


@pytest.mark.parametrize("question", ["of the and", "🙂🙂", "что такое модель?", "x" * 8000, "a " * 3999])
def test_odd_questions_make_no_error(client: TestClient, question: str) -> None:
    for path in ROUTES:
        assert client.post(path, json={"question": question}).status_code in (200, 404)
    assert client.post("/retrieve", json={"question": question}).status_code == 200
    assert client.post("/evaluate", json={"query": question, "iid": "1"}).json()["generated_response"]


def test_without_the_key_nothing_is_told(client: TestClient) -> None:
    assert client.post("/hybrid", json=QUESTION, headers={"Api-Key": "k2"}).status_code == 403
