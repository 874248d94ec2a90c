"""Documents are listed page by page, counted, and found by source."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from errors import FilterError
from index.documents.catalogue import Catalogue
from index.documents.store import Document, DocumentStore, StoredDocument
from index.documents.tables import open_file
from tests.fakes.corpora import tree_of


def document(number: int, text: str, kind: str, source: str) -> StoredDocument:
    plain = Document(f"d{number}", f"T{number}", text, source=source, content_type=kind, metadata={"n": number})
    return StoredDocument.of(plain, f"{number:020x}", tree_of(text, leaves_a_middle=100))


@pytest.fixture
def catalogue(tmp_path: Path) -> Iterator[Catalogue]:
    engine = open_file(tmp_path / "documents.sqlite")
    documents = [document(i, "One. " * i + "End.", "html" if i > 4 else "markdown", f"{i % 2}.md") for i in range(1, 8)]
    DocumentStore(engine).publish(documents, [np.zeros((2, 4), np.float32)] * 7, ())
    yield Catalogue(engine)
    engine.dispose()


@pytest.mark.parametrize("newest", [False, True])
def test_pages_follow_each_other_without_gap_or_repeat(catalogue: Catalogue, tmp_path: Path, *, newest: bool) -> None:
    engine = open_file(tmp_path / "documents.sqlite")
    DocumentStore(engine).publish([document(9, "One.", "html", "9.md")], [np.zeros((2, 4), np.float32)], ())
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE documents SET ingested_at = '2999' WHERE doc_id = 'd9'"))
    engine.dispose()

    pages, after = [], None
    while page := catalogue.briefs(after, 3, newest=newest):
        pages.append([brief.doc_id for brief in page])
        after = page[-1].newest_place if newest else page[-1].doc_id

    order = (
        ["d9", *(f"d{number}" for number in range(1, 8))] if newest else [f"d{number}" for number in (*range(1, 8), 9)]
    )
    assert pages == [order[:3], order[3:6], order[6:]]


def test_a_brief_tells_everything_but_the_text(catalogue: Catalogue) -> None:
    (brief,) = catalogue.briefs(limit=1, filters={"filters": [{"key": "n", "value": 2}]})

    assert asdict(brief) | {"ingested_at": ""} == {
        "doc_id": "d2",
        "title": "T2",
        "url": None,
        "source": "0.md",
        "content_type": "markdown",
        "leaves": 3,
        "chars": 14,
        "ingested_at": "",
        "duplicate_of": None,
        "metadata": {"n": 2},
    }


def test_of_equal_texts_all_but_the_first_name_it_whatever_is_listed(catalogue: Catalogue, tmp_path: Path) -> None:
    engine = open_file(tmp_path / "documents.sqlite")
    twins = [document(number, "One. End.", "html", "9.md") for number in (8, 9)]  # d1 says the same
    DocumentStore(engine).publish(twins, [np.zeros((2, 4), np.float32)] * 2, ())
    engine.dispose()

    assert {one.doc_id: one.duplicate_of for one in catalogue.briefs()} == {
        **{f"d{number}": None for number in range(1, 8)},
        "d8": "d1",
        "d9": "d1",
    }
    assert [one.duplicate_of for one in catalogue.briefs("d8", newest=False)] == ["d1"]


def test_documents_are_listed_by_source_file(catalogue: Catalogue) -> None:
    assert [brief.doc_id for brief in catalogue.briefs(source="0.md")] == ["d2", "d4", "d6"]
    assert catalogue.sources(["d1", "d2", "nobody"]) == {"d1": "1.md", "d2": "0.md"}


def test_an_empty_filter_lists_nothing(catalogue: Catalogue) -> None:
    with pytest.raises(FilterError, match="empty"):
        catalogue.briefs(filters={})


def test_statistics_count_documents_leaves_and_kinds(catalogue: Catalogue) -> None:
    statistics = catalogue.statistics()

    assert (statistics.documents, statistics.leaves) == (7, sum(range(2, 9)))
    assert statistics.content_types == {"markdown": 4, "html": 3}
    assert [brief.doc_id for brief in statistics.largest] == ["d7", "d6", "d5", "d4", "d3"]
    assert statistics.last_ingested_at == catalogue.briefs(limit=1)[0].ingested_at


def test_an_empty_corpus_has_statistics(tmp_path: Path) -> None:
    engine = open_file(tmp_path / "documents.sqlite")

    statistics = Catalogue(engine).statistics()

    assert (statistics.documents, statistics.leaves, statistics.largest) == (0, 0, [])
    assert statistics.last_ingested_at is None
    engine.dispose()
