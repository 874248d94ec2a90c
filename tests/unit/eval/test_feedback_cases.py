"""Feedback becomes evaluation questions that `python -m eval run` reads."""

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from eval.cases import BadCasesError, Case
from eval.feedback_cases import KEPT, add_arguments, run, to_cases
from eval.questions.reading import read_questions
from index.feedback.store import FeedbackStore, Given, Limits, Target
from settings import Settings
from tests.failing import failing

PASSAGE = {"node_id": "n1", "chunk_id": "sea.md#00001", "doc_id": "sea.md", "start": 0, "end": 4, "text": "Tides turn."}
CITATION = {
    "number": 1,
    "doc_id": "wind.md",
    "chunk_id": "wind.md#00002",
    "start": 10,
    "end": 28,
    "quote": "Wind turns.",
}


def said(verdict: str, **target: Any) -> dict[str, Any]:
    return {"verdict": verdict, "node_id": None, "step": None, "span": None, "text": None, "at": 2.0, **target}


def judged(*feedback: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "id": "a" * 32,
        "kind": "answer",
        "corpus": "default",
        "at": 1.0,
        "question": "What turns?",
        "filters": None,
        "turns": 0,
        "answer": "Wind turns. [1] And tides. [2]",
        "message": "Wind turns. [1] And tides. [2]",
        "steps": [],
        "citations": [CITATION],
        "passages": [PASSAGE],
        "feedback": list(feedback),
        **fields,
    }


def cases_of(*records: dict[str, Any]) -> list[dict[str, Any]]:
    found = to_cases(records, "default", Counter())
    return [case.model_dump(exclude_unset=True, exclude={"id"}) for case in found]


def test_a_good_answer_is_the_reference_and_what_it_cites_is_expected() -> None:
    assert cases_of(judged(said("good"))) == [
        {
            "question": "What turns?",
            "answer": "Wind turns. And tides.",
            "relevant_docs": ("wind.md",),
            "reference_contexts": ("Wind turns.",),
            "category": "feedback_good",
        }
    ]


def test_a_question_that_was_rightly_declined_has_no_answer_in_the_corpus() -> None:
    (case,) = to_cases([judged(said("good"), answer=None, citations=[])], "default", Counter())

    assert case.unanswerable
    assert case.category == "feedback_good"


def test_a_bad_answer_makes_a_question_whose_answer_is_unknown() -> None:
    assert cases_of(judged(said("bad"))) == [{"question": "What turns?", "category": "feedback_bad"}]


def test_a_relevant_passage_is_expected_even_of_a_bad_answer() -> None:
    relevant = said("relevant", node_id="n1")
    expected = {"question": "What turns?", "relevant_docs": ("sea.md",), "reference_contexts": ("Tides turn.",)}

    assert cases_of(judged(said("bad"), relevant)) == [{**expected, "category": "feedback_bad"}]
    assert cases_of(judged(relevant, kind="retrieval", answer=None, citations=[])) == [
        {**expected, "category": "feedback_passages"}
    ]


def test_an_irrelevant_passage_makes_a_question_and_expects_nothing() -> None:
    assert cases_of(judged(said("irrelevant", node_id="n1"))) == [
        {"question": "What turns?", "category": "feedback_passages"}
    ]


def test_the_same_question_makes_one_case_by_what_most_said_and_the_newest_good_answer() -> None:
    first = judged(said("good"), answer="Old. [1]", at=1.0)
    second = judged(said("good"), answer="New. [1]", at=2.0, question=" what  TURNS?")
    bad = judged(said("bad"), at=3.0)

    (case,) = cases_of(first, second, bad)
    assert (case["answer"], case["category"]) == ("New.", "feedback_good")
    assert cases_of(first, bad) == [{"question": "What turns?", "category": "feedback_disputed"}]
    assert cases_of(first, bad, bad) == [{"question": "What turns?", "category": "feedback_bad"}]


def test_what_asks_something_else_when_asked_alone_is_left_out_and_counted() -> None:
    left_out: Counter[str] = Counter()
    records = [
        judged(said("good"), turns=2),
        judged(said("good"), filters={"filters": []}),
        judged(said("good"), corpus="energy"),
        judged(said("good", step=0), said("bad", span=[0, 4])),
    ]

    assert to_cases(records, "default", left_out) == ()
    assert left_out == {
        "from conversations": 1,
        "over filtered documents": 1,
        "of other corpora": 1,
        "only about steps or spans": 1,
    }


def test_ids_stay_the_same_when_there_is_more_feedback() -> None:
    alone = to_cases([judged(said("good"))], "default", Counter())
    later = to_cases([judged(said("bad"), question="What else?"), judged(said("bad"))], "default", Counter())

    assert alone[0].id == later[1].id != later[0].id


def test_what_is_no_feedback_is_told() -> None:
    with pytest.raises(BadCasesError, match="Record 1 of the feedback is wrong"):
        to_cases([{"question": "What?"}], "default", Counter())


def command(tmp_path: Path, *words: str) -> int:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args([*words, "--out", str(tmp_path / "cases.jsonl")]), Settings(index={"dir": tmp_path}))


def read(tmp_path: Path) -> tuple[Case, ...]:
    return read_questions(tmp_path / "cases.jsonl")


def test_an_export_becomes_a_file_of_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export = tmp_path / "export.jsonl"
    records = [judged(said("good")), judged(said("good"), question="Who?", answer=None, citations=[], passages=[])]
    export.write_text("".join(json.dumps(record) + "\n" for record in records))

    assert command(tmp_path, "--from-feedback", str(export)) == 0

    known, unanswerable = read(tmp_path)
    assert (known.answer, known.relevant_docs) == ("Wind turns. And tides.", ("wind.md",))
    assert unanswerable.unanswerable
    assert "2 questions (2 feedback_good)" in capsys.readouterr().out


def test_without_a_file_what_the_service_keeps_is_read(tmp_path: Path) -> None:
    store = FeedbackStore(tmp_path, Limits(30, 365, 100))
    store.note(Given("a", "answer", "default", "What turns?", answer="Wind. [1]", message="Wind. [1]"))
    store.judge("a", "answer", Target(), "good", None)
    store.close()

    assert command(tmp_path, "--from-feedback") == 0
    assert [case.answer for case in read(tmp_path)] == ["Wind."]


def test_no_feedback_is_told_with_a_remedy(tmp_path: Path) -> None:
    with failing("no_feedback", match=r"There is no feedback\.sqlite"):
        command(tmp_path, "--from-feedback")
    (tmp_path / "export.jsonl").write_text(json.dumps(judged(said("good"), corpus="energy")) + "\n")
    with failing("no_feedback", match=r"left out: 1 of other corpora\. Send some"):
        command(tmp_path, "--from-feedback", str(tmp_path / "export.jsonl"))
    assert KEPT not in {path.name for path in tmp_path.iterdir()}
