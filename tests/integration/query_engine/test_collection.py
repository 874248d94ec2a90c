"""Questions about the collection over real stores: what is listed and counted, and what is searched for."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from index.corpus import Corpus
from query_engine.collection.listing import LISTED
from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.schema.events import Done, Event, Step, Token
from settings import Settings
from tests.fakes.corpora import make_corpus, put, stored
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.reading import a_leaf_reader

TEXTS = {
    "board/minutes-2026.md": "The board met at noon. The roof is repaired in September by the firm of Finch.",
    "lease.md": "The tenant pays nine hundred pounds on the first day of each month. The landlord repairs the boiler.",
    "bread.md": "Flour and water are mixed and left to rise overnight. The oven is heated to 230 degrees.",
}
ONLY = {"filters": [{"key": "doc_id", "operator": "in", "value": ["bread.md", "lease.md"]}]}


def engine_over(corpus: Corpus) -> Engine:
    reader = a_leaf_reader(corpus)
    return Engine(corpus, WordHashEmbedding(), reader, (), settings=Settings())


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    corpus = make_corpus(tmp_path / "house", {}, WordHashEmbedding())
    put(
        corpus,
        [replace(stored(doc_id, text), content_type="md") for doc_id, text in TEXTS.items()],
        WordHashEmbedding(),
    )
    yield engine_over(corpus)
    corpus.close()


async def asked_of(folder: Path, texts: dict[str, str], question: str) -> Done:
    corpus = make_corpus(folder, texts, WordHashEmbedding())
    try:
        return (await ask(engine_over(corpus), question))[1]
    finally:
        corpus.close()


async def ask(engine: Engine, question: str, **more: Any) -> tuple[list[Event], Done]:
    events = [event async for event in engine.stream(Inquiry(question, **more))]
    done = events[-1]
    assert isinstance(done, Done)
    return events, done


def steps_of(events: list[Event]) -> list[str]:
    return [event.kind for event in events if isinstance(event, Step)]


async def test_documents_are_listed_within_the_filter(engine: Engine) -> None:
    events, done = await ask(engine, "What documents do you have?")
    filtered = (await ask(engine, "Welche Dokumente gibt es?", filters=ONLY))[1].message

    assert all(doc_id in done.message for doc_id in TEXTS)
    assert (done.gate_reason, done.synthesizer, done.citations, done.passages) == (
        "generated_answer",
        "catalogue",
        (),
        (),
    )
    assert steps_of(events) == ["collection"]
    assert "".join(event.text for event in events if isinstance(event, Token)) == done.answer == done.message
    assert [doc_id for doc_id in TEXTS if doc_id in filtered] == ["lease.md", "bread.md"]


async def test_documents_are_counted_by_format_within_the_filter(engine: Engine) -> None:
    assert "3 documents in this collection: 3 md" in (await ask(engine, "How many documents are there?"))[1].message
    filtered = (await ask(engine, "Combien de documents avez-vous ?", filters=ONLY))[1].message
    assert "2 documents : 2 md" in filtered


async def test_a_long_list_ends_with_how_many_are_left_out(tmp_path: Path) -> None:
    texts = {f"{number:03}.md": f"Boat {number} is blue." for number in range(LISTED + 7)}

    done = await asked_of(tmp_path / "boats", texts, "list all documents")

    assert f"{LISTED + 7} documents" in done.message.split("\n")[0]
    assert sum(doc_id in done.message for doc_id in texts) == LISTED
    assert "7 more" in done.message.split("\n")[-1]


async def test_an_empty_corpus_says_so(tmp_path: Path) -> None:
    assert (await asked_of(tmp_path / "empty", {}, "What documents do you have?")).gate_reason == "no_retrieval"


@pytest.mark.parametrize(
    "question",
    ["How many documents are required for a visa?", "Summarise the lease", "Summarise all documents",
     "What are these documents about?", "What is in lease.md?", "Give me a short history of the roof"],
)  # fmt: skip
async def test_what_documents_say_is_searched_for(engine: Engine, question: str) -> None:
    events, done = await ask(engine, question)

    assert "search" in steps_of(events)
    assert "collection" not in steps_of(events)
    assert done.synthesizer in (None, "extractive")
