"""An engine over given documents cuts, embeds and answers from them alone."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from index.documents.store import Document
from ingestion.reading.html import read_html
from query_engine.build import Engines
from query_engine.inquiry import Inquiry
from query_engine.schema.events import Done
from settings import AnswerSettings, EmbedSettings, RetrievalSettings, Settings

PAGE = """<html><head><title>Betz</title></head><body><article><h1>Betz</h1>
<p>Albert Betz was a German physicist. He published the limit of wind turbines in 1919.</p>
<p>He worked in Göttingen for most of his life.</p></article></body></html>"""
URL = "https://example.org/betz"

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def engines(model_cache: Path) -> Iterator[Engines]:
    with closing(Engines(Settings(embed=EmbedSettings(cache_dir=model_cache)))) as opened:
        yield opened


@pytest.mark.promise("B13")
async def test_an_answer_comes_from_the_page_and_cites_its_address(engines: Engines) -> None:
    document = read_html(PAGE.encode(), "betz")
    with engines.for_documents([Document(document.doc_id, document.title, document.text, url=URL)]) as engine:
        *_, done = [
            event async for event in engine.stream(Inquiry("When did Betz publish the limit of wind turbines?"))
        ]

    assert isinstance(done, Done)
    assert done.answer
    assert "1919" in done.answer
    assert {citation.url for citation in done.citations} == {URL}
    assert all(document.text[one.start : one.end] == one.quote for one in done.citations)


@pytest.mark.parametrize("only_sure", [None, False])
async def test_over_given_pages_only_what_is_sure_is_quoted_unless_the_settings_say_otherwise(
    model_cache: Path, only_sure: bool | None
) -> None:
    settings = Settings(embed=EmbedSettings(cache_dir=model_cache), answer=AnswerSettings(only_sure=only_sure))
    text = "Albert Betz was a German physicist. He published the limit of wind turbines in 1919."
    with closing(Engines(settings)) as engines, engines.for_documents([Document("betz", "Betz", text)]) as engine:
        *_, done = [event async for event in engine.stream(Inquiry("Where did Betz study physics?"))]

    assert isinstance(done, Done)
    assert (done.answer is None) == (only_sure is None)


@pytest.mark.promise("B03")
def test_sentences_are_leaves_where_the_settings_say_so(model_cache: Path) -> None:
    settings = Settings(embed=EmbedSettings(cache_dir=model_cache), answer=AnswerSettings(sentence_leaves=True))
    text = "Albert Betz was a German physicist. He published the limit of wind turbines in 1919."
    with closing(Engines(settings)) as engines, engines.for_documents([Document("betz", "Betz", text)]) as engine:
        (best, *_) = engine.retrieve(Inquiry("When was the limit published?"), RetrievalSettings(merge=False)).passages

        assert engine.corpus.documents.leaf_count() == 2
        assert best.text == "He published the limit of wind turbines in 1919."


async def test_over_nothing_nothing_is_known(engines: Engines) -> None:
    with engines.for_documents([]) as engine:
        *_, done = [
            event async for event in engine.stream(Inquiry("When did Betz publish the limit of wind turbines?"))
        ]

    assert isinstance(done, Done)
    assert done.answer is None
    assert done.message.startswith("I don't know")


def test_a_text_given_twice_is_kept_once_and_names_stay_apart(engines: Engines) -> None:
    documents = [Document("a", "A", "One text."), Document("a", "A", "Another text."), Document("b", "B", "One text.")]

    with engines.for_documents(documents) as engine:
        assert sorted(engine.corpus.documents.versions()) == ["a", "a (2)"]


def test_a_blank_text_costs_itself_alone(engines: Engines) -> None:
    documents = [Document("blank", "Blank", "   "), Document("b", "B", "One text.")]

    with engines.for_documents(documents) as engine:
        assert list(engine.corpus.documents.versions()) == ["b"]
