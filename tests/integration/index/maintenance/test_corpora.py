"""Corpora are listed even if they are locked or damaged; one can be dropped or renamed."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from errors import CorpusLockedError, SettingsError, UnknownCorpusError
from index.folder_stores import open_folder
from index.layout.access import Writing
from index.maintenance.corpora import documents_on_disk, drop, list_corpora, rename
from settings import IndexSettings, Settings
from tests.fakes.corpora import MANIFEST, make_corpus
from tests.fakes.embedding import WordHashEmbedding, word_vector

TEXTS = {"wind.md": "Turbines turn wind into power. Blades are long.", "water.md": "Dams hold water back."}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    make_corpus(tmp_path / "books", TEXTS, WordHashEmbedding()).close()
    return Settings(index=IndexSettings(dir=tmp_path))


def test_a_corpus_is_listed_with_its_facts(settings: Settings) -> None:
    (facts,) = list_corpora(settings)

    assert (facts.name, facts.documents, facts.leaves) == ("books", 2, 3)
    assert (facts.model, facts.precision, facts.held_by, facts.problem) == ("fake", "fp32", None, None)
    assert facts.bytes > 100_000
    assert facts.created_at is not None
    assert facts.last_ingested_at is not None
    assert facts.created_at <= facts.last_ingested_at


def test_listing_writes_nothing_whichever_release_made_the_corpus(settings: Settings) -> None:
    database = settings.index.dir / "books" / "documents.sqlite"

    def tables() -> set[str]:
        with closing(sqlite3.connect(database)) as connection:
            return {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}

    with closing(sqlite3.connect(database)) as connection:
        connection.execute("DROP TABLE generations")
    before, (facts,) = tables(), list_corpora(settings)

    assert (facts.documents, facts.problem) == (2, None)
    assert documents_on_disk("books", settings, MANIFEST) == 2
    assert tables() == before


def test_a_corpus_that_is_held_is_listed_with_its_holder(settings: Settings) -> None:
    folder = settings.index.dir / "books"

    with closing(open_folder(folder, MANIFEST, access=Writing("http://127.0.0.1:8000"))):
        (facts,) = list_corpora(settings)

    assert facts.held_by == f"process {os.getpid()} at http://127.0.0.1:8000"
    assert (facts.documents, facts.problem) == (2, None)


def test_a_corpus_whose_holder_died_is_held_by_nobody(settings: Settings) -> None:
    (settings.index.dir / "books" / "lock").write_text('{"pid": 1, "url": null}')

    assert [facts.held_by for facts in list_corpora(settings)] == [None]


def test_damaged_and_new_corpora_are_listed_beside_the_others(settings: Settings) -> None:
    root = settings.index.dir
    open_folder(root / "empty", MANIFEST, create=True).close()
    make_corpus(root / "torn", TEXTS, WordHashEmbedding()).close()
    (root / "torn" / "manifest.json").write_text("{")
    make_corpus(root / "wrecked", TEXTS, WordHashEmbedding()).close()
    (root / "wrecked" / "documents.sqlite").write_bytes(b"no database" * 1000)

    facts = {each.name: each for each in list_corpora(settings)}

    assert list(facts) == ["books", "empty", "torn", "wrecked"]
    assert (facts["empty"].documents, facts["empty"].last_ingested_at) == (0, None)
    assert "manifest of corpus 'torn' cannot be read" in (facts["torn"].problem or "")
    assert "not a database" in (facts["wrecked"].problem or "")
    assert facts["wrecked"].model == "fake"


def test_no_index_folder_means_no_corpora(tmp_path: Path) -> None:
    assert list_corpora(Settings(index=IndexSettings(dir=tmp_path / "none"))) == []


def test_a_dropped_corpus_is_gone_with_all_that_was_begun_of_it(settings: Settings) -> None:
    root = settings.index.dir
    open_folder(root / ".books.reembed", MANIFEST, create=True).close()
    open_folder(root / ".books.rebuild", MANIFEST, create=True).close()

    assert drop("books", settings).documents == 2

    assert list(root.iterdir()) == []
    with pytest.raises(UnknownCorpusError):
        drop("books", settings)


def test_a_renamed_corpus_answers_as_before(settings: Settings) -> None:
    rename("books", "papers", settings)

    with closing(open_folder(settings.index.dir / "papers", MANIFEST)) as corpus:
        assert len(corpus.vectors.search(word_vector("blades"), 3)) == 3
    assert [facts.name for facts in list_corpora(settings)] == ["papers"]


def test_a_name_that_is_taken_or_no_name_is_refused(settings: Settings) -> None:
    make_corpus(settings.index.dir / "papers", {}, WordHashEmbedding()).close()

    with pytest.raises(SettingsError, match="There is a corpus 'papers' already"):
        rename("books", "papers", settings)
    with pytest.raises(SettingsError, match="cannot name a corpus"):
        rename("books", "../papers", settings)
    with pytest.raises(UnknownCorpusError):
        rename("nobody", "somebody", settings)


def test_a_corpus_in_use_is_neither_dropped_nor_renamed(settings: Settings) -> None:
    with closing(open_folder(settings.index.dir / "books", MANIFEST)):
        with pytest.raises(CorpusLockedError):
            drop("books", settings)
        with pytest.raises(CorpusLockedError):
            rename("books", "papers", settings)

    assert [facts.documents for facts in list_corpora(settings)] == [2]
