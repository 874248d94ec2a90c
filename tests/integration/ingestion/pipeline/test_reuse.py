"""Vectors that are not computed again: which ones, and that they are the same as fresh ones."""

from pathlib import Path

import numpy as np
import pytest

import ingestion.pipeline.diff
from index.documents.span_tree import node_id
from settings import ChunkSettings
from tests.fakes.library import Library

PARAGRAPHS = 30


def write(library: Library, name: str, changed: int | None = None) -> None:
    paragraphs = [
        " ".join(f"word{number}x{place}" for place in range(50)) + f" {'new' if number == changed else 'old'}."
        for number in range(PARAGRAPHS)
    ]
    (library.files / name).write_text("\n\n".join(paragraphs))


def vectors_of(library: Library, doc_id: str) -> np.ndarray:
    document = library.corpus.documents.get(doc_id)
    assert document is not None
    names = [node_id(document.version, leaf) for leaf in document.tree.leaves]
    found = library.corpus.vectors.fetch(names)
    return np.stack([found[name] for name in names])


def test_one_changed_paragraph_of_a_long_document_costs_its_leaf_alone(library: Library) -> None:
    write(library, "long.txt")
    first = library.ingest()
    write(library, "long.txt", changed=17)

    second = library.ingest()

    assert first.embedded == first.leaves == PARAGRAPHS
    assert (second.changed, second.leaves, second.embedded) == (1, PARAGRAPHS, 1)
    assert library.embedder.texts_embedded == 1


def test_reused_vectors_are_those_that_would_have_been_computed(library: Library, tmp_path: Path) -> None:
    write(library, "long.txt")
    library.ingest()
    write(library, "long.txt", changed=17)
    library.ingest()
    (tmp_path / "other").mkdir()
    fresh = Library(tmp_path / "other", chunk=ChunkSettings(root_tokens=240, middle_tokens=120, leaf_tokens=60))
    write(fresh, "long.txt", changed=17)
    fresh.ingest()

    assert np.allclose(vectors_of(library, "long.txt"), vectors_of(fresh, "long.txt"), atol=1e-6)
    version = library.corpus.documents.versions()["long.txt"]
    parents, its = (each.corpus.documents.parent_vectors([version])[version] for each in (library, fresh))
    assert np.allclose(parents, its, atol=1e-3)
    fresh.close()


def test_a_text_that_occurs_twice_is_embedded_once(library: Library) -> None:
    for folder in ("one", "two"):
        (library.files / folder).mkdir()
        (library.files / folder / "same.txt").write_text("The same title and text in both.")

    summary = library.ingest()

    assert (summary.new, summary.leaves, summary.embedded) == (2, 2, 1)
    assert np.array_equal(vectors_of(library, "one/same.txt"), vectors_of(library, "two/same.txt"))


def test_vectors_of_another_release_are_not_reused(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    write(library, "long.txt")
    library.ingest()
    monkeypatch.setattr(ingestion.pipeline.diff, "PIPELINE_VERSION", "next")

    summary = library.ingest()

    assert (summary.changed, summary.embedded) == (1, PARAGRAPHS)
