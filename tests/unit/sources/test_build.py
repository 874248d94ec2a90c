"""Settings name the sources; what cannot work stops the start and says what to set."""

from typing import Any

import pytest
from pydantic import SecretStr

from errors import SettingsError
from settings import AnswerSettings, Settings, SourcesSettings, load_settings
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
        ("meilisearch", {}, "RAG_SOURCES__MEILISEARCH_URL"),
        ("chroma", {}, "RAG_SOURCES__CHROMA_URL"),
    ],
)
def test_a_source_that_cannot_work_stops_the_start(sources: str, fields: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        names(settings(sources, **fields))


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("MEILISEARCH_URL", "http://localhost:7700"),
        ("MEILISEARCH_URL", "http://localhost:7700#a/b"),
        ("CHROMA_URL", "http://localhost:8000"),
        ("CHROMA_URL", "http://localhost:8000#notes-"),
        ("MOSAIC_URL", "https://mosaic.example/api#"),
        ("CLUEWEB_URL", "https://clueweb.example?complexity"),
        ("FINEWEB_URL", "https://fineweb.example#pages"),
    ],
)
def test_an_address_without_what_is_searched_there_or_with_odd_options_stops_the_start(name: str, address: str) -> None:
    with pytest.raises(SettingsError, match=f"RAG_SOURCES__{name} is not valid"):
        load_settings({f"RAG_SOURCES__{name}": address}, None)
