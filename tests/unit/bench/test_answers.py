"""Answers are taken from the engine's stream, and quotes are checked against the documents."""

from collections.abc import AsyncIterator

from bench.answers import Answered, answer_all, table
from eval.cases import Case
from query_engine.events import Citation, Done, Event, Step, Token

TEXT = "Wind turns the rotor. The rotor turns the generator."


def quote(start: int, end: int, text: str) -> Citation:
    return Citation(1, "wind.txt", "wind.txt#00000", start, end, text, None, "Wind")


def done(answer: str | None, *citations: Citation) -> Done:
    reason = "generated_answer" if answer else "generated_no_answer_low_confidence"
    return Done(answer, answer or "I don't know.", citations, (), reason, "extractive", (), {}, "f")


class ScriptedEngine:
    """Ends the stream of each question with the answer given for it."""

    def __init__(self, **answers: Done) -> None:
        self._answers = answers

    async def stream(self, question: str) -> AsyncIterator[Event]:
        yield Step("search", "Searching.")
        yield Token("...")
        yield self._answers[question]


async def test_a_quote_counts_as_true_only_where_the_document_says_so() -> None:
    engine = ScriptedEngine(
        turns=done("Wind [1].", quote(0, 4, "Wind"), quote(0, 4, "wind"), quote(5, 9, "Wind")),
    )

    (row,) = await answer_all([Case(id="1", question="turns")], engine, {"wind.txt": TEXT}.get)

    assert row.verbatim == 1
    assert row.done.answer == "Wind [1]."
    assert row.total_ms > 0


async def test_a_quote_of_an_unknown_document_is_not_true() -> None:
    engine = ScriptedEngine(turns=done("Wind [1].", quote(0, 4, "Wind")))

    (row,) = await answer_all([Case(id="1", question="turns")], engine, lambda _doc_id: None)

    assert row.verbatim == 0


def test_a_row_keeps_its_scores_and_why_it_was_declined() -> None:
    row = Answered(Case(id="1", question="Q?", answer=None, category="no_answer"), done(None), 0, 12.34)

    assert row.to_dict() == {
        "id": "1",
        "category": "no_answer",
        "answer": None,
        "gate_reason": "generated_no_answer_low_confidence",
        "synthesizer": "extractive",
        "citations": 0,
        "verbatim": 0,
        "total_ms": 12.3,
        "scores": {"declined_no_answer": 1.0},
    }


def test_the_table_has_a_row_for_all_cases_and_one_for_each_category_with_n_beside_every_figure() -> None:
    def case(name: str, answer: str | None, category: str) -> Case:
        return Case(id=name, question="Q?", answer=answer, category=category)

    rows = [
        Answered(case("1", "The rotor", "factual"), done("The rotor turns [1].", quote(10, 20, "the rotor.")), 0, 10),
        Answered(
            case("2", "wind and rain and sun and snow", "factual"), done("wind, rain [1]", quote(0, 4, "Wind")), 1, 20
        ),
        Answered(case("3", "hail", "factual"), done(None), 0, 30),
        Answered(case("4", None, "no_answer"), done(None), 0, 40),
        Answered(case("5", None, "no_answer"), done("Wind turns."), 0, 50),
    ]

    assert table({"sample": rows}).splitlines()[2:] == [
        "| sample | **all** | 5 | 0.500 (3) | 0.500 (2) | 3 | 1 of 3 | 1 of 2 | 1 of 2 | 30 |",
        "| sample | factual | 3 | 0.500 (3) | 0.500 (2) | 4 | 1 of 3 | – | 1 of 2 | 20 |",
        "| sample | no_answer | 2 | – | – | 2 | – | 1 of 2 | 0 of 0 | 45 |",
    ]
