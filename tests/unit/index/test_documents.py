"""The document store: versions, visibility, what a crash leaves behind."""

from pathlib import Path

import pytest

from errors import IndexDamagedError
from index.documents import Document, DocumentStore
from tests.fakes.corpora import stored


@pytest.fixture
def store(tmp_path: Path) -> DocumentStore:
    return DocumentStore(tmp_path / "documents.sqlite")


def test_a_document_comes_back_as_it_was_stored(store: DocumentStore) -> None:
    document = stored("a.md", "One sentence. Another one.", title="A", url="https://example.org/a")
    store.publish([document])

    found = store.get("a.md")

    assert found is not None
    assert (found.title, found.text, found.url, found.version) == (
        document.title,
        document.text,
        document.url,
        document.version,
    )
    assert found.tree.spans == document.tree.spans


def test_an_announced_version_is_invisible_and_pending(store: DocumentStore) -> None:
    store.announce(["v1"])

    assert store.count() == 0
    assert store.pending() == ["v1"]


def test_publishing_replaces_the_old_version_and_leaves_it_pending(store: DocumentStore) -> None:
    old, new = stored("a.md", "Old text."), stored("a.md", "New text.")
    store.publish([old])
    store.announce([new.version])

    retired = store.publish([new])

    assert retired == [old.version]
    assert store.versions() == {"a.md": new.version}
    assert store.pending() == [old.version]
    store.settle(retired)
    assert store.pending() == []


def test_an_old_version_cannot_be_read_any_more_once_it_is_replaced(store: DocumentStore) -> None:
    old, new = stored("a.md", "Old text."), stored("a.md", "New text.")
    store.publish([old])
    assert store.get_versions([old.version])  # now it is in the cache
    store.settle(store.publish([new]))

    assert store.get_versions([old.version, new.version]).keys() == {new.version}


def test_the_state_changes_with_the_documents_and_only_then(store: DocumentStore) -> None:
    empty = store.state()
    store.publish([stored("a.md", "Text.")])
    filled = store.state()

    assert filled != empty
    assert store.state() == filled
    store.publish([], removed=["a.md"])
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

    with pytest.raises(IndexDamagedError, match="Restore it from a backup"):
        DocumentStore(tmp_path / "documents.sqlite")
