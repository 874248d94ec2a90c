"""A running service is asked through `POST /evaluate`, and its answers are judged: by RAGAS, and by nuggets."""

import json
from pathlib import Path

import pytest

from eval.run_folder import RunFolder
from tests.e2e.conftest import BETZ
from tests.e2e.program import Program, run
from tests.servers.scripted_judge import judgement
from tests.servers.scripted_llm import Script, ScriptedLLM

pytestmark = pytest.mark.slow

QUESTIONS = [
    {
        "id": "betz",
        "question": BETZ,
        "answer": "The German physicist Albert Betz published the limit in 1919",
        "nuggets": [
            {"text": "Albert Betz published the limit", "vital": True, "any": ["Albert Betz"]},
            {"text": "59.3 per cent", "vital": True, "any": ["59.3"]},
            {"text": "Perhaps it is 16/27", "vital": False, "any": ["16/27"]},
        ],
        "regions": [{"doc": "wind.md", "quote_start": "The German physicist", "quote_end": "by a rotor."}],
    },
    {"id": "storage", "question": "How much energy does pumped storage return?", "answer": "80 per cent of the energy"},
    {"id": "wine", "question": "How do I get a red wine stain out of a tablecloth?", "answer": None},
]


@pytest.mark.promise("E23")
def test_a_running_service_is_judged_by_ragas_and_by_nuggets(
    service: Program, variables: dict[str, str], folder: Path, tmp_path: Path
) -> None:
    pytest.importorskip("ragas", reason="the extra eval is not installed")
    questions = tmp_path / "questions.jsonl"
    questions.write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS), encoding="utf-8")
    families = ["--family", "ragas", "--family", "nuggets_judged"]
    command = ["-m", "eval", "run", str(questions), "--url", service.url, "--out", str(tmp_path / "run")]

    with ScriptedLLM(Script(text=judgement)) as judge:
        judged = {
            **variables,
            "RAG_JUDGE__BASE_URL": judge.base_url,
            "RAG_JUDGE__MODEL": "rule",
            "RAG_JUDGE__CACHE_DIR": str(tmp_path / "judge"),
        }
        done = run([*command, "--judge", *families], judged, folder)

    assert done.returncode == 0, done.stderr
    cells = RunFolder(tmp_path / "run").cells()
    found = {name: cell.score for name, cell in cells["betz"].items()}
    # The answer quotes its passage, so all of it is supported; the judge finds the first two nuggets in it.
    assert (found["faithfulness"], found["context_recall"]) == (1, 1)
    assert found["judged_vital_recall"] == 1
    assert found["judged_nugget_recall"] == pytest.approx(2 / 3)
    assert (found["vital_recall"], found["topic_precision"], found["helpful"]) == (1, 1, 1)
    assert cells["storage"]["judged_vital_recall"].score == 1, "the judge makes nuggets of the reference"
    assert {cells["wine"][name].not_applicable for name in ("faithfulness", "judged_vital_recall")} != {None}
    assert [name for name, cell in cells["betz"].items() if cell.failed] == []
