"""`python -m bench trace` on documents of the sample: what a question enters may only become less."""

import json
from pathlib import Path

import pytest

from bench.__main__ import main
from tests import house


@pytest.mark.slow
def test_a_question_enters_no_more_than_it_did(
    tmp_path: Path, model_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_BENCH__DIR", str(tmp_path / "bench"))
    monkeypatch.setenv("RAG_EMBED__CACHE_DIR", str(model_cache))

    assert main(["trace"]) == 0

    kept = json.loads((tmp_path / "bench" / "trace.json").read_text())["sets"]["trace"]
    figures = {name: kept[name] for name in ("files", "functions", "async_generators")}
    printed = capsys.readouterr().out
    assert all(f" {value} |" in printed for value in figures.values())
    assert "api/routes/query.py" in kept["entered"]
    # A twentieth is the service's own threads, and another CPU's vectors.
    assert house.risen({"question": {name: value * 20 // 21 for name, value in figures.items()}}) == []
