"""Sets are found by name, and their questions grouped by the corpus that they ask."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.quality.helpful.sets import choose, read_asked
from eval.cases import BadCasesError
from tests.failing import failing
from tests.fakes.rows import answered


def nugget_row(number: int, corpus: str, **changes: Any) -> dict[str, Any]:
    return {
        "id": str(number),
        "question": "What turns?",
        "answer": "The rotor",
        "corpus": corpus,
        "form": "fact",
        "nuggets": [{"text": "rotor", "vital": True, "any": ["rotor"]}],
        "regions": [{"doc": "wind.txt", "quote_start": "The wind", "quote_end": "rotor"}],
    } | changes


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two sets: one about the corpora wind and sun, of which sun is absent; one about squad."""
    rows = [nugget_row(1, "wind"), nugget_row(2, "sun"), nugget_row(3, "wind")]
    near_miss = {"id": "4", "question": "Who?", "answer": None, "relevant_docs": ["a.txt"], "corpus": "wind"}
    for name, questions in (("open_questions", rows), ("squad2", [near_miss])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "questions.jsonl").write_text("\n".join(map(json.dumps, questions)))
    (tmp_path / "wind" / "corpus").mkdir(parents=True)
    (tmp_path / "wind" / "corpus" / "wind.txt").write_text("The wind turns the rotor.")
    return tmp_path


def test_sets_that_are_not_there_are_named(data: Path) -> None:
    assert choose(data, []) == (["open_questions", "squad2"], ["office", "realdocs", "papers", "clapnq"])
    assert choose(data, ["squad2"]) == (["squad2"], [])


def test_a_named_set_must_be_there(data: Path) -> None:
    with failing("no_data_set", match="There is no data set 'office' of natural questions"):
        choose(data, ["office"])
    with failing("no_data_set", match="There is no data set of natural questions"):
        choose(data / "wind", [])


def test_each_corpus_is_asked_the_questions_of_all_sets_about_it(data: Path) -> None:
    asked, lacking = read_asked(data, ["open_questions", "squad2"], None)

    (wind,) = asked
    assert (wind.data_set.name, wind.data_set.corpus) == ("wind", data / "wind" / "corpus")
    places = {name: [(place, case.id) for place, case in cases] for name, cases in wind.cases.items()}
    assert places == {"open_questions": [(0, "1"), (2, "3")], "squad2": [(0, "4")]}
    assert lacking == {"sun": ["2"]}


def test_a_set_may_lie_beside_its_documents_and_hold_near_misses(tmp_path: Path) -> None:
    near_miss = nugget_row(2, "papers", form="near_miss", answer=None, nuggets=[], regions=[])
    (tmp_path / "papers" / "documents").mkdir(parents=True)
    (tmp_path / "papers" / "documents" / "wind.txt").write_text("The wind turns the rotor.")
    rows = map(json.dumps, (nugget_row(1, "papers"), near_miss))
    (tmp_path / "papers" / "questions.jsonl").write_text("\n".join(rows))

    ((asked,), lacking) = read_asked(tmp_path, ["papers"], None)

    assert asked.data_set.corpus == tmp_path / "papers" / "documents"
    assert asked.documents == {"wind.txt": " the wind turns the rotor "}
    assert [case.id for _, case in asked.cases["papers"]] == ["1", "2"]
    assert lacking == {}


def test_a_question_is_scored_by_its_own_set(data: Path) -> None:
    ((asked,), _) = read_asked(data, ["open_questions", "squad2"], 1)
    scores = {name: cases[0][1].score(answered(None), asked.documents) for name, cases in asked.cases.items()}

    assert scores["open_questions"]["vital recall"] == 0.0
    assert scores["squad2"]["declined or low_confidence near misses"] == 1.0


def test_a_row_of_another_set_is_named(data: Path) -> None:
    (data / "open_questions" / "questions.jsonl").write_text('{"id": "1", "question": "Q?", "corpus": "wind"}')

    with pytest.raises(BadCasesError, match=r"Line 1 of .* is not a case"):
        read_asked(data, ["open_questions"], None)
