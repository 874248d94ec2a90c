"""Runs that end half way, and folders that change before the next one: what is noted is what is there."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ingestion.pipeline.chunk_embed
from ingestion.reading.files import list_files
from tests.fakes.library import Library

ROWS = 40


class Crash(Exception):
    """The process ends here."""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    monkeypatch.setattr(ingestion.pipeline.chunk_embed, "BATCH_LEAVES", 10)
    library = Library(tmp_path)
    yield library
    library.close()


def write_rows(library: Library, word: str, name: str = "rows.jsonl", numbers: range = range(ROWS)) -> None:
    rows = ({"id": f"r{number:02}", "text": f"The {word} of row {number}."} for number in numbers)
    (library.files / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def crash(library: Library, owner: object, method: str, call: int, after: bool = False, **options: Any) -> None:
    """Ingest, and end at the n-th call of a method, before or after its work."""
    original: Callable[..., Any] = getattr(owner, method)
    calls = 0

    def failing(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call and not after:
            raise Crash
        result = original(*arguments, **named)
        if calls == call:
            raise Crash
        return result

    setattr(owner, method, failing)
    with pytest.raises(Crash):
        library.ingest(**options)
    setattr(owner, method, original)


def texts(library: Library) -> set[str]:
    return {document.text.split()[1] for document in library.corpus.documents.each()}


@pytest.mark.parametrize("call", [2, 4])
def test_a_file_put_back_as_it_was_after_half_of_it_was_replaced_is_read_again(library: Library, call: int) -> None:
    write_rows(library, "old")
    library.ingest()
    write_rows(library, "new")
    crash(library, library.corpus, "replace", call, after=True)
    assert texts(library) >= {"new"}
    write_rows(library, "old")

    library.ingest()

    assert texts(library) == {"old"}


def test_a_file_that_was_half_read_and_then_deleted_counts_as_vanished_and_is_pruned(library: Library) -> None:
    (library.files / "stays.txt").write_text("Stays.")
    write_rows(library, "new")
    crash(library, library.corpus, "replace", 3)
    (library.files / "rows.jsonl").unlink()

    assert library.ingest().vanished == 20
    assert library.ingest(prune=True).removed == 20
    assert library.doc_ids() == ["stays.txt"]


def test_a_pruned_file_that_comes_back_is_read_again_though_the_pruning_was_cut_off(library: Library) -> None:
    (library.files / "stays.txt").write_text("Stays.")
    write_rows(library, "old")
    library.ingest()
    (library.files / "rows.jsonl").unlink()
    crash(library, library.corpus.ledger, "forget", 1, prune=True)
    write_rows(library, "old")

    library.ingest()

    assert len(library.doc_ids()) == ROWS + 1


def test_deleted_documents_come_back_with_the_next_run(library: Library) -> None:
    write_rows(library, "old")
    library.ingest()
    library.corpus.delete(["r03", "r04"])

    summary = library.ingest()

    assert (summary.new, summary.unchanged) == (2, ROWS - 2)


def test_records_that_move_to_a_later_file_move_with_it(library: Library) -> None:
    write_rows(library, "old", "a.jsonl")
    library.ingest()
    write_rows(library, "old", "a.jsonl", range(5))
    write_rows(library, "old", "b.jsonl", range(5, ROWS))

    summary = library.ingest()

    assert summary.failed == []
    assert len(library.doc_ids()) == ROWS
    assert library.corpus.catalogue.sources(["r39"]) == {"r39": "b.jsonl"}


def test_a_large_file_keeps_its_ids_while_it_is_being_committed(library: Library) -> None:
    write_rows(library, "old", "a.jsonl")
    write_rows(library, "old", "b.jsonl", range(1))

    summary = library.ingest()

    assert [failure["source"] for failure in summary.failed] == ["b.jsonl"]
    assert library.corpus.catalogue.sources(["r00"]) == {"r00": "a.jsonl"}


def test_a_file_that_goes_while_the_run_is_under_way_costs_itself(library: Library) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        (library.files / name).write_text(f"Text of {name}.")
    entries = list(list_files(library.files))
    (library.files / "b.txt").unlink()

    summary = library.pipeline().run(entries, str(library.files))

    assert library.doc_ids() == ["a.txt", "c.txt"]
    assert [failure["source"] for failure in summary.failed] == ["b.txt"]
    assert "No such file" in summary.failed[0]["reason"]


@pytest.mark.fault("A5")
def test_the_third_and_fourth_run_change_nothing(library: Library) -> None:
    write_rows(library, "old")
    (library.files / "page.md").write_text("# Page\n\nWith text.\n")
    library.ingest()
    state, notes = library.corpus.documents.state(), library.corpus.ledger.under(str(library.files))

    for _ in range(3):
        summary = library.ingest()
        assert (summary.new, summary.changed, summary.unchanged) == (0, 0, ROWS + 1)
        assert library.corpus.documents.state() == state
        assert library.corpus.ledger.under(str(library.files)) == notes


@pytest.mark.fault("A5")
def test_a_commit_that_raises_though_it_was_stored_is_neither_doubled_nor_forgotten(library: Library) -> None:
    write_rows(library, "old")
    library.ingest()
    write_rows(library, "new")
    crash(library, library.corpus.documents, "publish", 2, after=True)
    assert library.corpus.documents.count() == ROWS

    summary = library.ingest()

    assert summary.changed + summary.unchanged == ROWS
    assert texts(library) == {"new"}


@pytest.mark.promise("G04")
def test_a_dry_run_writes_nothing(library: Library) -> None:
    write_rows(library, "old")
    library.ingest()
    state, notes = library.corpus.documents.state(), library.corpus.ledger.under(str(library.files))
    write_rows(library, "new", numbers=range(10))

    summary = library.ingest(dry_run=True, prune=True)

    assert (summary.changed, summary.removed, summary.embedded) == (10, ROWS - 10, 0)
    assert library.corpus.documents.state() == state
    assert library.corpus.ledger.under(str(library.files)) == notes
    assert library.embedder.texts_embedded == 0


def test_a_limit_ends_a_run_and_the_next_run_goes_on(library: Library) -> None:
    write_rows(library, "old")
    (library.files / "then.txt").write_text("After the rows.")

    assert library.ingest(limit=7).new == 7
    assert library.ingest(limit=12).new == 5
    assert library.ingest().new == ROWS + 1 - 12


def test_pruning_keeps_what_lies_in_a_folder_that_cannot_be_looked_into(library: Library) -> None:
    (library.files / "open.txt").write_text("Open.")
    (library.files / "sub").mkdir()
    (library.files / "sub" / "shut.txt").write_text("Shut.")
    library.ingest()
    (library.files / "sub" / "shut.txt").unlink()
    (library.files / "sub").rmdir()
    (library.files / "sub").symlink_to(library.files.parent)

    assert library.ingest(prune=True).removed == 0
    assert library.doc_ids() == ["open.txt", "sub/shut.txt"]


def test_pruning_an_empty_folder_is_refused(library: Library) -> None:
    write_rows(library, "old")
    library.ingest()
    (library.files / "rows.jsonl").unlink()

    with pytest.raises(Exception, match="would remove all 40"):
        library.ingest(prune=True)
    assert len(library.doc_ids()) == ROWS


def test_other_metadata_is_put_on_known_files_without_embedding_anything(library: Library) -> None:
    write_rows(library, "old")
    library.ingest()

    summary = library.ingest(metadata={"team": "blue"})

    assert (summary.changed, summary.embedded) == (ROWS, 0)
    document = library.corpus.documents.get("r00")
    assert document is not None
    assert document.metadata["team"] == "blue"


@pytest.mark.fault("D12")
def test_a_known_failure_is_told_again_and_read_again_only_when_asked(library: Library) -> None:
    (library.files / "bad.jsonl").write_text('{"id": "a", "text": "Good."}\n{broken\n')

    first, second, third = library.ingest(), library.ingest(), library.ingest(retry=True)

    assert [len(summary.failed) for summary in (first, second, third)] == [1, 1, 1]
    assert [summary.new + summary.changed for summary in (first, second, third)] == [1, 0, 0]
