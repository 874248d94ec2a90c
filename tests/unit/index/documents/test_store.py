"""The document store: versions, visibility, what a crash leaves behind."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from errors import IndexDamagedError
from index.documents.store import Document, DocumentStore, StoredDocument
from index.documents.tables import open_file
from index.documents.totals import Totals
from tests.fakes.corpora import stored


@pytest.fixture
def store(tmp_path: Path) -> DocumentStore:
    return DocumentStore(open_file(tmp_path / "documents.sqlite"))


def publish(store: DocumentStore, *documents: StoredDocument) -> list[str]:
    return store.publish(documents, [np.zeros((document.tree.first_leaf, 4)) for document in documents])


def test_a_document_comes_back_as_it_was_stored(store: DocumentStore) -> None:
    document = stored("a.md", "One sentence. Another one.", title="A", url="https://example.org/a")
    publish(store, document)

    found = store.get("a.md")

    assert found is not None
    assert (found.title, found.text, found.url, found.version) == (
        document.title,
        document.text,
        document.url,
        document.version,
    )
    assert found.tree.spans == document.tree.spans


def test_publishing_replaces_the_old_version_and_leaves_it_pending(store: DocumentStore) -> None:
    old, new = stored("a.md", "Old text."), stored("a.md", "New text.")
    publish(store, old)
    store.announce([new.version])

    retired = publish(store, new)

    assert retired == [old.version]
    assert store.versions() == {"a.md": new.version}
    assert store.pending() == [old.version]
    store.forget_pending(retired)
    assert store.pending() == []


def test_an_old_version_cannot_be_read_any_more_once_it_is_replaced(store: DocumentStore) -> None:
    old, new = stored("a.md", "Old text."), stored("a.md", "New text.")
    publish(store, old)
    assert store.get_versions([old.version])  # now it is in the cache
    store.forget_pending(publish(store, new))

    assert store.get_versions([old.version, new.version]).keys() == {new.version}


def test_parents_vectors_come_back_with_their_document(store: DocumentStore) -> None:
    document = stored("a.md", "One sentence. Another one.")
    vectors = np.arange(document.tree.first_leaf * 4).reshape(-1, 4) / 8
    store.publish([document], [vectors])

    assert np.array_equal(store.parent_vectors([document.version, "unknown"])[document.version], vectors)
    store.publish([], [], removed=["a.md"])
    assert store.parent_vectors([document.version]) == {}


def test_counts_follow_every_change(store: DocumentStore) -> None:
    publish(store, stored("a.md", "One. Two."), stored("b.md", "Three."))
    publish(store, stored("a.md", "One. Two. Four."))
    assert (store.count(), store.leaf_count()) == (2, 4)
    store.publish([], [], removed=["a.md", "unknown"])
    assert (store.count(), store.leaf_count()) == (1, 1)


def test_totals_are_read_once_between_commits_and_the_last_ones_are_known_without_the_database(tmp_path: Path) -> None:
    path = tmp_path / "documents.sqlite"
    store = DocumentStore(open_file(path))
    assert store.last_totals() is None
    assert store.totals() == Totals(0, 0, f"{0:020x}")
    publish(store, stored("a.md", "One. Two."))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM totals")

    assert store.totals() == store.last_totals()
    assert store.totals()[:2] == (1, 2)


def test_the_state_does_not_depend_on_the_order_of_ingestion(tmp_path: Path) -> None:
    one, two = stored("a.md", "One."), stored("b.md", "Two.")
    states = []
    for name, order in (("x", (one, two)), ("y", (two, one))):
        store = DocumentStore(open_file(tmp_path / name))
        for document in order:
            publish(store, document)
        states.append(store.state())
    assert states[0] == states[1]


def test_the_state_changes_with_the_documents_and_only_then(store: DocumentStore) -> None:
    empty = store.state()
    publish(store, stored("a.md", "Text."))
    filled = store.state()

    assert filled != empty
    assert store.state() == filled
    store.publish([], [], removed=["a.md"])
    assert store.state() == empty


@pytest.mark.parametrize(
    "other",
    [
        Document("a", "T", "text", pages=(0,)),
        Document("a", "T", "text", metadata={"k": 1}),
        Document("a", "U", "text"),
        Document("b", "T", "text"),
        Document("a", "T", "text!"),
    ],
    ids=["pages", "metadata", "title", "doc_id", "text"],
)
def test_the_version_hash_covers_every_field(other: Document) -> None:
    assert other.hash("p") != Document("a", "T", "text").hash("p")


def test_pages_of_a_span_are_those_it_touches() -> None:
    document = Document("a", "T", "page one\npage two\npage three", pages=(0, 9, 18))

    assert document.pages_of(0, 8) == (0,)
    assert document.pages_of(5, 19) == (0, 1, 2)
    assert Document("a", "T", "no pages").pages_of(0, 3) == ()


def test_a_file_that_is_no_database_is_named_as_damage(tmp_path: Path) -> None:
    (tmp_path / "documents.sqlite").write_bytes(b"this is no database at all" * 50)

    with pytest.raises(IndexDamagedError, match="restore the corpus from a backup"):
        open_file(tmp_path / "documents.sqlite")


@pytest.mark.parametrize("column", ["text", "pages", "metadata"])
def test_flipped_bytes_in_a_document_are_named_as_damage(column: str, tmp_path: Path) -> None:
    path = tmp_path / "documents.sqlite"
    damaged = DocumentStore(open_file(path))
    publish(damaged, stored("a.md", "Wind turns blades."))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE documents SET {column} = CAST(x'5bff' AS TEXT)")

    for read in (lambda: damaged.get("a.md"), lambda: list(damaged.each())):
        with pytest.raises(IndexDamagedError, match="doctor"):
            read()


def test_a_flipped_table_of_contents_is_named_as_damage(tmp_path: Path) -> None:
    path = tmp_path / "documents.sqlite"
    open_file(path).dispose()
    path.write_bytes(path.read_bytes().replace(b"tablepending", b"table\xffending"))

    with pytest.raises(IndexDamagedError, match="doctor"):
        open_file(path)
