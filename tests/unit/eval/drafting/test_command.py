"""A person keeps, edits or drops each draft, and goes on later where they stopped."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from eval.cases import case_lines
from eval.drafting.command import review
from eval.drafting.draft import Checks, Draft
from eval.questions.files import read_cases
from tests.unit.eval.drafting.test_draft import candidate, checks


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made: Checks = checks()
    for question, phrase in [
        ("What is it?", "iron pot"),
        ("Where is it?", "small fire"),
        ("How long?", "all day long"),
    ]:
        assert made.take(candidate(question, phrase))
    (tmp_path / "q.jsonl").write_text(case_lines(made.drafts))
    return tmp_path / "q.jsonl"


def typed(lines: Iterable[str]) -> Callable[[str], str]:
    waiting = iter(lines)

    def ask(_prompt: str) -> str:
        try:
            return next(waiting)
        except StopIteration as error:
            raise EOFError from error

    return ask


def test_a_person_sees_question_fact_and_region_and_decides(path: Path) -> None:
    shown: list[str] = []

    review(path, typed(["k", "d", "?", "q"]), shown.append)

    assert all(part in shown[0] for part in ("What is it?", "iron pot", "keeps pitch liquid"))
    assert [(one.question, one.reviewed) for one in read_cases(path, Draft)] == [
        ("What is it?", True),
        ("How long?", False),
    ]


def test_the_next_review_asks_only_about_the_rest(path: Path) -> None:
    review(path, typed(["k"]), str)
    shown: list[str] = []

    review(path, typed(["d", "k"]), shown.append)

    assert not any("What is it?" in text for text in shown)
    assert [one.question for one in read_cases(path)] == ["What is it?", "How long?"]


def test_an_edited_question_is_kept_with_its_new_facts(path: Path) -> None:
    shown: list[str] = []

    review(path, typed(["e", "What keeps tar warm?", "", "iron pot | copper kettle", "k", "q"]), shown.append)

    first = read_cases(path, Draft)[0]
    assert first.question == "What keeps tar warm?"
    assert first.answer == "An answer."
    assert first.nuggets[0].any == ("iron pot", "copper kettle")
    assert first.reviewed


def test_a_fact_that_no_quote_can_have_is_told(path: Path) -> None:
    shown: list[str] = []

    review(path, typed(["e", "", "", "copper kettle", "q"]), shown.append)

    assert any("copper kettle" in text and "region" in text for text in shown)
