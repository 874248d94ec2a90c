"""Systems answer alike, and their quotes are checked against the documents."""

from collections.abc import AsyncIterator, Sequence

import pytest

from bench.quality.helpful.asking import WARM_UP, CitedQuote, System, SystemAnswer, ask_all
from bench.quality.helpful.systems import first_leaf, ours, stock
from eval.cases import Case
from query_engine.inquiry import Inquiry
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Citation, Done, Event, Token
from query_engine.schema.passage import Passage

TEXT = "Wind turns the rotor. The rotor turns the generator."
DOCUMENTS = {"wind.txt": TEXT}


class ScriptedEngine:
    """Quotes the first word, and doubts it."""

    async def stream(self, _inquiry: Inquiry) -> AsyncIterator[Event]:
        yield Token("Wind")
        citation = Citation(1, "wind.txt", "wind.txt#00000", 0, 4, "Wind", None, "Wind")
        doubt = AnswerWarning("low_confidence", "Perhaps.")
        yield Done("Wind [1]", "Wind [1]", (citation,), (), "generated_answer", "extractive", (doubt,), {}, "f")


def passage(start: int, end: int) -> Passage:
    return Passage("n", "c", "wind.txt", "Wind", None, "leaf", start, end, (), 1.0, {}, TEXT[start:end])


async def test_our_engine_s_answer_comes_with_its_quotes_and_warnings() -> None:
    system = ours(ScriptedEngine(), DOCUMENTS.get)

    assert await system.ask("What turns?") == SystemAnswer(
        "Wind [1]", (CitedQuote("wind.txt", 0, 4, "Wind"),), ("low_confidence: Perhaps.",)
    )


@pytest.mark.parametrize(("build", "start", "end"), [(first_leaf, 22, 52), (stock, -1, -1)])
async def test_a_baseline_shows_its_first_passage_whole(build: object, start: int, end: int) -> None:
    assert build in (first_leaf, stock)
    found: Sequence[Passage] = [passage(22, 52), passage(0, 21)]
    make = first_leaf if build is first_leaf else stock

    assert await make(lambda _: found, DOCUMENTS.get).ask("What turns?") == SystemAnswer(
        TEXT[22:52], (CitedQuote("wind.txt", start, end, TEXT[22:52]),)
    )
    assert (await make(lambda _: [], DOCUMENTS.get).ask("What turns?")).declined


async def test_a_quote_counts_as_true_where_the_document_says_so() -> None:
    quotes = [
        CitedQuote("wind.txt", 0, 4, "Wind"),
        CitedQuote("wind.txt", 1, 5, "Wind"),
        CitedQuote("wind.txt", -1, -1, "rotor"),
        CitedQuote("wind.txt", -1, -1, "sun"),
        CitedQuote("rain.txt", 0, 4, "Wind"),
    ]
    asked = []

    async def ask(question: str) -> SystemAnswer:
        asked.append(question)
        return SystemAnswer("Wind", tuple(quotes))

    case = Case(id="1", question="What turns?")
    (row,) = await ask_all([(7, case)], System("ours", ask, DOCUMENTS.get), lambda *_: {"quotes": 5.0})

    assert row.verbatim == 2
    assert asked == [WARM_UP, "What turns?"]
    kept = row.to_dict()
    assert kept.pop("total_ms") >= 0
    assert kept["citations"][0] == {"doc_id": "wind.txt", "start": 0, "end": 4, "quote": "Wind"}
    assert {key: value for key, value in kept.items() if key != "citations"} == {
        "id": "1",
        "question": "What turns?",
        "answer": "Wind",
        "declined": False,
        "verbatim": 2,
        "warnings": [],
        "scores": {"quotes": 5.0},
    }
