"""`python -m eval questions` and `cases`: questions from a corpus, reviewed, and from what people said of answers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import ingestion.__main__
from eval.__main__ import main
from eval.drafting.draft import Draft
from eval.nuggets import recalls
from eval.questions.files import read_cases
from eval.questions.reading import read_questions
from tests.servers.scripted_llm import Script, ScriptedLLM
from tests.unit.eval.drafting.documents import GUIDE
from tests.unit.eval.drafting.test_by_model import written


@pytest.fixture(autouse=True)
def corpus(tmp_path: Path, model_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ingest one document, with the index in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_EMBED__CACHE_DIR", str(model_cache))
    monkeypatch.setenv("RAG_INDEX__DIR", str(tmp_path / "index"))
    Path("guide.md").write_text(GUIDE, encoding="utf-8")
    assert ingestion.__main__.main(["guide.md"]) == 0


def test_questions_of_the_structure_are_drafted_reviewed_and_can_be_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drafts = Path("default-questions.jsonl")
    keys: Iterator[str] = iter(["k", "d"])
    monkeypatch.setattr("builtins.input", lambda _prompt: next(keys, "q"))

    assert main(["questions"]) == 0
    drafted = list(read_cases(drafts, Draft))
    assert main(["questions", "--review"]) == 0
    reviewed = list(read_cases(drafts, Draft))
    assert main(["run", str(drafts), "--out", "run"]) == 0
    told = capsys.readouterr().out

    assert len(drafted) > 2
    assert all(recalls(one.nuggets, text)[1] for one in drafted for text in one.reference_contexts)
    assert [one.question for one in reviewed] == [one.question for one in (drafted[0], *drafted[2:])]
    assert [one.reviewed for one in reviewed] == [True, *[False] * (len(reviewed) - 1)]
    assert "vital_recall" in told


def test_drafts_are_never_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    Path("default-questions.jsonl").write_text("mine")

    assert main(["questions"]) == 1
    assert "--review" in capsys.readouterr().err
    assert Path("default-questions.jsonl").read_text() == "mine"


def test_a_model_drafts_what_only_a_model_can(monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["questions", "--language", "de"]) != 0  # the structure is English
    monkeypatch.setenv("RAG_JUDGE__MODEL", "scripted")
    with ScriptedLLM(Script(text=written)) as server:
        monkeypatch.setenv("RAG_JUDGE__BASE_URL", server.base_url)
        assert main(["questions", "--kinds", "factual", "near_miss", "--count", "4"]) == 0

    drafted = list(read_questions(Path("default-questions.jsonl")))

    assert {one.category for one in drafted} <= {"factual", "near_miss"}
    assert all(one.unanswerable == (one.category == "near_miss") for one in drafted)
