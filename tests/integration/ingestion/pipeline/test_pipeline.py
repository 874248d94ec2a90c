"""Ingesting real files into real stores with a fake embedder: what is new, changed, known, gone, or unreadable."""

import base64
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from errors import UnreadableError
from index.documents.span_tree import SpanTree
from index.documents.splitter import TreeSplitter
from index.documents.store import Document
from ingestion.reading.reader import Reader
from tests.fakes.library import Library
from tests.fakes.words import leaves_with


@pytest.fixture
def library(tmp_path: Path, reader: Reader) -> Iterator[Library]:
    library = Library(tmp_path, reader)
    (library.files / "wind.md").write_text("# Wind\n\nTurbines turn wind into power.\n")
    (library.files / "water.txt").write_text("Dams hold water back.\n")
    yield library
    library.close()


def write_rows(library: Library, name: str, **rows: str) -> None:
    """Write a file of records, each with an id and a text."""
    lines = (json.dumps({"id": doc_id, "text": text}) + "\n" for doc_id, text in rows.items())
    (library.files / name).write_text("".join(lines))


def text_of(library: Library, doc_id: str) -> str:
    document = library.corpus.documents.get(doc_id)
    assert document is not None
    return document.text.strip()


@pytest.fixture
def uncuttable(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Texts with these words cannot be cut."""
    split = TreeSplitter.split

    def give_up(self: TreeSplitter, document: Document) -> SpanTree:
        if "water" in document.text or "Gamma" in document.text:
            raise UnreadableError("The text cannot be cut into sentences (TimeoutError).", "Look at it.")
        return split(self, document)

    with monkeypatch.context() as patched:
        patched.setattr(TreeSplitter, "split", give_up)
        yield patched


@pytest.mark.promise("C11", "D29")
def test_the_second_run_embeds_nothing(library: Library) -> None:
    first, second = library.ingest(), library.ingest()

    assert (first.new, first.leaves) == (2, 2)
    assert (second.new, second.unchanged, second.leaves) == (0, 2, 0)
    assert library.embedder.texts_embedded == 0


@pytest.mark.promise("E09")
def test_a_changed_file_replaces_its_old_version(library: Library) -> None:
    library.ingest()
    (library.files / "water.txt").write_text("Canals carry barges.\n")

    summary = library.ingest()

    assert (summary.changed, summary.unchanged) == (1, 1)
    assert leaves_with(library.corpus.lexical_index, "dams", 5) == []
    assert len(leaves_with(library.corpus.lexical_index, "canals", 5)) == 1


def test_a_file_is_read_again_when_one_that_it_includes_changes(library: Library) -> None:
    (library.files / "hire.rst").write_text("Hire\n====\n\n.. include:: prices.inc\n")
    (library.files / "prices.inc").write_text("A day is forty euros.\n")
    library.ingest()
    (library.files / "prices.inc").write_text("A day is fifty euros.\n")

    changed, again = library.ingest(), library.ingest()

    assert (changed.changed, changed.unchanged) == (1, 2)
    assert (again.changed, again.unchanged) == (0, 3)
    assert len(leaves_with(library.corpus.lexical_index, "fifty", 5)) == 1


def test_a_touched_file_with_the_same_text_is_not_embedded_again(library: Library) -> None:
    library.ingest()
    (library.files / "water.txt").write_bytes(b"Dams hold water back.\r\n")

    summary = library.ingest()

    assert (summary.changed, summary.unchanged) == (0, 2)
    assert library.embedder.texts_embedded == 0


@pytest.mark.promise("G04")
def test_a_record_taken_out_of_a_file_vanishes(library: Library) -> None:
    write_rows(library, "rows.jsonl", a="Alpha text.", b="Beta text.")
    library.ingest()
    write_rows(library, "rows.jsonl", b="Beta text.")

    summary = library.ingest()

    assert summary.removed == 1
    assert "a" not in library.doc_ids()
    assert "b" in library.doc_ids()


def test_a_bad_line_costs_itself_and_is_tried_again(library: Library) -> None:
    (library.files / "rows.jsonl").write_text(
        '{"id": "a", "text": "Alpha text."}\n{broken\n{"id": "c", "text": "C."}\n'
    )

    first, second = library.ingest(), library.ingest()

    for summary in (first, second):
        assert [failure["source"] for failure in summary.failed] == ["rows.jsonl"]
        assert "2" in summary.failed[0]["reason"]
    assert {"a", "c"} <= set(library.doc_ids())
    assert second.leaves == 0


def test_a_damaged_file_keeps_its_last_good_version(library: Library) -> None:
    write_rows(library, "rows.jsonl", a="Alpha text.")
    library.ingest()
    (library.files / "rows.jsonl").write_text("{broken\n")

    summary = library.ingest()

    assert len(summary.failed) == 1
    assert "a" in library.doc_ids()


def test_an_id_that_another_file_owns_is_refused_with_its_owner(library: Library) -> None:
    write_rows(library, "one.jsonl", same="First.")
    write_rows(library, "two.jsonl", same="Second.")

    for _ in range(2):
        summary = library.ingest()
        assert [failure["source"] for failure in summary.failed] == ["two.jsonl"]
        assert "taken by one.jsonl" in summary.failed[0]["reason"]
    assert text_of(library, "same") == "First."


def test_files_that_exchange_their_records_end_with_what_they_hold(library: Library) -> None:
    write_rows(library, "one.jsonl", a="Alpha text.")
    write_rows(library, "two.jsonl", b="Beta text.")
    library.ingest()
    write_rows(library, "one.jsonl", b="Beta text.")
    write_rows(library, "two.jsonl", a="Alpha text.")

    library.ingest()
    summary = library.ingest()

    assert summary.failed == []
    assert library.corpus.catalogue.sources(["a"]) == {"a": "two.jsonl"}
    assert library.corpus.catalogue.sources(["b"]) == {"b": "one.jsonl"}


def test_a_refused_id_does_not_keep_what_its_file_no_longer_holds(library: Library) -> None:
    write_rows(library, "one.jsonl", same="First.")
    write_rows(library, "two.jsonl", old="Once here.")
    library.ingest()
    write_rows(library, "two.jsonl", same="Second.")

    summary = library.ingest()

    assert "taken by one.jsonl" in summary.failed[0]["reason"]
    assert "old" not in library.doc_ids()


def test_an_id_that_its_file_gave_up_goes_to_one_file_only(library: Library) -> None:
    write_rows(library, "one.jsonl", same="A text.")
    library.ingest()
    write_rows(library, "one.jsonl", other="Another text.")
    write_rows(library, "two.jsonl", same="A text.")
    write_rows(library, "zero.jsonl", same="A text.")

    failures = library.ingest_step_by_step()

    assert failures == ["The document id 'same' is taken by two.jsonl. Give one of the two another id."]
    assert library.corpus.catalogue.sources(["same"]) == {"same": "two.jsonl"}


@pytest.mark.promise("E07")
def test_equal_paths_of_two_roots_live_side_by_side(library: Library) -> None:
    library.ingest(root_name="first")
    library.ingest(root_name="second")

    assert library.doc_ids() == ["first/water.txt", "first/wind.md", "second/water.txt", "second/wind.md"]


def test_a_file_of_another_root_is_not_overwritten_by_one_of_the_same_name(library: Library, tmp_path: Path) -> None:
    library.ingest()
    other = tmp_path / "other"
    other.mkdir()
    (other / "water.txt").write_text("Quite another text.\n")

    summary = library.ingest(files=other)

    reason = summary.failed[0]["reason"]
    assert f"taken by {library.files / 'water.txt'}" in reason
    assert "--root NAME" in reason
    assert '{"root": "NAME"}' in reason
    assert leaves_with(library.corpus.lexical_index, "dams", 5)


def test_a_root_that_was_moved_is_known_again(library: Library, tmp_path: Path) -> None:
    library.ingest()
    moved = library.files.rename(tmp_path / "moved")

    assert library.ingest(files=moved).unchanged == 2
    (moved / "water.txt").unlink()
    assert library.ingest(files=moved, prune=True).removed == 1


def test_a_run_of_a_few_files_reads_and_prunes_no_others(library: Library) -> None:
    (library.files / "notes" / "deep").mkdir(parents=True)
    for name in ("notes/a.md", "notes/deep/b.md", "c.md", "notes.md"):
        (library.files / name).write_text(f"The text of {name}.")
    before = library.ingest().new
    shutil.rmtree(library.files / "notes")
    for name in ("c.md", "notes.md"):
        (library.files / name).unlink()
    (library.files / "new.md").write_text("New.")
    (library.files / "other.md").write_text("Another one.")

    summary = library.ingest(only=("notes", "new.md"), prune=True)

    assert (summary.new, summary.removed, summary.vanished, summary.unchanged) == (1, 2, 0, 0)
    assert {"c.md", "notes.md", "new.md"} <= set(library.doc_ids())
    assert len(library.doc_ids()) == before - 2 + 1
    assert library.ingest(only=("new.md", "c.md")).vanished == 0, "only a run with prune says that files are gone"


def test_the_last_file_of_a_folder_may_be_removed_by_name(library: Library) -> None:
    library.ingest()
    names = tuple(path.name for path in library.files.iterdir())
    for name in names:
        (library.files / name).unlink()

    assert library.ingest(only=names, prune=True).removed > 0
    assert library.doc_ids() == []


@pytest.mark.promise("D29", "E06")
def test_unreadable_and_unsupported_files_are_named_and_the_rest_goes_on(library: Library) -> None:
    (library.files / "blank.md").write_text(" \n\n ")
    (library.files / "broken.pdf").write_bytes(b"%PDF-1.4 and nothing else")
    (library.files / "picture.png").write_bytes(b"\x89PNG")

    summary = library.ingest()

    assert {failure["source"] for failure in summary.failed} == {"blank.md", "broken.pdf"}
    assert [skipped["source"] for skipped in summary.skipped] == ["picture.png"]
    assert summary.new == 2
    assert (summary.files, summary.files_read, summary.skipped_types) == (5, 2, {".png": 1})
    assert library.ingest().files_read == 2, "known files count as read"


def test_many_documents_are_committed_in_batches(library: Library) -> None:
    write_rows(library, "rows.jsonl", **{f"d{i:04}": f"Document number {i} speaks of topic {i}." for i in range(1300)})

    assert library.ingest().new == 1302
    assert library.ingest().unchanged == 1302


@pytest.mark.promise("C11")
def test_a_run_stopped_half_way_goes_on_where_it_was(library: Library) -> None:
    write_rows(library, "rows.jsonl", **{f"d{i:04}": f"Document number {i} speaks of topic {i}." for i in range(1300)})
    commits = 0
    replace = library.corpus.replace

    def stop_after_one(*arguments: object, **named: object) -> bool:
        nonlocal commits
        if commits:
            raise KeyboardInterrupt
        commits += 1
        return replace(*arguments, **named)  # type: ignore[arg-type]

    library.corpus.replace = stop_after_one  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        library.ingest()
    library.corpus.replace = replace  # type: ignore[method-assign]
    kept = library.corpus.documents.count()

    summary = library.ingest()

    assert 0 < kept < 1302
    assert (summary.new, summary.unchanged) == (1302 - kept, kept)


def test_a_text_that_cannot_be_cut_costs_itself_only(library: Library, uncuttable: pytest.MonkeyPatch) -> None:
    summary = library.ingest()
    uncuttable.undo()

    assert [failure["source"] for failure in summary.failed] == ["water.txt"]
    assert library.doc_ids() == ["wind.md"]
    assert library.ingest(retry=True).new == 1


@pytest.mark.usefixtures("uncuttable")
def test_a_version_that_cannot_be_cut_leaves_the_old_one_and_keeps_nothing_else(library: Library) -> None:
    write_rows(library, "rows.jsonl", a="Alpha text.", b="Beta text.")
    library.ingest()
    write_rows(library, "rows.jsonl", a="Gamma text.")

    summary = library.ingest()

    assert "rows.jsonl" in [failure["source"] for failure in summary.failed]
    assert text_of(library, "a") == "Alpha text."
    assert "b" not in library.doc_ids()


def test_what_holds_no_words_is_left_out_and_told(library: Library) -> None:
    image = base64.b64encode(bytes(range(256)) * 100).decode()
    (library.files / "dam.md").write_text(
        f"# A dam\n\nBefore. ![dam](data:image/png;base64,{image}) Behind it: 70.44 EUR.\n"
    )
    write_rows(library, "rows.jsonl", a=f"Alpha {image} text.")
    (library.files / "dots.txt").write_text("." * 20_000)

    summary = library.ingest()

    assert "Before. ![dam]([image]) Behind it: 70.44 EUR." in text_of(library, "dam.md")
    assert summary.left_out == [
        {"source": "dam.md", "reason": f"Left out: 1 embedded image ({len(image) + 22:,} characters)."},
        {"source": "rows.jsonl", "reason": f"a: Left out: 1 run of data without words ({len(image):,} characters)."},
    ]
    assert [failure["source"] for failure in summary.failed] == ["dots.txt"]
