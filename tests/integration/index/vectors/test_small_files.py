"""A few leaves of other subjects are found beside thousands of near-alike rows, which crowd them out of the graph."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from index.corpus import Corpus
from index.documents.span_tree import node_id
from index.documents.store import Document, StoredDocument
from index.folder_stores import open_folder
from index.vectors import small_files
from tests.fakes.corpora import MANIFEST, tree_of

pytestmark = pytest.mark.integration

ROWS, SMALL, DIMENSION = 6000, 40, 384
DICE = np.random.default_rng(0)


def unit(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    vectors: npt.NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return vectors


CENTRE = unit(DICE.standard_normal((1, DIMENSION)))
# Rows that differ in eight directions only, and by little; the other texts lie anywhere.
DIRECTIONS = unit(DICE.standard_normal((8, DIMENSION)))
ROW_VECTORS = unit(CENTRE + 0.01 * DICE.standard_normal((ROWS, 8)) @ DIRECTIONS)
SMALL_VECTORS = unit(unit(DICE.standard_normal((SMALL, DIMENSION))) + 0.2 * CENTRE)


def document(doc_id: str, source: str) -> StoredDocument:
    text = f"Text of {doc_id}"
    made = Document(doc_id, doc_id, text, source=source)
    return StoredDocument.of(made, made.hash("test"), tree_of(text))


SMALL_DOCUMENTS = [document(f"{number}.md", f"{number}.md") for number in range(SMALL)]
ROW_DOCUMENTS = [document(f"rows.csv#{number}", "rows.csv") for number in range(ROWS)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crowded") / "books"
    with closing(open_folder(folder, MANIFEST, create=True)) as corpus:
        half = SMALL // 2
        corpus.replace(SMALL_DOCUMENTS[:half], SMALL_VECTORS[:half])
        for start in range(0, ROWS, 1000):
            part = slice(start, start + 1000)
            corpus.replace(ROW_DOCUMENTS[part], ROW_VECTORS[part])
        corpus.replace(SMALL_DOCUMENTS[half:], SMALL_VECTORS[half:])
    return folder


@pytest.fixture
def corpus(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Corpus]:
    monkeypatch.setattr(small_files, "MAX_LEAVES", 100)  # the rows are left to the graph
    with closing(open_folder(folder, MANIFEST)) as corpus:
        corpus.open_derived()
        yield corpus


def name_of(document: StoredDocument) -> str:
    return node_id(document.version, document.tree.leaves[0])


def test_every_small_document_is_found_by_its_own_vector(corpus: Corpus) -> None:
    for small, vector in zip(SMALL_DOCUMENTS, SMALL_VECTORS, strict=True):
        assert name_of(small) in dict(corpus.vectors.search(vector, 10))


def test_of_all_leaves_nearly_all_are_found_by_their_own_vector(corpus: Corpus) -> None:
    rows = list(zip(ROW_DOCUMENTS, ROW_VECTORS, strict=True))[::10]
    everything = [*rows, *zip(SMALL_DOCUMENTS, SMALL_VECTORS, strict=True)]

    found = [name_of(one) in dict(corpus.vectors.search(vector, 10)) for one, vector in everything]

    assert sum(found) >= 0.995 * len(found)


def test_hits_are_as_many_as_asked_for_nearest_first_and_each_once(corpus: Corpus) -> None:
    hits = corpus.vectors.search(SMALL_VECTORS[3], 30)

    assert len({name for name, _ in hits}) == len(hits) == 30
    assert [score for _, score in hits] == sorted((score for _, score in hits), reverse=True)
    exact = np.sort(np.vstack([ROW_VECTORS, SMALL_VECTORS]) @ SMALL_VECTORS[3])[::-1]
    assert hits[0][1] == pytest.approx(exact[0], abs=1e-5)


def test_only_the_named_documents_are_found(corpus: Corpus) -> None:
    versions = {SMALL_DOCUMENTS[place].version for place in (1, 25)} | {ROW_DOCUMENTS[7].version}

    hits = corpus.vectors.search(SMALL_VECTORS[25], 10, versions)

    assert {name.split(".")[0] for name, _ in hits} == versions
    assert hits[0][0] == name_of(SMALL_DOCUMENTS[25])


def test_documents_that_come_and_go_are_searched_as_they_are(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_files, "REST_FACTOR", 0)
    late = document("late.md", "late.md")
    vector = unit(DICE.standard_normal((1, DIMENSION)))

    corpus.replace([late], vector)
    assert corpus.vectors.search(vector[0], 1)[0][0] == name_of(late)

    corpus.delete(["late.md"])
    assert name_of(late) not in dict(corpus.vectors.search(vector[0], 10))
