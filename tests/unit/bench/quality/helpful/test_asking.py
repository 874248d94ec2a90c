"""Systems answer alike, and their quotes are checked against the documents."""

from collections.abc import AsyncIterator, Mapping

from bench.quality.helpful.asking import WARM_UP, NaturalCase, System, ask_all
from bench.quality.helpful.systems import showing, streaming
from eval.cases import Case
from eval.metrics import Scores
from eval.rows import Row
from query_engine.inquiry import Inquiry
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Citation, Done, Event, Token
from query_engine.schema.passage import Passage
from tests.fakes.rows import answered, quote

TEXT = "Wind turns the rotor. The rotor turns the generator."
DOCUMENTS = {"wind.txt": TEXT}
CASE = Case(id="1", question="What turns?")


async def events(_inquiry: Inquiry) -> AsyncIterator[Event]:
    """Quote the first word, and doubt it."""
    yield Token("Wind")
    citation = Citation(1, "wind.txt", "wind.txt#00000", 0, 4, "Wind", None, "Wind")
    doubt = AnswerWarning("low_confidence", "Perhaps.")
    yield Done("Wind [1]", "Wind [1]", (citation,), (), "generated_answer", "extractive", (doubt,), {}, "f")


def passage(start: int, end: int) -> Passage:
    return Passage("n", "c", "wind.txt", "Wind", None, "leaf", start, end, (), 1.0, {}, TEXT[start:end])


async def test_our_engine_s_answer_comes_with_its_quotes_and_warnings() -> None:
    row = await streaming("ours", events, DOCUMENTS.get, named=lambda name: f"web/{name}").ask(CASE)

    assert (row.outcome, row.answer, row.warnings) == ("answered", "Wind [1]", ("low_confidence: Perhaps.",))
    assert [(one.doc_id, one.start, one.quote) for one in row.citations] == [("web/wind.txt", 0, "Wind")]


async def test_a_baseline_shows_its_first_passage_whole() -> None:
    row = await showing("first leaf", lambda _: [passage(22, 52), passage(0, 21)], DOCUMENTS.get).ask(CASE)
    nothing = await showing("stock", lambda _: [], DOCUMENTS.get).ask(CASE)

    assert (row.answer, row.citations) == (TEXT[22:52], (quote("wind.txt", 22, 52, TEXT[22:52]),))
    assert nothing.outcome == "declined"


async def test_a_quote_counts_as_true_where_the_document_says_so() -> None:
    quotes = [
        quote("wind.txt", 0, 4, "Wind"),
        quote("wind.txt", 1, 5, "Wind"),
        quote("wind.txt", None, None, "rotor"),
        quote("wind.txt", None, None, "sun"),
        quote("rain.txt", 0, 4, "Wind"),
    ]
    asked = []

    class Counted(NaturalCase):
        def score(self, row: Row, documents: Mapping[str, str]) -> Scores:
            return {"quotes": float(len(row.citations)), "documents": float(len(documents))}

    async def ask(case: Case) -> Row:
        asked.append(case.question)
        return answered("Wind", quotes)

    case = Counted(id="1", question="What turns?")
    (row,) = await ask_all([(7, case)], System("ours", ask, DOCUMENTS.get), DOCUMENTS)

    assert (row.place, row.verbatim, row.scores) == (7, 2, {"quotes": 5.0, "documents": 1.0})
    assert asked == [WARM_UP.question, "What turns?"]
    kept = row.to_dict()
    assert kept["citations"][0] == {"doc_id": "wind.txt", "start": 0, "end": 4, "quote": "Wind"}
    assert (kept["answer"], kept["declined"], kept["question"]) == ("Wind", False, "What turns?")
