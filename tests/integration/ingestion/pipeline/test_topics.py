"""Papers that are ingested under several topics belong to each of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from query_engine.retrieval.papers import PaperQuestion, PaperSearch
from tests.fakes.library import Library


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path)
    (library.files / "owls.txt").write_text("Owls hunt at night, and hear a mouse under the snow.")
    yield library
    library.close()


def found(library: Library, topic: str) -> list[str]:
    search = PaperSearch(library.corpus, library.embedder)
    question = PaperQuestion(text="What do owls hear?", topic=topic, top_k=5)
    return [paragraph.document.doc_id for paragraph in search.search(question)]


def under(library: Library, *topics: str) -> None:
    for topic in topics:
        library.ingest(metadata={"topic": topic})


@pytest.mark.promise("C17")
def test_a_paper_is_found_under_each_topic_that_it_was_ingested_under(library: Library) -> None:
    under(library, "birds", "snow")

    assert found(library, "birds") == found(library, "snow") == ["owls.txt"]
    assert found(library, "fish") == []


def test_a_topic_again_changes_nothing(library: Library) -> None:
    under(library, "birds", "snow")
    before = library.corpus.documents.versions()

    under(library, "birds")

    assert library.corpus.documents.versions() == before


def test_a_changed_paper_keeps_its_topics(library: Library) -> None:
    under(library, "birds", "snow")
    (library.files / "owls.txt").write_text("Owls hear a mouse at thirty metres.")

    under(library, "snow")

    assert found(library, "birds") == found(library, "snow") == ["owls.txt"]


def test_a_paper_counts_for_each_of_its_topics(library: Library) -> None:
    under(library, "birds", "snow")
    (library.files / "finches.txt").write_text("Finches eat seeds.")
    under(library, "birds")

    assert library.corpus.catalogue.statistics().topics == {"birds": 2, "snow": 1}


def test_a_paper_that_was_deleted_begins_without_topics(library: Library) -> None:
    under(library, "birds")
    library.corpus.delete(["owls.txt"])

    under(library, "snow")

    assert found(library, "birds") == []
    assert found(library, "snow") == ["owls.txt"]
