"""Where settings come from: other names, names that are gone, and folders, which no working directory changes."""

from pathlib import Path

import pytest

import settings
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
    page = {"APP_SUBTITLE": "Of wind", "COLOR_THEME": "dark", "APP_ABOUT_LINK_TEXT": "We"}
    serve = load_settings({**page, "APP_ABOUT_LINK_URL": "https://library.example"}, None).serve
    assert (serve.subtitle, serve.theme, serve.about_text) == tuple(page.values())
    assert serve.about_url == "https://library.example"


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


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in another folder, with an empty checkout."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checkout").mkdir()
    monkeypatch.setattr(settings, "HOME", tmp_path / "checkout")
    return tmp_path


def test_the_checkout_is_the_folder_of_the_settings() -> None:
    assert (HOME / "main.py").is_file()


def test_default_folders_lie_in_the_checkout(elsewhere: Path) -> None:
    found = load_settings({})

    assert found.index.dir == elsewhere / "checkout/var/index"
    assert found.embed.cache_dir == elsewhere / "checkout/var/models"
    assert found.judge.cache_dir == elsewhere / "checkout/var/judge"
    assert found.ingest.root is None


def test_a_folder_that_a_variable_names_is_one_of_the_working_directory(elsewhere: Path) -> None:
    assert load_settings({"RAG_INDEX__DIR": "mine"}).index.dir.resolve() == elsewhere / "mine"


def test_the_checkouts_file_counts_where_the_working_directory_has_none(elsewhere: Path) -> None:
    (elsewhere / "checkout/.env").write_text("RAG_SERVE__PORT=1\nRAG_INDEX__DIR=mine\n")

    found = load_settings({})

    assert (found.serve.port, found.index.dir) == (1, elsewhere / "checkout/mine")


def test_the_working_directorys_file_counts_alone(elsewhere: Path) -> None:
    (elsewhere / "checkout/.env").write_text("RAG_SERVE__PORT=1\nRAG_SERVE__QUEUE=1\n")
    (elsewhere / ".env").write_text("RAG_SERVE__PORT=2\nRAG_INGEST__ROOT=docs\n")

    found = load_settings({})

    assert (found.serve.port, found.serve.queue) == (2, 16)
    assert found.ingest.root == elsewhere / "docs"
