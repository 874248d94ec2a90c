"""Settings name the sources; what cannot work stops the start and says what to set."""

from typing import Any

import pytest
from pydantic import SecretStr

from errors import SettingsError
from settings import AnswerSettings, Settings, SourcesSettings
from sources.build import build_sources


def settings(sources: str | None, **fields: Any) -> Settings:
    return Settings(answer=AnswerSettings(sources=sources), sources=SourcesSettings(**fields))


def names(found: Settings) -> list[str]:
    return [source.name for source in build_sources(found, lambda _: [0.0])]


def test_sources_come_in_their_order_each_once() -> None:
    assert names(settings("fineweb, clueweb,fineweb", clueweb_key=SecretStr("k"))) == ["fineweb", "clueweb"]
    assert names(settings(None)) == []


@pytest.mark.parametrize(
    ("sources", "fields", "told"),
    [
        ("cluweb", {}, "Did you mean 'clueweb'"),
        ("google", {}, "Known: clueweb, fineweb, meilisearch, chroma, mosaic"),
        ("clueweb", {}, "RAG_SOURCES__CLUEWEB_KEY"),
        ("meilisearch", {"meilisearch_index": "pages"}, "RAG_SOURCES__MEILISEARCH_URL"),
        ("meilisearch", {"meilisearch_url": "http://localhost:7700"}, "RAG_SOURCES__MEILISEARCH_INDEX"),
        ("chroma", {"chroma_url": "http://localhost:8000"}, "RAG_SOURCES__CHROMA_COLLECTION"),
    ],
)
def test_a_source_that_cannot_work_stops_the_start(sources: str, fields: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        names(settings(sources, **fields))
