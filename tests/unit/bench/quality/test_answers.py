"""Answers are taken from the engine's stream, and quotes are checked against the documents."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bench.quality.answers import NEAR_MISSES, Answered, Kind, answer_all, questions_for
from bench.quality.answers_table import quality_table, silence_table
from eval.cases import Case, read_cases
from eval.metrics import Scores
from query_engine.inquiry import Inquiry
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Citation, Done, Event, Retrieved, Step, Token

TEXT = "Wind turns the rotor. The rotor turns the generator."


def quote(start: int, end: int, text: str) -> Citation:
    return Citation(1, "wind.txt", "wind.txt#00000", start, end, text, None, "Wind")


def done(answer: str | None, *citations: Citation, warnings: tuple[AnswerWarning, ...] = ()) -> Done:
    reason = "generated_answer" if answer else "generated_no_answer_low_confidence"
    return Done(answer, answer or "I don't know.", citations, (), reason, "extractive", warnings, {}, "f")


class SameLength:
    """Two texts of as many characters are alike."""

    def score(self, answer: str | None, reference: str) -> Scores:
        return dict.fromkeys(("similarity", "rouge_l", "matching"), float(len(answer or "") == len(reference)))


def row(kind: Kind, case: Case, answer: Done, verbatim: int = 0, similarity: float = 0.5) -> Answered:
    scores = {"similarity": similarity, "rouge_l": 0.25, "matching": 0.75} if kind == "answerable" else {}
    return Answered(case, kind, answer, verbatim, 30.0, 20.0, scores)


class ScriptedEngine:
    """Ends the stream of each question with the answer given for it."""

    def __init__(self, **answers: Done) -> None:
        self._answers = answers

    async def stream(self, inquiry: Inquiry) -> AsyncIterator[Event]:
        yield Step("search", "Searching.")
        yield Retrieved(())
        yield Token("...")
        yield self._answers[inquiry.text]


async def test_a_quote_counts_as_true_only_where_the_document_says_so() -> None:
    engine = ScriptedEngine(
        turns=done("Wind [1].", quote(0, 4, "Wind"), quote(0, 4, "wind"), quote(5, 9, "Wind")),
    )

    (one,) = await answer_all(
        [("near miss", Case(id="1", question="turns"))], engine, {"wind.txt": TEXT}.get, SameLength()
    )

    assert one.verbatim == 1
    assert one.done.answer == "Wind [1]."
    assert one.total_ms > one.after_ms > 0


async def test_a_quote_of_an_unknown_document_is_not_true() -> None:
    engine = ScriptedEngine(turns=done("Wind [1].", quote(0, 4, "Wind")))

    (one,) = await answer_all(
        [("near miss", Case(id="1", question="turns"))], engine, lambda _doc_id: None, SameLength()
    )

    assert one.verbatim == 0


async def test_only_answers_to_a_corpus_s_own_questions_are_compared_with_references() -> None:
    engine = ScriptedEngine(turns=done("Wind"))
    case = Case(id="1", question="turns", answer="rain")

    own, foreign = await answer_all(
        [("answerable", case), ("other corpora", case)], engine, lambda _: None, SameLength()
    )

    assert own.similarity == {"similarity": 1, "rouge_l": 1, "matching": 1}
    assert foreign.similarity == {}


def test_a_row_keeps_its_scores_and_why_it_was_declined() -> None:
    one = row("no answer", Case(id="1", question="Q?", answer=None, category="no_answer"), done(None))

    assert one.to_dict() == {
        "id": "1",
        "kind": "no answer",
        "category": "no_answer",
        "answer": None,
        "gate_reason": "generated_no_answer_low_confidence",
        "low_confidence": False,
        "synthesizer": "extractive",
        "citations": 0,
        "verbatim": 0,
        "total_ms": 30.0,
        "after_ms": 20.0,
        "scores": {"declined_no_answer": 1.0},
    }


def test_a_corpus_is_asked_its_own_questions_near_misses_and_those_of_other_sets() -> None:
    own = [
        Case(id="a", question="Q?", answer="A"),
        Case(id="b", question="Q?", answer=None),
        Case(id="c", question="Q?"),
        Case(id="d", question="Q?", relevance={"1": 2.0}),
    ]
    asked = list(questions_for("squad", {"squad": own, "other": [Case(id="e", question="Q?")]}))

    assert [(kind, case.id) for kind, case in asked if kind != "near miss"] == [
        ("answerable", "a"),
        ("no answer", "b"),
        ("answerable", "d"),
        ("other corpora", "e"),
    ]
    assert sum(kind == "near miss" for kind, _ in asked) >= 8


def test_a_corpus_without_near_misses_is_asked_the_rest() -> None:
    assert list(questions_for("power", {"power": [Case(id="c", question="Q?")]})) == []


@pytest.mark.parametrize("path", sorted(NEAR_MISSES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_near_misses_are_questions_without_an_answer(path: Path) -> None:
    cases = read_cases(path)

    assert len(cases) >= 8
    assert all(case.unanswerable for case in cases)


def test_bold_words_are_right_where_they_belong_to_the_short_answer() -> None:
    case = Case(id="1", question="Q?", answer="Albert Betz")

    assert row("answerable", case, done("It was **Betz** [1].")).bold_right
    assert row("answerable", case, done("It was **Professor Albert Betz** [1].")).bold_right
    assert row("answerable", case, done("It was **1919** [1].")).bold_right is False
    assert row("answerable", case, done("It was Betz [1].")).bold_right is None


def test_the_quality_table_has_a_row_for_all_answerable_cases_and_one_for_each_category() -> None:
    def case(name: str, answer: str | None, category: str) -> Case:
        return Case(id=name, question="Q?", answer=answer, category=category)

    long = "wind and rain and sun and snow and hail"
    rows = [
        row(
            "answerable", case("1", "The rotor", "factual"), done("The rotor turns [1].", quote(4, 9, "rotor")), 1, 0.5
        ),
        row("answerable", case("2", long, "multi"), done("**wind**, rain [1]", quote(0, 4, "Wind")), 0, 0.4),
        row("answerable", case("3", "hail", "factual"), done(None), 0, 0.0),
        row("no answer", case("4", None, "no_answer"), done(None)),
    ]

    assert quality_table({"sample": rows}).splitlines()[2:] == [
        "| sample | **all** | 3 | 0.500 (2) | 0.467 | 0.300 | 0.250 | 0.750 | 2 | – | 1 of 2 | 20 | 30 |",
        "| sample | factual | 2 | 0.500 (2) | 0.500 | 0.250 | 0.250 | 0.750 | 3 | – | 1 of 1 | 20 | 30 |",
        "| sample | multi | 1 | – | 0.400 | 0.400 | 0.250 | 0.750 | 2 | – | 0 of 1 | 20 | 30 |",
    ]


def test_the_silence_table_counts_declined_and_doubtful_answers_by_kind() -> None:
    case, doubtful = (
        Case(id="1", question="Q?", answer=None),
        done("Wind turns.", warnings=(AnswerWarning("low_confidence", "Perhaps."),)),
    )
    one = [row("no answer", case, done(None)), row("near miss", case, doubtful), row("near miss", case, done("Wind."))]
    other = [row("near miss", case, done("Wind."))]

    assert silence_table({"one": one, "other": other}).splitlines()[2:] == [
        "| one | no answer | 1 | 1 (1.00) | 0 (0.00) | 0 (0.00) |",
        "| one | near miss | 2 | 0 (0.00) | 1 (0.50) | 1 (0.50) |",
        "| other | near miss | 1 | 0 (0.00) | 0 (0.00) | 1 (1.00) |",
        "| **all** | no answer | 1 | 1 (1.00) | 0 (0.00) | 0 (0.00) |",
        "| **all** | near miss | 3 | 0 (0.00) | 1 (0.33) | 2 (0.67) |",
    ]
