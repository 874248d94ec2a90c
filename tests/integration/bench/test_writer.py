"""`python -m bench writer` on the sample corpus: a real index, a real service, a model that knows the answers."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from bench.__main__ import main
from bench.datasets import SAMPLE
from bench.writer.oracle import DECLINED
from tests.fakes.tables import plain_rows

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

FORM = {"corpus": "sample", "form": "fact"}
QUESTIONS: list[dict[str, Any]] = [
    FORM
    | {
        "id": "hydrogen-1",
        "question": "What does an electrolyser split water into?",
        "answer": "Into hydrogen and oxygen.",
        "nuggets": [{"text": "both", "vital": True, "any": ["hydrogen and oxygen"]}],
        "regions": [{"doc": "green-hydrogen.md", "quote_start": "In an electrolyser", "quote_end": "electrolysis."}],
    },
    FORM
    | {
        "id": "hydrogen-2",
        "question": "What is green hydrogen?",
        "answer": "Nobody knows.",
        "nuggets": [{"text": "absent", "vital": True, "any": ["words that stand in no document at all"]}],
        "regions": [{"doc": "green-hydrogen.md", "quote_start": "Green hydrogen is", "quote_end": "gives back."}],
    },
    FORM | {"id": "near-3", "form": "near_miss", "question": "Who was the first president of France?", "answer": None},
]
ROUTES = ["query", "run", "evaluate", "v1"]


@pytest.fixture
def data(tmp_path: Path, model_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of data sets, with a separate folder for indexes and figures."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_BENCH__DIR", str(tmp_path / "bench"))
    monkeypatch.setenv("RAG_EMBED__CACHE_DIR", str(model_cache))
    shutil.copytree(SAMPLE / "corpus" / "storage", tmp_path / "sample" / "corpus")
    (tmp_path / "open_questions").mkdir()
    (tmp_path / "open_questions" / "questions.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)))
    return tmp_path


def test_what_the_model_replied_is_compared_with_what_each_route_and_the_stock_recipe_show(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ["--data", str(data), "--sets", "open_questions"]
    assert main(["writer", *chosen, "--routes", ",".join(ROUTES), "--stock", "--set", "RAG_ANSWER__DECLINE=exact"]) == 0

    rows = plain_rows(capsys.readouterr().out)
    figures = json.loads((data / "bench" / "writer.json").read_text())["sets"]["open_questions"]
    assert [row.split(" | ")[:3] for row in rows[1:6]] == [
        ["| open_questions", name, "3"] for name in ["stock", *ROUTES]
    ]
    for name, found in figures.items():
        lines = (data / "bench" / "writer" / "open_questions" / f"{name}.jsonl").read_text().splitlines()
        kept = [json.loads(line) for line in lines]
        assert [row["id"] for row in kept] == [question["id"] for question in QUESTIONS]
        assert found["n"] == 3
        assert found["in_prompt"] == 0.5
        assert found["arrived"] <= found["in_prompt"]
        assert found["prompt, mean"] <= found["prompt, p95"]
        assert found["calls"] == sum(len(row["replies"]) for row in kept) / 3
        assert kept[0]["replies"][-1]["text"].startswith("Into hydrogen and oxygen. [")
        assert kept[1]["replies"][-1]["text"] == DECLINED
    stock = figures["stock"]
    assert (stock["unchanged"], stock["arrived"], stock["cited_right"], stock["near misses declined"]) == (1, 0.5, 1, 1)


@pytest.mark.parametrize(
    "wrong", [["--routes", "query,chat"], ["--shape", "pdf"], ["--set", "TOP_K=3"], ["--set", "RAG_ANSWER__DECLINE"]]
)
def test_what_cannot_be_asked_is_a_usage_error(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["writer", *wrong])

    assert f"argument {wrong[0]}" in capsys.readouterr().err
