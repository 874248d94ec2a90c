"""A run as a log of Inspect (UK AI Security Institute), which `inspect view` and its data frames read.

Flow: a run's folder -> **here** -> `command.py`. The format is version 2 of `EvalLog` in `inspect_ai.log`, as JSON.
Each metric is a scorer of one metric, its mean. A score that failed or does not apply is left out and counted.
"""

import json
from collections.abc import Mapping
from typing import Any

from eval.cases import Case
from eval.cells import Cell, mean, metric_names
from eval.rows import Row
from eval.run_folder import RunFolder

MODEL = "treeline"


def log_json(folder: RunFolder) -> str:
    """Return the whole run as one JSON value."""
    header, rows, cells = folder.header(), folder.rows(), folder.cells()
    cases = [case for case in folder.cases() if case.id in rows]
    names, ids = metric_names(cells), [case.id for case in cases]
    log = {
        "version": 2,
        "status": "success",
        "eval": {
            "run_id": folder.path.name,
            "created": header.started,
            "task": header.questions,
            "task_id": header.questions_sha256,
            "dataset": {"name": header.questions, "samples": len(cases), "sample_ids": ids, "shuffled": False},
            "model": MODEL,
            "config": {},
            "packages": header.versions,
            "metadata": {"target": header.target, "corpus": header.corpus, "fingerprint": header.fingerprint},
        },
        "plan": {"name": "plan", "steps": [{"solver": MODEL, "params": header.settings}], "config": {}},
        "results": {
            "total_samples": len(cases),
            "completed_samples": sum(rows[id_].outcome != "failed" for id_ in ids),
            "scores": [_mean(name, [cells.get(id_, {}).get(name) for id_ in ids]) for name in names],
        },
        "stats": {"started_at": header.started, "completed_at": ""},
        "samples": [_sample(case, rows[case.id], cells.get(case.id, {})) for case in cases],
    }
    return json.dumps(log, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _mean(name: str, of_rows: list[Cell | None]) -> dict[str, Any]:
    found = mean(of_rows)
    metrics = {} if found.value is None else {"mean": {"name": "mean", "value": found.value}}
    unscored = len(of_rows) - found.n
    return {"name": name, "scorer": name, "scored_samples": found.n, "unscored_samples": unscored, "metrics": metrics}


def _sample(case: Case, row: Row, cells: Mapping[str, Cell]) -> dict[str, Any]:
    asked = {"role": "user", "content": case.question}
    reply = {"role": "assistant", "content": row.answer or "", "source": "generate", "model": MODEL}
    answered = row.outcome != "failed"
    why = row.reason or "no reply"
    return {
        "id": case.id,
        "epoch": 1,
        "input": case.question,
        "target": [one for one in (case.answer, *case.alternatives) if one] or "",
        "messages": [asked, reply] if answered else [asked],
        "output": {"model": MODEL, "choices": [{"message": reply, "stop_reason": "stop"}] if answered else []},
        "scores": {
            name: {"value": cell.score, "answer": row.answer} for name, cell in cells.items() if cell.score is not None
        },
        "metadata": {
            "category": case.category,
            "outcome": row.outcome,
            "citations": [one.model_dump(exclude_none=True) for one in row.citations],
        },
        "total_time": row.seconds,
        "error": None if answered else {"message": why, "traceback": why, "traceback_ansi": why},
    }
