"""Pages of several searches become one corpus: each text once, what failed is told, time is kept."""

import pytest

from errors import OutOfTimeError, SourceError
from query_engine.runtime.deadline import Deadline
from sources.base import SourcePage
from sources.corpus import PAGES, SourceCorpus, document_of, open_source_corpus
from tests.fakes.sources import FakeDocumentEngines, FakeSource, a_page

DOWN = SourceError("It is down.", "Start it.", "source_unreachable")


def codes(corpus: SourceCorpus, question: str = "q") -> list[str]:
    return [warning.code for warning in corpus.search(question, Deadline(30)).warnings]


def test_a_page_that_comes_ten_times_is_read_once() -> None:
    engines = FakeDocumentEngines()
    again = [SourcePage(str(number), None, "", "Albert  Betz published\nthe limit in 1919.") for number in range(9)]
    sources = [FakeSource("clueweb", [a_page(), *again]), FakeSource("fineweb", [a_page()])]

    with open_source_corpus(engines, sources, "q") as corpus:
        (one, other) = corpus.fetch("q", Deadline(30))

        assert (len(one.pages), one.repeated) == (1, 9)
        assert (len(other.pages), other.repeated) == (0, 1)
        assert [document.url for document in engines.made.documents] == ["https://example.org/betz"]


def test_the_passages_of_a_search_are_of_all_pages_so_far_and_cite_their_address() -> None:
    source = FakeSource(pages=[a_page("one", "First text.")])
    with open_source_corpus(FakeDocumentEngines(), [source], "the question") as corpus:
        corpus.search("first query", Deadline(30))
        source.pages = [a_page("two", "Second text."), a_page("one", "Another text of one.")]
        found = corpus.search("second query", Deadline(30))

        assert corpus.pages == 3
    assert [(passage.doc_id, passage.url) for passage in found.passages] == [
        ("https://example.org/one", "https://example.org/one"),
        ("https://example.org/two", "https://example.org/two"),
        ("https://example.org/one (2)", "https://example.org/one"),
    ]
    assert found.timings_ms.keys() == {"fetch", "retrieve"}
    assert [(query.text, query.original, query.k, query.iteration) for query in source.queries] == [
        ("first query", "the question", PAGES, 1),
        ("second query", "the question", PAGES, 2),
    ]


def test_a_source_that_failed_is_told_once_and_not_asked_again() -> None:
    down, up = FakeSource("clueweb", failure=DOWN), FakeSource("fineweb", [a_page()])
    with open_source_corpus(FakeDocumentEngines(), [down, up], "q") as corpus:
        assert codes(corpus) == ["source_unreachable"]
        assert codes(corpus, "again") == []
    assert len(down.queries) == 1
    assert len(up.queries) == 2


def test_a_source_that_refused_a_query_is_asked_the_next_one() -> None:
    source = FakeSource(failure=SourceError("Too long.", "Shorten it.", "source_rejected"))
    with open_source_corpus(FakeDocumentEngines(), [source], "q") as corpus:
        assert codes(corpus) == codes(corpus, "again") == ["source_rejected"]
    assert len(source.queries) == 2


def test_without_any_page_nothing_is_found() -> None:
    with open_source_corpus(FakeDocumentEngines(), [FakeSource(failure=DOWN)], "q") as corpus:
        found = corpus.search("q", Deadline(30))
    assert not found.passages
    assert [warning.code for warning in found.warnings] == ["source_unreachable"]


def test_broken_blank_and_long_pages_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sources.corpus.MAX_PAGE_CHARS", 1000)
    pages = [a_page("blank", "\u200b \n"), a_page("long", "word " * 500)]
    engines = FakeDocumentEngines()
    with open_source_corpus(engines, [FakeSource(pages=pages, skipped=2)], "q") as corpus:
        warnings = corpus.search("q", Deadline(30)).warnings
        assert [str(warning) for warning in warnings] == [
            "records_skipped: 3 broken records of clueweb were skipped.",
            "pages_cut: Of 1 long pages of clueweb only the first 1,000 characters were read.",
        ]
        assert [len(document.text) for document in engines.made.documents] == [999]


def test_pages_that_come_too_late_are_left_out() -> None:
    now = 0.0
    engines = FakeDocumentEngines()
    add = engines.add_documents

    def slowly(engine: object, documents: object) -> None:
        nonlocal now
        add(engine, documents)  # type: ignore[arg-type]
        now += 50

    engines.add_documents = slowly  # type: ignore[method-assign]
    pages = [a_page(str(number), f"{number} " + "long text " * 9_000) for number in range(9)]
    with open_source_corpus(engines, [FakeSource(pages=pages)], "q") as corpus:
        (fetched,) = corpus.fetch("q", Deadline(120, lambda: now))

        assert len(fetched.pages) == corpus.pages == 4
        assert [warning.code for warning in fetched.warnings] == ["pages_left_out"]


def test_nobody_is_asked_for_a_client_that_has_left() -> None:
    deadline, source = Deadline(30), FakeSource()
    deadline.stop.set()
    with open_source_corpus(FakeDocumentEngines(), [source], "q") as corpus, pytest.raises(OutOfTimeError):
        corpus.search("q", deadline)
    assert not source.queries


def test_a_page_becomes_a_document_that_links_nowhere_but_to_itself() -> None:
    page = SourcePage("7", "javascript:alert(1)", "", "# Betz\n\nHe published\x00 the limit.", "2024")

    document = document_of(page, "chroma")

    assert (document.doc_id, document.url, document.title) == ("chroma/7", None, "Betz")
    assert document.text == "# Betz\n\nHe published the limit."
    assert document.metadata == {"source_name": "chroma", "published": "2024"}
    assert document_of(a_page(text="A line. " * 50), "clueweb").title == "example.org/betz"
