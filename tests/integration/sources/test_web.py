"""A question is answered from a search service's pages with quotes that stand in them, and their addresses."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import chromadb
import numpy as np
import pytest
from pydantic import SecretStr

from errors import SettingsError, SourceError
from index.documents.store import Document
from query_engine.build import Engines
from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
from query_engine.schema.events import Done
from settings import AnswerSettings, EmbedSettings, IndexSettings, Settings, SourcesSettings
from sources.base import SourceQuery
from sources.build import build_source_engine, build_sources
from sources.corpus import open_source_corpus
from tests.servers.databases import chroma_server
from tests.servers.search_service import BROKEN_RECORDS, Fault, SearchService

DOCUMENTS = [
    Document("betz", "Betz", "Albert Betz was a German physicist. He published the limit of wind turbines in 1919."),
    Document("salt", "Salt", "Solar salt is 60 per cent sodium nitrate and 40 per cent potassium nitrate by weight."),
]

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def engines(model_cache: Path) -> Iterator[Engines]:
    with closing(Engines(Settings(embed=EmbedSettings(cache_dir=model_cache)))) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _one_try(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sources.tries.ATTEMPTS", 1)


def settings_for(**sources: object) -> Settings:
    return Settings(answer=AnswerSettings(sources="clueweb,fineweb"), sources=SourcesSettings(**sources))


async def test_an_answer_quotes_a_page_and_cites_its_address(engines: Engines) -> None:
    with SearchService(DOCUMENTS, "secret") as service:
        settings = settings_for(clueweb_url=service.url, clueweb_key=SecretStr("secret"), fineweb_url=service.url)
        web = build_source_engine(engines, settings)
        assert web is not None
        service.play(Fault(broken_records=BROKEN_RECORDS), Fault(500, b"{}"))
        *_, done = [event async for event in web.stream(Inquiry("When did Betz publish the limit of wind turbines?"))]

    assert isinstance(done, Done)
    assert done.answer is not None
    assert "1919" in done.answer
    assert [citation.url for citation in done.citations] == ["https://corpus.example/betz"]
    (citation,) = done.citations
    assert DOCUMENTS[0].text[citation.start : citation.end] == citation.quote
    assert {warning.code for warning in done.warnings} >= {"records_skipped", "source_server_error"}


def test_a_corpus_grows_with_each_search(engines: Engines) -> None:
    with SearchService(DOCUMENTS) as service:
        settings = settings_for(clueweb_url=service.url, clueweb_key=SecretStr("any"), fineweb_url=service.url)
        sources = build_sources(settings, engines.embed_query)
        with open_source_corpus(engines, sources, "What did Betz find?") as corpus:
            first = corpus.search("limit of wind turbines", Deadline(60))
            second = corpus.search("solar salt", Deadline(60))

            assert {passage.doc_id for passage in first.passages} == {"https://corpus.example/betz"}
            assert second.passages[0].url == "https://corpus.example/salt"
            assert corpus.pages == 2


def test_a_foreign_chroma_collection_is_searched(engines: Engines, tmp_path: Path) -> None:
    texts = [document.text for document in DOCUMENTS]
    with chroma_server(tmp_path) as server:
        client = chromadb.HttpClient(host="127.0.0.1", port=int(server.url.rpartition(":")[2]))
        made = client.create_collection("notes", embedding_function=None)
        made.add(
            ids=["betz", "salt"],
            documents=texts,
            embeddings=np.asarray([engines.embed_query(text) for text in texts], np.float32),
            metadatas=[{"url": "https://example.org/betz"}, {"title": "Salt"}],
        )
        settings = Settings(
            answer=AnswerSettings(sources="chroma"),
            sources=SourcesSettings(chroma_url=f"{server.url}#notes"),
        )
        (source,) = build_sources(settings, engines.embed_query)
        found = source.search(SourceQuery("What is solar salt?", 1, "?"), Deadline(60))
        assert [(page.title, page.text) for page in found.pages] == [("Salt", texts[1])]
        assert len(source.search(SourceQuery("What is solar salt?", 9, "?"), Deadline(60)).pages) == 2

        other = client.create_collection("other", embedding_function=None)
        other.add(ids=["a"], documents=["b"], embeddings=np.ones((1, 2), np.float32))
        for name in ("other", "missing"):
            changed = settings.sources.model_copy(update={"chroma_url": f"{server.url}#{name}"})
            (source,) = build_sources(settings.model_copy(update={"sources": changed}), engines.embed_query)
            with pytest.raises(SourceError) as caught:
                source.search(SourceQuery("What is solar salt?", 1, "?"), Deadline(60))
            assert caught.value.code == "source_not_found"


def test_a_corpus_may_not_have_the_name_of_the_sources(model_cache: Path, tmp_path: Path) -> None:
    settings = Settings(
        embed=EmbedSettings(cache_dir=model_cache),
        index=IndexSettings(dir=tmp_path),
        answer=AnswerSettings(sources="fineweb"),
    )
    with closing(Engines(settings)) as engines:
        engines.get("web", create=True)
        with pytest.raises(SettingsError, match="'web'"):
            build_source_engine(engines, settings)
