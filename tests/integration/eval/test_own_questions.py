"""`python -m eval questions` and `cases`: questions from a corpus, and from what people said of answers."""

from pathlib import Path

import pytest

import ingestion.__main__
from eval.__main__ import main
from eval.questions.reading import read_questions
from tests.servers.scripted_llm import Script, ScriptedLLM
from tests.unit.eval.drafting.documents import GUIDE
from tests.unit.eval.drafting.test_writing import written


@pytest.fixture(autouse=True)
def corpus(tmp_path: Path, model_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ingest one document, with the index in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_EMBED__CACHE_DIR", str(model_cache))
    monkeypatch.setenv("RAG_INDEX__DIR", str(tmp_path / "index"))
    Path("guide.md").write_text(GUIDE, encoding="utf-8")
    assert ingestion.__main__.main(["guide.md"]) == 0


def test_drafts_are_never_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    Path("default-questions.jsonl").write_text("mine")

    assert main(["questions"]) == 1
    assert "--out" in capsys.readouterr().err
    assert Path("default-questions.jsonl").read_text() == "mine"


def test_questions_are_drafted_by_a_model_and_can_be_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["questions"]) == 1  # without a model
    monkeypatch.setenv("RAG_JUDGE__MODEL", "scripted")
    with ScriptedLLM(Script(text=written)) as server:
        monkeypatch.setenv("RAG_JUDGE__BASE_URL", server.base_url)
        assert main(["questions", "--kinds", "factual", "near_miss", "--count", "4"]) == 0

    drafted = list(read_questions(Path("default-questions.jsonl")))

    assert {one.category for one in drafted} <= {"factual", "near_miss"}
    assert all(one.unanswerable == (one.category == "near_miss") for one in drafted)
    assert main(["run", "default-questions.jsonl", "--out", "run"]) == 0
    assert "vital_recall" in capsys.readouterr().out
