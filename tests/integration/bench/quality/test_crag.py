"""`python -m bench crag` answers questions over their own pages, from HTML to score."""

import json
from pathlib import Path

import pytest

from bench.__main__ import main

pytestmark = [pytest.mark.slow, pytest.mark.integration]

PAGE = """<html><head><title>Wind</title></head><body><article>
<p>Albert Betz published the limit of wind turbines in 1919. He worked in Göttingen.</p></article></body></html>"""


def row(number: int, query: str, answer: str) -> str:
    pages = [
        {"page_url": "https://example.org/wind", "page_result": PAGE},
        {"page_url": "https://example.org/empty", "page_result": ""},
    ]
    fields = {"interaction_id": str(number), "query": query, "question_type": "simple", "answer": answer}
    return json.dumps({**fields, "alternative_answers": "[]", "search_results": pages})


def test_each_question_is_scored_with_n_and_seconds(
    tmp_path: Path, model_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAG_BENCH__DIR", str(tmp_path / "bench"))
    monkeypatch.setenv("RAG_EMBED__CACHE_DIR", str(model_cache))
    asked = [("when did Albert Betz publish the limit of wind turbines?", "1919"), ("who invented the zip?", "Judson")]
    (tmp_path / "dev.jsonl").write_text("\n".join(row(number, *one) for number, one in enumerate(asked)))

    assert main(["crag", "--data", str(tmp_path)]) == 0

    printed = capsys.readouterr()
    assert "| **all** | 2 | +0.50 | 1 | 1 | 0 |" in printed.out
    assert "1 unread" in printed.err
    (rows,) = json.loads((tmp_path / "bench" / "crag.json").read_text())["sets"].values()
    assert [(one["score"], one["unread"]) for one in rows] == [(1, 1), (0, 1)]
    assert rows[0]["linked"] == rows[0]["citations"] > 0
