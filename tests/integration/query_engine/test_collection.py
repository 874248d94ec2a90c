"""Questions about the collection over real stores: what is listed, summed up and cited, and what is searched for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from index.corpus import Corpus
from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.schema.events import Done, Event, Retrieved, Step, Token
from query_engine.schema.turn import Turn
from query_engine.synthesis.extractive import ExtractiveSynthesizer
from settings import Settings
from tests.fakes.corpora import make_corpus
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.reading import a_leaf_reader

MINUTES = (
    "# Minutes of the board\n\nThe board met in the reading room on a cold evening. Decision: the roof is repaired in "
    "September by the firm of Finch. The price of a ticket rises by sixty pence in April. It rained."
)
TEXTS = {
    "board/minutes-2026.md": MINUTES,
    "lease.md": "# 1 Rent\n\nThe tenant pays nine hundred pounds on the first day of each month.\n\n"
    "# 2 Notice\n\nEither side may end the lease with three months of notice. The landlord repairs the boiler.",
    "visit/lease-of-boats.md": "Boats are let by the hour at the quay behind the museum. Children wear life jackets.",
    "bread.md": "Flour and water are mixed and left to rise overnight. The oven is heated to 230 degrees.",
    "tools.md": "kind | town\n\nkind: drill bit\ntown: Lyon\n\nkind: drill bit\ntown: Lyon\n\nkind: saw\ntown: Lyon\n\n"
    "kind: drill bit\ntown: Nice\n\nkind: hammer\ntown: Lyon",
}


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    opened = make_corpus(tmp_path / "house", TEXTS, WordHashEmbedding())
    yield opened
    opened.close()


@pytest.fixture
def engine(corpus: Corpus) -> Engine:
    embedder = WordHashEmbedding()
    return Engine(
        corpus, embedder, a_leaf_reader(corpus), (), ExtractiveSynthesizer(a_leaf_reader(corpus)), settings=Settings()
    )


async def ask(engine: Engine, question: str, **more: Any) -> tuple[list[Event], Done]:
    events = [event async for event in engine.stream(Inquiry(question, **more))]
    done = events[-1]
    assert isinstance(done, Done)
    return events, done


def steps_of(events: list[Event]) -> list[str]:
    return [event.kind for event in events if isinstance(event, Step)]


@pytest.mark.parametrize("question", ["hi", "Thanks!", "who are you?", "Hallo", "bonjour", "¿Quién eres?"])
async def test_small_talk_gets_one_friendly_line_without_a_search(engine: Engine, question: str) -> None:
    events, done = await ask(engine, question)

    assert done.answer == done.message != ""
    assert "I don't know" not in done.message
    assert (done.gate_reason, done.synthesizer, done.citations, done.passages) == (
        "generated_answer",
        "small_talk",
        (),
        (),
    )
    assert steps_of(events) == ["conversation"]


async def test_small_talk_is_answered_by_an_empty_corpus(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "empty", {}, WordHashEmbedding())
    embedder = WordHashEmbedding()
    engine = Engine(
        corpus, embedder, a_leaf_reader(corpus), (), ExtractiveSynthesizer(a_leaf_reader(corpus)), settings=Settings()
    )

    assert "0 documents" in (await ask(engine, "hello"))[1].message
    assert (await ask(engine, "What documents do you have?"))[1].gate_reason == "no_retrieval"
    corpus.close()


async def test_documents_are_listed_and_counted_within_the_filter(engine: Engine) -> None:
    only = {"filters": [{"key": "doc_id", "operator": "in", "value": ["bread.md", "lease.md"]}]}

    events, done = await ask(engine, "What documents do you have?")
    assert all(doc_id in done.message for doc_id in TEXTS)
    assert done.synthesizer == "catalogue"
    assert "collection" in steps_of(events)
    filtered = (await ask(engine, "list all documents", filters=only))[1].message
    assert [doc_id for doc_id in TEXTS if doc_id in filtered] == ["lease.md", "bread.md"]
    assert "There are 5 documents" in (await ask(engine, "How many documents are there?"))[1].message
    assert (
        "There are 2 documents in this collection: 2 md."
        in (await ask(engine, "How many documents are there?", filters=only))[1].message
    )


async def test_a_summary_quotes_a_document_in_its_order_and_cites_each_sentence(engine: Engine) -> None:
    events, done = await ask(engine, "Summarise the minutes")

    assert {citation.doc_id for citation in done.citations} == {"board/minutes-2026.md"}
    for citation in done.citations:
        assert MINUTES[citation.start : citation.end] == citation.quote
    starts = [citation.start for citation in done.citations]
    assert starts == sorted(starts)
    assert "Decision: the roof is repaired in September" in done.message
    assert all(f"[{citation.number}]" in done.message for citation in done.citations)
    assert done.synthesizer == "extractive"
    assert "".join(event.text for event in events if isinstance(event, Token)).strip() == done.answer
    assert next(event for event in events if isinstance(event, Retrieved)).passages == done.passages


async def test_a_document_is_found_by_its_title_or_name_or_a_mistyped_word(engine: Engine) -> None:
    for question in (
        "What is in lease.md?",
        "summarise the minuts",
        "Summarise minutes-2026.md",
        "what is the lease about?",
    ):
        events, done = await ask(engine, question)
        assert steps_of(events) == ["collection"], question
        assert done.citations, question


async def test_headings_say_what_a_document_is_about(engine: Engine) -> None:
    _, done = await ask(engine, "Summarise lease.md")

    assert "It has these parts: 1 Rent [1]; 2 Notice [2]" in done.message


async def asked_of(folder: Path, texts: dict[str, str], question: str) -> Done:
    corpus = make_corpus(folder, texts, WordHashEmbedding())
    reader = a_leaf_reader(corpus)
    engine = Engine(corpus, WordHashEmbedding(), reader, (), ExtractiveSynthesizer(reader), settings=Settings())
    try:
        return (await ask(engine, question))[1]
    finally:
        corpus.close()


async def test_an_abstract_is_the_summary(tmp_path: Path) -> None:
    text = (
        "# Wool on beds\n\n## Abstract\n\nWool is left over. We laid it on four farms. Slugs came all the same [3].\n\n"
        "## Methods\n\nEach bed was weighed in spring and in autumn by two people of the farm."
    )

    done = await asked_of(tmp_path / "wool", {"wool.md": text}, "Summarise wool.md")

    assert [citation.quote for citation in done.citations][-2:] == [
        "We laid it on four farms.",
        "Slugs came all the same [3].",
    ]
    assert "Slugs came all the same (3). [" in done.message
    assert "weighed" not in done.message


async def test_a_comment_in_code_is_no_part_of_a_document(tmp_path: Path) -> None:
    code = "```bash\n# update the list\napt update\n# install it\napt install mill\n```"
    text = (
        f"# Guide\n\nThe mill is installed from the list of packages.\n\n{code}\n\nThe mill runs after that by itself."
    )

    done = await asked_of(tmp_path / "guide", {"guide.md": text}, "Summarise guide.md")

    assert "parts" not in done.message


async def test_a_pronoun_names_no_document(tmp_path: Path) -> None:
    texts = {"it.md": "# IT\n\nLaptops are encrypted.", "salt.md": "# Solar salt\n\nSolar salt holds potassium."}

    done = await asked_of(tmp_path / "it", texts, "What is in it?")

    assert done.synthesizer != "extractive" or "IT" not in done.message.split("\n")[0]


async def test_the_document_is_meant_that_the_name_says_most_of(engine: Engine) -> None:
    _, done = await ask(engine, "Summarise the lease")

    assert {citation.doc_id for citation in done.citations} == {"lease.md"}


async def test_several_documents_of_a_name_are_all_shown(tmp_path: Path) -> None:
    texts = {f"minutes-{year}.md": f"The board met in {year} and spoke of roofs and boats." for year in (2024, 2025)}
    corpus = make_corpus(tmp_path / "years", texts, WordHashEmbedding())
    embedder = WordHashEmbedding()
    engine = Engine(
        corpus, embedder, a_leaf_reader(corpus), (), ExtractiveSynthesizer(a_leaf_reader(corpus)), settings=Settings()
    )

    both, one = (await ask(engine, "Summarise the minutes"))[1], (await ask(engine, "Summarise the minutes 2025"))[1]
    corpus.close()

    assert both.message.startswith("Several documents fit that name:")
    assert [citation.doc_id for citation in both.citations] == list(texts)
    assert [citation.doc_id for citation in one.citations] == ["minutes-2025.md"]


async def test_a_topic_finds_the_document_whose_text_is_about_it(engine: Engine) -> None:
    _, done = await ask(engine, "Summarise the document on life jackets")

    assert {citation.doc_id for citation in done.citations} == {"visit/lease-of-boats.md"}


async def test_a_summary_finds_the_only_document_that_has_every_word_of_its_description(engine: Engine) -> None:
    events, done = await ask(engine, "Give me a summary of the ticket price in the reading room")
    of_two, _ = await ask(engine, "Give me a summary of the boiler and the firm of Finch")

    assert "search" not in steps_of(events)
    assert {citation.doc_id for citation in done.citations} == {"board/minutes-2026.md"}
    assert "search" in steps_of(of_two)


async def test_all_documents_are_described_by_a_sentence_each(engine: Engine) -> None:
    _, done = await ask(engine, "What are these about?")

    assert {"bread.md", "lease.md", "board/minutes-2026.md"} <= {citation.doc_id for citation in done.citations}


@pytest.mark.parametrize(
    "question",
    ["What are the documents needed for a visa?", "Summarise the causes of the war", "What is in rye bread?",
     "What is the tenant about?"],
)  # fmt: skip
async def test_what_names_no_document_is_searched_for(engine: Engine, question: str) -> None:
    assert "search" in steps_of((await ask(engine, question))[0])


async def test_small_talk_after_a_conversation_takes_nothing_from_it(engine: Engine) -> None:
    turns = (Turn("user", "Who repairs the roof?"), Turn("assistant", "The firm of Finch. [1]"))

    assert steps_of((await ask(engine, "thanks", turns=turns))[0]) == ["conversation"]


async def test_a_count_that_no_rows_answer_is_quoted(engine: Engine) -> None:
    assert "cannot count" not in (await ask(engine, "How many months of notice end the lease?"))[1].message


PAPER = (
    "# Naps in a control room\n\n## Abstract\n\nCall takers get tired at night. We compared naps with breaks. "
    "Lapses fell from 5.2 to 3.1 per test.\n\n## Methods\n\nThe study of naps in the control room was made in winter."
)


async def test_most_of_a_title_names_its_document_if_no_other_title_has_it(tmp_path: Path) -> None:
    text = (
        "Lady Otter is a paddle steamer. She was built in 1894.\n\nHer last trip was in 1951. She was sold for scrap."
    )
    alone = make_corpus(tmp_path / "alone", {"PS Lady Otter": text, "Bread": "Bread is old."}, WordHashEmbedding())
    two = make_corpus(tmp_path / "two", {"PS Lady Otter": text, "HMS Lady Otter": text}, WordHashEmbedding())
    started = []
    for corpus in (alone, two):
        reader = a_leaf_reader(corpus)
        engine = Engine(corpus, WordHashEmbedding(), reader, (), ExtractiveSynthesizer(reader), settings=Settings())
        _, done = await ask(engine, "Tell me about Lady Otter")
        started.append(done.message.startswith("**PS Lady Otter**"))
        corpus.close()

    assert started == [True, False]


async def test_one_word_may_be_missing_in_the_title_but_not_what_is_to_be_summed_up(tmp_path: Path) -> None:
    texts = {"accident-report-print-workers.md": "A finisher cut a finger on the guillotine. The print workers saw it."}
    corpus = make_corpus(tmp_path / "house", texts, WordHashEmbedding())
    engine = Engine(
        corpus,
        WordHashEmbedding(),
        a_leaf_reader(corpus),
        (),
        ExtractiveSynthesizer(a_leaf_reader(corpus)),
        settings=Settings(),
    )

    whole, part = [
        (await ask(engine, f"Give me a summary of {name}"))[0]
        for name in ("the accident at the print shop", "the print workers' finances")
    ]
    corpus.close()

    assert "collection" in steps_of(whole)
    assert "collection" not in steps_of(part)


async def test_a_history_quotes_the_sentences_with_years_in_their_order(tmp_path: Path) -> None:
    text = (
        "The old mill is open on Sundays. It was sold in 1750. In 1790 the wheel burnt down.\n\nVisitors like the "
        "wheel and the pond beside it. The wheel was built again in 1802 by two brothers. Call 0555 1802 for a tour. "
        "The pond has fish.\n\nSince 1968 the island has been a reserve."
    )
    corpus = make_corpus(tmp_path / "mill", {"mill": text, "bread": "Bread is old."}, WordHashEmbedding())
    reader = a_leaf_reader(corpus)
    engine = Engine(corpus, WordHashEmbedding(), reader, (), ExtractiveSynthesizer(reader), settings=Settings())

    _, done = await ask(engine, "Give me a short history of the mill in a few sentences.")
    _, none = await ask(engine, "Give me a short history of bread.")

    assert [citation.quote for citation in done.citations] == [
        "In 1790 the wheel burnt down.",
        "The wheel was built again in 1802 by two brothers.",
        "Since 1968 the island has been a reserve.",
    ]
    assert "**bread**" not in none.message
    corpus.close()
