"""Steps that ask search services and stores of others."""

from collections.abc import Iterator
from typing import Any

import pytest

from errors import PipelineError
from index.documents.store import Document
from pipelines.running import FailedStepError
from pipelines.state import PipelineState
from pipelines.steps import foreign_sources
from sources import tries
from sources.base import SourcePage
from tests.fakes.pipelines import a_model, body_of, fake_services, run_body
from tests.fakes.sources import FakeSource
from tests.servers.mosaic import MosaicServer, hit
from tests.servers.search_service import SearchService

INDEXES = {
    "arts": [hit("1", "Wind turns the blades."), hit("2", "Der Wind dreht die Blätter.", language="deu")],
    "science": [hit("3", "Wind is moving air.")],
}


@pytest.fixture
def mosaic() -> Iterator[MosaicServer]:
    with MosaicServer(INDEXES) as running:
        yield running


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tries, "ATTEMPTS", 1)


def run(*steps: Any, query: str = "wind", **sources: Any) -> PipelineState:
    services = fake_services(model=a_model(str), sources=sources)
    return run_body(body_of(*steps, query=query), services=services)


@pytest.mark.promise("D15")
def test_the_seeds_own_body_runs(mosaic: MosaicServer) -> None:
    parameters = {"output_column": "full-text", "url": mosaic.url, "limit": "50", "search_index": "arts"}
    step = {"input_column": "full-text", "output_column": "cleaned-text", "language_column": "language"}

    state = run(
        ("mosaic_datasource", parameters),
        ("stopword_removal", step),
        ("reduction_step", {"k": "1"}),
        mosaic_url=mosaic.url,
    )

    assert mosaic.requests[0] == ("/search", {"q": "wind", "limit": "50", "index": "arts"})
    assert state.rows(["id", "doc_id", "title", "url", "full-text", "cleaned-text", "_original_ranking_"]) == [
        {
            "id": "1",
            "doc_id": "https://mosaic.example/1",
            "title": "Page 1",
            "url": "https://mosaic.example/1",
            "full-text": "Wind turns the blades.",
            "cleaned-text": "Wind turns blades.",
            "_original_ranking_": 1,
        }
    ]
    assert state.values("_source_index_") == ["arts"]
    roles = state.history[0].roles
    assert (roles["full-text"], roles["_original_ranking_"], roles["language"]) == (("text",), ("rank",), ("chip",))


def test_two_sources_follow_each_other(mosaic: MosaicServer) -> None:
    state = run(
        ("mosaic_datasource", {"search_index": "science"}),
        ("mosaic_datasource", {"search_index": "arts", "metadata_columns": "wordCount, title, _original_ranking_"}),
        mosaic_url=mosaic.url,
    )

    assert state.values("id") == ["3", "1", "2"]
    assert state.values("_original_ranking_") == [1, 2, 3]
    assert state.values("wordCount") == [None, 4, 5]


def test_nothing_found_is_an_empty_table_with_a_warning(mosaic: MosaicServer) -> None:
    state = run("mosaic_datasource", "word_counter", "tf_idf_reranker", query="volcano", mosaic_url=mosaic.url)

    assert state.rows() == []
    assert state.history[0].warnings == ("The source 'mosaic' returned nothing for this query.",)


def test_a_source_that_is_down_fails_the_step_by_class_and_number(mosaic: MosaicServer) -> None:
    mosaic.fails["/search"] = 500

    with pytest.raises(FailedStepError, match=r"SourceError in step 1 \(mosaic_datasource\): .*HTTP 500"):
        run("mosaic_datasource", mosaic_url=mosaic.url)
    state = run({"id": "mosaic_datasource", "on_error": "continue"}, mosaic_url=mosaic.url)
    assert "The step was left out: SourceError" in state.history[0].warnings[0]


@pytest.mark.promise("D15")
def test_clueweb_fineweb_and_meilisearch() -> None:
    documents = [Document("betz.md", "Betz", "Betz\n\nAlbert Betz published the limit of wind turbines in 1919.")]
    with SearchService(documents, "secret") as service:
        settings = {"clueweb_url": service.url, "clueweb_key": "secret", "fineweb_url": service.url}
        settings |= {"meilisearch_url": f"{service.url}#pages"}
        for step in ("clueweb_datasource", "fineweb_datasource", "meili_datasource"):
            state = run((step, {"limit": 3}), query="limit of wind turbines", **settings)
            assert state.values("full-text") == [documents[0].text], step
            assert state.values("title") == ["Betz"], step
        assert [request.params.get("k", request.params.get("limit")) for request in service.requests] == ["3", "3", 3]


@pytest.mark.promise("D15")
def test_chroma_is_searched_with_the_services_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    page = SourcePage("7", None, "Salt", "Salt stores heat.", facts={"year": 2020, "tags": ["a", "b"]})
    source = FakeSource("chroma", [page, SourcePage("8", None, "", " ")], skipped=1)
    calls: list[Any] = []

    def opened(name: str, settings: Any, embed: Any, **where: str) -> FakeSource:
        calls.append((name, settings.chroma_url, len(embed("salt")), where))
        return source

    monkeypatch.setattr(foreign_sources, "open_source", opened)

    given = {"collection": "notes", "limit": 5, "metadata_columns": "year,tags"}
    state = run(("chroma_datasource", given), query="salt", chroma_url="http://chroma:8000#notes")

    assert calls[-1] == ("chroma", "http://chroma:8000#notes", 64, {"url": "", "part": "notes"})
    assert [(query.text, query.k) for query in source.queries] == [("salt", 5)]
    assert state.rows(["id", "doc_id", "url", "year", "tags"]) == [
        {"id": "7", "doc_id": "chroma/7", "url": None, "year": 2020, "tags": ["a", "b"]}
    ]
    assert state.history[0].warnings == ("2 broken records of chroma were skipped.",)


def test_long_pages_are_cut_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    source = FakeSource("mosaic", [SourcePage("1", None, "", "wind " * 400)])
    monkeypatch.setattr(foreign_sources, "open_source", lambda *_, **__: source)

    monkeypatch.setattr("sources.corpus.MAX_PAGE_CHARS", 1000)
    state = run("mosaic_datasource")

    assert len(state.texts("full-text")[0]) < 1001
    assert state.history[0].warnings == ("Of 1 long pages of mosaic only the first 1,000 characters were read.",)


@pytest.mark.parametrize(
    ("step", "given", "told"),
    [
        (
            "mosaic_datasource",
            {"url": "http://127.0.0.1:9200"},
            r"Step 1 \(mosaic_datasource\): The address .* allowed",
        ),
        ("mosaic_datasource", {"url": "file:///etc/passwd"}, "'url' is not valid"),
        ("mosaic_datasource", {"limit": 501}, "'limit' is not valid"),
        ("mosaic_datasource", {"limit": 0}, "'limit' is not valid"),
        ("mosaic_datasource", {"search_index": "../x"}, "'search_index' is not valid"),
        ("mosaic_datasource", {"serch_index": "x"}, "'serch_index'.*nearest known one is 'search_index'"),
        ("mosaic_datasourc", {}, "nearest known one is 'mosaic_datasource'"),
        ("chroma_datasource", {}, "RAG_SOURCES__CHROMA_URL"),
        ("meili_datasource", {}, "RAG_SOURCES__MEILISEARCH_URL"),
        ("meili_datasource", {"index": "a/../b"}, "'index' is not valid"),
        ("clueweb_datasource", {}, "RAG_SOURCES__CLUEWEB_KEY"),
        ("fineweb_datasource", {"limit": 101}, "'limit' is not valid"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_runs(step: str, given: dict[str, Any], told: str) -> None:
    with pytest.raises(PipelineError, match=told):
        run((step, given))


def test_chroma_takes_mosaicrags_names_and_warns_of_another_embedding_model(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def opened(*_: Any, **where: str) -> FakeSource:
        calls.append(where)
        return FakeSource("chroma", [SourcePage("7", "Salt", "", "Salt.")])

    monkeypatch.setattr(foreign_sources, "open_source", opened)

    state = run(
        (
            "chroma_datasource",
            {"chromadb_url": "chroma:8000", "chromadb_collection": "arts", "embedding_model": "mxbai", "limit": "10"},
        ),
    )

    assert calls[-1] == {"url": "http://chroma:8000", "part": "arts"}
    assert "'mxbai' is not served; 'minilm' is" in state.history[0].warnings[0]
    with pytest.raises(PipelineError, match="mean the same"):
        run(("chroma_datasource", {"collection": "arts", "chromadb_collection": "arts"}))
