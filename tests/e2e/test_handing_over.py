"""Commands on a corpus that a service holds open: the service does the work, the terminal shows it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import MAIN
from tests.e2e.program import Program, run


class Terminal:
    """Runs commands beside a service whose corpus `default` they mean."""

    def __init__(self, folder: Path, variables: dict[str, str]) -> None:
        self.folder = folder
        self.docs = folder / "docs"
        self._variables = variables

    def __call__(self, *words: str) -> tuple[int, str, str]:
        ended = run(["-m", "ingestion", *words], self._variables, self.folder)
        return ended.returncode, ended.stdout, ended.stderr

    def result(self, *words: str) -> Any:
        code, out, err = self(*words)
        assert code == 0, err
        return json.loads(out)


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Iterator[Terminal]:
    """Yield a terminal beside a running service that may ingest from the folder `docs`."""
    folder = tmp_path_factory.mktemp("held")
    (folder / "docs").mkdir()
    (folder / "docs" / "wind.md").write_text("# Wind\n\nTurbines turn wind into power.\n")
    variables = {
        "RAG_INDEX__DIR": str(folder / "index"),
        "RAG_INGEST__ROOT": str(folder / "docs"),
        "RAG_EMBED__CACHE_DIR": str(model_cache),
        "RAG_SERVE__PORT": "0",
    }
    with Program([MAIN, "--ingest", str(folder / "docs")], variables, folder):
        yield Terminal(folder, variables)


def test_an_ingestion_is_done_by_the_service_and_reported_here(terminal: Terminal) -> None:
    (terminal.docs / "water.md").write_text("# Water\n\nDams hold water back.\n")
    (terminal.docs / "broken.pdf").write_bytes(b"%PDF-1.4 and nothing else")

    code, out, err = terminal(str(terminal.docs), "--meta", "year=2024")

    assert code == 1  # the broken file
    assert json.loads(out)["new"] == 1
    assert "broken.pdf" in err
    assert "1 new, 1 changed, 0 unchanged" in err  # the metadata changed the other one
    assert terminal.result("documents", "show", "water.md", "--json")["metadata"].items() >= {"year": 2024}.items()


def test_documents_are_listed_and_deleted_by_the_service(terminal: Terminal) -> None:
    (terminal.docs / "tides.md").write_text("# Tides\n\nThe moon moves the sea.\n")
    terminal("docs")

    listed = terminal.result("documents", "--json", "--filter", json.dumps(about("tides.md")))
    assert [brief["doc_id"] for brief in listed["documents"]] == ["tides.md"]

    counted = terminal.result("delete", "--source", "tides.md", "--dry-run")
    deleted = terminal.result("delete", "tides.md")
    assert (counted["matched"], counted["deleted"], deleted["deleted"]) == (1, 0, 1)

    code, _, err = terminal("documents", "show", "tides.md")
    assert code == 1
    assert "unknown_document" in err


@pytest.mark.slow
def test_failed_files_are_tried_again_by_the_service(terminal: Terminal) -> None:
    (terminal.docs / "bad.jsonl").write_text("{broken\n")
    terminal("docs")
    (terminal.docs / "bad.jsonl").write_text('{"id": "mended", "text": "Mended text."}\n')
    (terminal.docs / "broken.pdf").unlink(missing_ok=True)

    assert terminal.result("retry-failed")["new"] == 1


def test_a_folder_that_the_service_may_not_read_is_refused_with_a_remedy(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.md").write_text("Elsewhere.")

    code, out, err = terminal(str(tmp_path))

    assert (code, out) == (1, "")
    assert "ingest_refused" in err
    assert "RAG_INGEST__ROOT" in err


def test_what_a_service_does_not_offer_names_who_holds_the_corpus(terminal: Terminal) -> None:
    code, _, err = terminal("docs", "--rebuild")

    assert code == 1
    assert "in use by the service at http://127.0.0.1:" in err
    assert "stop it" in err


def about(source: str) -> dict[str, Any]:
    return {"filters": [{"key": "source", "value": source}]}
