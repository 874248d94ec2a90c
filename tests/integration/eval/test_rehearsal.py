"""The rehearsal's scores, with the project's encoder, RAGAS and a judge whose judgements are known."""

import json
from pathlib import Path

import pytest

from eval.__main__ import main
from tests.servers.contestant import Contestant, Record, Sent, good_evaluate
from tests.servers.scripted_judge import judgement
from tests.servers.scripted_llm import Script, ScriptedLLM

ANSWER = "Heat pumps move heat."


def with_contexts(body: Record) -> Sent:
    """Answer `/evaluate` with the passage that the answer rests on."""
    good = good_evaluate(body)
    if good.status != 200:
        return good
    return Sent(json.dumps({**json.loads(good.body), "contexts": [ANSWER]}).encode(), content_type="application/json")


@pytest.mark.promise("A46")
def test_the_table_has_computed_and_judged_scores(
    tmp_path: Path, model_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"query": f"What do heat pumps do in {year}?", "iid": str(year), "reference": ANSWER} for year in (1, 2)]
    (tmp_path / "t2t_val.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_EMBED__CACHE_DIR", str(model_cache))
    monkeypatch.setenv("RAG_JUDGE__MODEL", "rule")

    with Contestant(evaluate=with_contexts) as service, ScriptedLLM(Script(text=judgement)) as server:
        monkeypatch.setenv("RAG_JUDGE__BASE_URL", server.base_url)
        code = main(["check-run", service.url, "t2t_val.jsonl", "--out", "out"])

    told = capsys.readouterr().out
    assert code == 0, told
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in told.splitlines() if "|" in line]
    found = {name: cells for name, *cells in lines}
    assert found["ROUGE-L"] == found["BERTScore, F1"] == ["1.000", "1.000"]
    assert found["judge: faithfulness"] == ["–", "1.000"]
