"""Pages that come with a question are read in a child process, within limits; the rest is answered as ever."""

import asyncio
from collections.abc import Iterator
from contextlib import closing

import pytest

from query_engine.inquiry import Inquiry
from query_engine.schema.events import Done, Event
from settings import IngestSettings, Settings
from sources.given_pages import PARSE_TIMEOUT_S, GivenPage, PageAnswers, PageReaders
from tests.fakes.sources import FakeDocumentEngines

URL = "https://example.org/betz"
HTML = "<html><head><title>Betz</title></head><body><p>Albert Betz published the limit of turbines in 1919.</p></body>"
SETTINGS = Settings()


@pytest.fixture(scope="module")
def readers() -> Iterator[PageReaders]:
    with closing(PageReaders(SETTINGS)) as made:
        yield made


def asked(readers: PageReaders, *pages: GivenPage) -> tuple[Done, FakeDocumentEngines]:
    engines = FakeDocumentEngines()
    answers = PageAnswers(engines, readers, SETTINGS)

    async def events() -> list[Event]:
        return [event async for event in answers.stream(Inquiry("When?"), pages)]

    *_, done = asyncio.run(events())
    assert isinstance(done, Done)
    return done, engines


@pytest.mark.promise("B02")
def test_html_and_text_become_documents_with_the_pages_address(readers: PageReaders) -> None:
    done, engines = asked(
        readers, GivenPage(URL, html=HTML), GivenPage("https://example.org/t", "A title", text="Plain text.")
    )

    assert done.answer == "Done."
    assert engines.only_sure is True
    assert [(one.url, one.title, one.text) for one in engines.made.documents] == [
        (URL, "Betz", "Albert Betz published the limit of turbines in 1919."),
        ("https://example.org/t", "A title", "Plain text."),
    ]


def test_writer_and_precision_are_passed_on(readers: PageReaders) -> None:
    engines = FakeDocumentEngines()

    async def events() -> list[Event]:
        stream = PageAnswers(engines, readers, SETTINGS).stream(
            Inquiry("When?", writer="gemma2"), [GivenPage(URL, text="In 1919.")], only_sure=False
        )
        return [event async for event in stream]

    asyncio.run(events())

    assert (engines.writer, engines.only_sure) == ("gemma2", False)


def test_a_text_that_comes_again_is_read_once(readers: PageReaders) -> None:
    _, engines = asked(readers, *[GivenPage(URL, text="Same text.")] * 5, GivenPage(f"{URL}2", text="Same  text."))

    assert len(engines.made.documents) == 1


def test_what_cannot_be_read_is_told_and_the_rest_is_answered_from(
    readers: PageReaders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sources.corpus.MAX_PAGE_CHARS", 1000)
    done, engines = asked(
        readers,
        GivenPage(f"{URL}/deep", html="<div>" * 300_000 + "Betz."),
        GivenPage(f"{URL}/blank", html=" "),
        GivenPage(f"{URL}/nothing", text="\0\u200b"),
        GivenPage(f"{URL}/long", text="long text " * 200),
        GivenPage(URL, html=HTML),
    )

    assert [warning.code for warning in done.warnings] == ["page_unread", "page_unread", "page_unread", "pages_cut"]
    assert f"{URL}/deep: " in done.warnings[0].text
    assert [len(one.text) for one in engines.made.documents] == [1000, 52]


def test_without_a_page_the_question_is_declined(readers: PageReaders) -> None:
    done, engines = asked(readers)

    assert done.answer is None
    assert done.message == "I don't know. No passage was found for this question."
    assert not engines.open_engines


def test_parsing_a_page_takes_no_longer_than_somebody_waits() -> None:
    with closing(PageReaders(Settings())) as readers, readers.borrow() as one, readers.borrow() as other:
        assert one is not other
        assert one._sandbox._timeout_s == PARSE_TIMEOUT_S


def test_plain_text_is_read_under_the_limits_of_files() -> None:
    settings = Settings(ingest=IngestSettings(max_file_mb=1))
    with closing(PageReaders(settings)) as readers:
        done, engines = asked(readers, GivenPage(URL, text="wind " * 300_000), GivenPage(f"{URL}2", text="In 1919."))

    assert [warning.code for warning in done.warnings] == ["page_unread"]
    assert [one.text for one in engines.made.documents] == ["In 1919."]


def test_plain_text_keeps_its_address_whatever_that_looks_like(readers: PageReaders) -> None:
    url = "https://example.org/5a7b6c5d4e3f.txt"
    _, engines = asked(readers, GivenPage(url, text="A title\n\nAlbert Betz published the limit of turbines."))

    (document,) = engines.made.documents
    assert (document.doc_id, document.source, document.title, document.content_type) == (url, url, url, "web")
    assert document.text.startswith("A title\n\nAlbert Betz")
