"""Variables of mosaicRAG that have a meaning here are taken from the environment and from `.env`."""

from pathlib import Path

import pytest

from errors import SettingsError
from settings import GONE, HOME, load_settings, variables


@pytest.mark.promise("D02")
def test_an_alias_is_read_and_the_own_name_wins(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text('APP_TITLE=Library\nAPP_DEFAULT_PIPELINE=\'{"1": {"id": "corpus_datasource"}}\'\nREDIS_HOST=none\n')

    settings = load_settings({}, file)

    assert settings.serve.title == "Library"
    assert settings.pipelines.default == {"1": {"id": "corpus_datasource"}}
    assert load_settings({"APP_TITLE": "Shelf"}, file).serve.title == "Shelf"
    assert load_settings({"RAG_SERVE__TITLE": "Own"}, file).serve.title == "Own"


@pytest.mark.parametrize("given", ["{", "[]"])
def test_a_default_pipeline_that_is_no_object_is_refused_by_its_name(given: str) -> None:
    with pytest.raises(SettingsError, match="RAG_PIPELINES__DEFAULT is not valid"):
        load_settings({"APP_DEFAULT_PIPELINE": given}, None)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("RAG_RETRIEVAL__FUSION", "RAG_RETRIEVAL__DENSE_SHARE"),
        ("RAG_SOURCES__CLUEWEB_RERANK", "RAG_SOURCES__CLUEWEB_URL"),
        ("RAG_SOURCES__FINEWEB_OPTIONS", "RAG_SOURCES__FINEWEB_URL"),
        ("RAG_SOURCES__MEILISEARCH_INDEX", "#INDEX"),
        ("RAG_STUDY__TEXTS", "RAG_STUDY__NOTES=texts"),
        ("RAG_EMBED__PROVIDER", "RAG_EMBED__BASE_URL"),
        ("RAG_ANSWER__SPELLING", "Unset it"),
    ],
)
def test_a_setting_that_is_gone_says_what_to_do_instead(name: str, remedy: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} is not a setting any more.*{remedy}"):
        load_settings({name: "true"}, None)


@pytest.mark.parametrize("preset", sorted((HOME / "presets").glob("*.env")), ids=lambda path: path.stem)
def test_a_preset_names_no_setting_that_is_gone(preset: Path) -> None:
    load_settings({}, preset)


def test_no_setting_is_both_there_and_gone() -> None:
    assert GONE.keys() & variables().keys() == set()
