"""Before questions are asked, it is told how small a difference they can show."""

import re
from pathlib import Path

import pytest

from eval.comparing.foreseeing import foresee
from tests.fakes.runs import case
from tests.unit.eval.comparing.pairs import questions, run

LATER = "2026-04-01T10:00:00+00:00"


def seen(sentence: str) -> float:
    found = re.search(r"±(\d\.\d\d)", sentence)
    assert found, sentence
    return float(found[1])


def test_more_questions_show_smaller_differences(tmp_path: Path) -> None:
    assert seen(foresee(questions(53), tmp_path)) == pytest.approx(0.19)
    assert seen(foresee(questions(212), tmp_path / "none")) == pytest.approx(0.10, abs=0.005)


def test_the_last_run_of_these_questions_tells_how_far_scores_scatter(tmp_path: Path) -> None:
    asked = questions(50)
    run(tmp_path / "first", asked, {"word_recall": [0.4, 0.6] * 25})
    run(tmp_path / "last", asked, {"word_recall": [0.2, 0.8] * 25}, started=LATER)
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "run.json").write_text("{")

    sentence = foresee(asked, tmp_path)

    assert "last" in sentence
    assert seen(sentence) == pytest.approx(2.8 * 0.3 / 50**0.5, abs=0.01)
    assert seen(foresee(asked[:40], tmp_path)) > seen(sentence)


@pytest.mark.parametrize("missing", ["a score", "a question", "a question in other words"])
def test_a_run_of_other_questions_tells_nothing(tmp_path: Path, missing: str) -> None:
    asked = questions(20)
    others = [case(one.id, "Why?" if missing.endswith("words") else one.question, one.answer) for one in asked]
    scores = [None if missing == "a score" else 0.5, *[0.5, 0.6] * 10][: 19 if missing == "a question" else 20]
    run(tmp_path / "other", others[: len(scores)], {"word_recall": scores})

    assert "other" not in foresee(asked, tmp_path)


def test_too_few_documents_can_show_nothing(tmp_path: Path) -> None:
    asked = [case(f"q{n}", f"{n}?", "Yes.", relevant_docs=(f"d{n % 9}.md",)) for n in range(60)]

    assert "±" not in foresee(asked, tmp_path)
    assert "60 questions" in foresee(asked, tmp_path)
    assert "±" in foresee([*asked, *questions(1)], tmp_path)


def test_questions_without_an_answer_are_not_counted(tmp_path: Path) -> None:
    assert foresee([*questions(20), case("n", "Who?", None)], tmp_path) == foresee(questions(20), tmp_path)
