"""Of several editions of one document the newest is quoted first, unless the question names another one."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from index.corpus import Corpus
from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.schema.events import Done
from query_engine.schema.source import Source
from settings import RetrievalSettings, Settings
from tests.fakes.corpora import make_corpus, put, stored
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.reading import a_leaf_reader

Ask = Callable[..., Awaitable[Done]]
Documents = dict[str, tuple[str, dict[str, Any]]]
FERRY = "The ferry ticket costs {} crowns."


@pytest.fixture
async def ask(tmp_path: Path) -> AsyncIterator[Ask]:
    corpora: list[Corpus] = []

    async def asked(question: str, documents: Documents, **retrieval: Any) -> Done:
        corpus = make_corpus(tmp_path / str(len(corpora)), {}, WordHashEmbedding())
        corpora.append(corpus)
        given = [
            replace(stored(doc_id, text, title="Ferry"), metadata=metadata)
            for doc_id, (text, metadata) in documents.items()
        ]
        put(corpus, given, WordHashEmbedding())
        reader = a_leaf_reader(corpus)
        settings = Settings(retrieval=RetrievalSettings(**retrieval))
        engine = Engine(corpus, WordHashEmbedding(), reader, (), settings=settings)
        *_, done = [event async for event in engine.stream(Inquiry(question))]
        assert isinstance(done, Done)
        return done

    yield asked
    for corpus in corpora:
        corpus.close()


def years(*years: int) -> Documents:
    return {f"ferry-{year}.md": (FERRY.format(year - 2000), {}) for year in years}


async def test_the_newer_one_leads_and_both_have_their_dates(ask: Ask) -> None:
    done = await ask("What does the ferry ticket cost?", years(2021, 2022))

    assert done.answer is not None
    assert done.answer.index("22 crowns") < done.answer.index("21 crowns")
    assert [one.date for one in done.citations] == ["2022", "2021"]
    assert done.passages[0].doc_id == "ferry-2022.md"


async def test_the_newest_of_many_leads(ask: Ask) -> None:
    done = await ask("What does the ferry ticket cost?", years(*range(2005, 2025)))

    assert done.citations[0].doc_id == "ferry-2024.md"


async def test_the_one_that_the_question_names_leads(ask: Ask) -> None:
    done = await ask("What did the ferry ticket cost in 2021?", years(2021, 2022))

    assert done.citations[0].doc_id == "ferry-2021.md"


async def test_mails_of_one_subject_are_read_by_their_headers(ask: Ask) -> None:
    said = {"z.eml": "The ferry leaves from pier 4.", "a.eml": "The ferry leaves from pier 9."}
    days = {"z.eml": "2024-03-04T09:00:00+00:00", "a.eml": "2024-03-05T09:00:00+00:00"}
    done = await ask("Where does the ferry leave from?", {name: (said[name], {"date": days[name]}) for name in said})
    swapped = await ask(
        "Where does the ferry leave from?",
        {name: (said[name], {"date": days[other]}) for name, other in zip(said, reversed(days), strict=True)},
    )

    assert [one.doc_id for one in done.citations] == ["a.eml", "z.eml"]
    assert [one.doc_id for one in swapped.citations] == ["z.eml", "a.eml"]


async def test_what_says_the_same_is_shown_once_in_its_newest_edition(ask: Ask) -> None:
    documents: Documents = {f"ferry-{year}.md": (f"{FERRY.format(9)} Print {year}.", {}) for year in (2021, 2022)}
    done = await ask("What does the ferry ticket cost?", documents)

    assert [one.doc_id for one in done.citations] == ["ferry-2022.md"]


async def test_a_newer_one_that_does_not_answer_is_not_moved(ask: Ask) -> None:
    documents: Documents = {**years(2021), "ferry-2022.md": ("Dogs stay below deck.", {})}
    done = await ask("What does the ticket cost in crowns?", documents)

    assert [one.doc_id for one in done.citations] == ["ferry-2021.md"]
    assert done.passages[0].doc_id == "ferry-2021.md"


async def test_without_the_setting_the_better_match_leads(ask: Ask) -> None:
    documents: Documents = {
        "ferry-2021.md": ("The ferry ticket costs 21.", {}),
        "ferry-2022.md": ("Now the ferry ticket costs 22 for all.", {}),
    }
    question = "What does the ferry ticket cost?"

    assert (await ask(question, documents)).citations[0].doc_id == "ferry-2022.md"
    assert (await ask(question, documents, prefer_newest=False)).passages[0].doc_id == "ferry-2021.md"


async def test_a_language_model_is_told_the_dates(ask: Ask) -> None:
    done = await ask("What does the ferry ticket cost?", years(2021, 2022))

    assert [Source(one).header[-4:] for one in done.passages] == ["2022", "2021"]
