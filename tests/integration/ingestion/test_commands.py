"""The commands that look after a corpus, on real stores in this process."""

import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from index.build import Embedding
from index.folder_stores import open_folder
from ingestion.__main__ import main
from settings import load_settings
from tests.fakes.corpora import fill
from tests.fakes.embedding import WordHashEmbedding

BOOKS = {
    "wind.md": "Turbines turn wind into power. They are tall.",
    "water.md": "Dams hold water back.",
    "tides.md": "The moon moves the sea.",
}


class Shell:
    """Runs commands and keeps what they printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.err = ""

    def __call__(self, *words: str, code: int = 0) -> str:
        assert main(words) == code
        printed = self._capsys.readouterr()
        self.err = printed.err
        return printed.out

    def json(self, *words: str, code: int = 0) -> Any:
        return json.loads(self(*words, code=code))


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """Return a shell whose corpus `default` holds three books."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").touch()  # nobody's own
    monkeypatch.setenv("RAG_INDEX__DIR", str(tmp_path / "index"))
    corpus = open_folder(tmp_path / "index" / "default", Embedding(load_settings()).manifest, create=True)
    fill(corpus, BOOKS, WordHashEmbedding())
    corpus.close()
    return Shell(capsys)


def key_is(key: str, value: str) -> str:
    return json.dumps({"filters": [{"key": key, "value": value}]})


def test_documents_are_listed_page_by_page(shell: Shell) -> None:
    first = shell.json("documents", "--limit", "2", "--json")
    rest = shell.json("documents", "--after", first["next"], "--json")

    assert [brief["doc_id"] for brief in first["documents"]] == ["tides.md", "water.md"]
    assert [brief["doc_id"] for brief in rest["documents"]] == ["wind.md"]
    assert rest["next"] is None
    assert "there are more: --after 'water.md'" in shell("documents", "--limit", "2")


def test_people_read_a_line_a_document(shell: Shell) -> None:
    assert "     2 leaves        45 chars  wind.md  (wind.md)" in shell("documents").splitlines()


def test_a_filter_chooses_documents(shell: Shell) -> None:
    found = shell.json("documents", "--filter", key_is("title", "wind.md"), "--json")

    assert [brief["doc_id"] for brief in found["documents"]] == ["wind.md"]
    assert "no documents" in shell("documents", "--filter", key_is("title", "none"))


def test_a_document_is_shown_with_its_text(shell: Shell) -> None:
    assert shell("documents", "show", "wind.md").endswith("\nTurbines turn wind into power. They are tall.\n")
    shell("documents", "show", "fire.md", code=1)
    assert "error[unknown_document]" in shell.err


def test_documents_are_deleted_by_id_filter_and_source(shell: Shell) -> None:
    counted = shell.json("delete", "--filter", key_is("title", "wind.md"), "--dry-run")
    assert (counted["matched"], counted["deleted"]) == (1, 0)
    assert shell.json("delete", "wind.md")["deleted"] == 1
    assert shell.json("delete", "--source", "water.md")["deleted"] == 1

    left = shell.json("documents", "--json")
    assert [brief["doc_id"] for brief in left["documents"]] == ["tides.md"]


def test_deleting_what_is_not_there_is_told_by_the_exit_code(shell: Shell) -> None:
    assert shell.json("delete", "wind.md", "fire.md", code=1)["deleted"] == 1


@pytest.mark.parametrize("empty", ["{}", "[]", '{"filters": []}', "null"])
def test_an_empty_filter_deletes_nothing(shell: Shell, empty: str) -> None:
    if empty == "null":
        with pytest.raises(SystemExit, match="2"):
            main(["delete", "--filter", empty])
    else:
        shell("delete", "--filter", empty, code=1)
        assert "error[bad_filter]" in shell.err

    assert len(shell.json("documents", "--json")["documents"]) == 3


def test_a_corpus_that_is_not_there_is_named_with_those_that_are(shell: Shell) -> None:
    shell("documents", "--corpus", "papers", code=1)

    assert "no corpus 'papers'" in shell.err
    assert "default" in shell.err


def test_a_corpus_in_use_by_another_command_is_left_alone(shell: Shell, tmp_path: Path) -> None:
    holder = open_folder(tmp_path / "index" / "default", Embedding(load_settings()).manifest)
    try:
        shell("delete", "wind.md", code=1)
    finally:
        holder.close()

    assert "error[corpus_locked]" in shell.err


def test_a_dry_run_writes_nothing(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "fire.md").write_text("Fire is hot.")

    plan = shell.json("docs", "--dry-run", "--corpus", "papers")

    assert (plan["new"], plan["dry_run"]) == (1, True)
    assert "new (1):\n      fire.md" in shell.err
    assert not (tmp_path / "index" / "papers").exists()


def test_errors_of_a_json_run_are_json(shell: Shell) -> None:
    shell("nowhere", "--json", code=1)

    error = json.loads(shell.err)
    assert (error["event"], error["code"]) == ("error", "unreadable")


@pytest.mark.parametrize("options", [[], ["--repair"], ["--corpus", "books"]])
def test_what_is_neither_a_command_nor_a_path_is_told_with_the_nearest_command(
    shell: Shell, options: list[str]
) -> None:
    shell("docter", *options, code=1)

    assert "error[unreadable]: 'docter' is neither a command nor a path that exists" in shell.err
    assert "The nearest command is 'doctor'" in shell.err


def test_nothing_to_retry_is_no_failure(shell: Shell) -> None:
    assert shell.json("retry-failed")["failed"] == []


def test_the_doctor_finds_damage_and_repairs_it(shell: Shell, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "index" / "default" / "words")

    checks = shell.json("doctor", "--json", code=1)["checks"]
    assert [check["store"] for check in checks if not check["ok"]] == ["words"]

    repaired = shell("doctor", "--repair")
    assert "WRONG  words" in repaired
    assert "done: Rebuild the word index" in repaired
    assert "corpus 'default': healthy" in repaired


@pytest.mark.promise("G07")
def test_corpora_are_listed_renamed_and_dropped(shell: Shell) -> None:
    facts = shell.json("corpora", "--json")
    assert [(corpus["name"], corpus["documents"]) for corpus in facts] == [("default", 3)]

    assert shell("corpora", "rename", "default", "books") == "renamed corpus 'default' to 'books'\n"
    assert shell("corpora").startswith("books: 3 documents, 4 leaves, ")
    assert shell("corpora", "drop", "books") == "dropped corpus 'books'\n"
    assert shell("corpora").startswith("no corpora in ")


def test_a_corpus_in_use_or_with_a_torn_manifest_is_listed_with_the_reason(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "index" / "default"
    with closing(open_folder(folder, Embedding(load_settings()).manifest)):
        assert "; in use by process" in shell("corpora")
    (folder / "manifest.json").write_text("{")

    assert "manifest" in shell("corpora")


def test_a_backup_is_restored_under_another_name(shell: Shell) -> None:
    saved = shell("backup", "books.tar.gz")
    restored = shell("restore", "books.tar.gz", "--corpus", "again")

    assert saved.startswith("books.tar.gz: 3 documents, 4 leaves, ")
    assert restored == "corpus 'again': 3 documents, 4 leaves\n"
    assert len(shell.json("documents", "--corpus", "again", "--json")["documents"]) == 3


def test_neither_backup_nor_restore_overwrites_unasked(shell: Shell) -> None:
    shell("backup", "books.tar.gz")
    shell("backup", "books.tar.gz", code=1)
    shell("restore", "books.tar.gz", code=1)
    assert "error[" in shell.err

    shell("restore", "books.tar.gz", "--replace")
