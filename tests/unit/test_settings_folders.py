"""From which folder a command is run changes nothing, unless a setting names a folder."""

from pathlib import Path

import pytest

import settings
from settings import HOME, load_settings


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
