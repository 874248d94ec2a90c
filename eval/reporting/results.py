"""Write a run as JSON, for programs, and as CSV with a line a question, for spreadsheets.

Flow: `gather.py`, `figures.py` -> **here** -> `eval_results.json`, `per_question_results.csv`. Pure:
returns text.
"""

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import Any

from eval.cases import Case
from eval.reporting.figures import categories, latency, main_metrics, suggestions
from eval.reporting.gather import Gathered
from eval.reporting.page import collection, run_facts
from eval.reporting.safe_text import shorten
from eval.summary import Means

CELL_CHARS = 32_000  # spreadsheets take no more
_COLUMNS = (
    "id", "category", "answerable", "question", "reference", "outcome", "class", "why", "answer", "citations",
    "passages", "documents", "synthesizer", "warnings", "reason", "seconds", "first_record_s", "fingerprint",
)  # fmt: skip
# A spreadsheet takes such a beginning for a formula; texts of others must stay texts.
_FORMULA = re.compile(r"^[=+\-@\t\r]")


def results_json(run: Gathered) -> str:
    """Return all figures and each question with its cells; passages stay in the run's own files."""
    took = latency(run)
    of_category = {
        name: _means(run, means, [case for case in run.cases if (case.category or "") == name])
        for name, means in run.summary.by_category.items()
    }
    document: dict[str, Any] = {
        "run": run.name,
        "header": run.header.model_dump(mode="json"),
        "source": run.source,
        "facts": run_facts(run),
        "collection": collection(run),
        "notices": list(run.notices),
        "metrics": {
            metric.name: {"family": metric.family, "better": metric.better, "about": metric.about}
            for metric in run.metrics
        },
        "main_metrics": [metric.name for metric in main_metrics(run)],
        "judge_scatter": dict(run.scatter),
        "aggregate": {
            "answerable": _means(run, run.summary.answerable, [c for c in run.cases if not c.unanswerable]),
            "unanswerable": _means(run, run.summary.unanswerable, [c for c in run.cases if c.unanswerable]),
            "everything": _means(run, run.summary.everything, run.cases),
        },
        "by_category": {
            one.name: {
                "questions": one.questions,
                "good": one.good,
                "judged": one.judged,
                "means": of_category[one.name],
            }
            for one in categories(run)
        },
        "classes": {
            kind.key: {"title": kind.title, "state": kind.state, "rule": kind.rule, "questions": run.counts[kind.key]}
            for kind in run.kinds
        },
        "suggestions": [
            {"class": kind.key, "text": kind.advice, "settings": list(kind.settings)} for kind in suggestions(run)
        ],
        "latency_s": {"n": len(took.values), "p50": took.p50, "p95": took.p95} if took else None,
        "questions": [_question(run, case) for case in run.cases],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def questions_csv(run: Gathered) -> str:
    """Return a line a question: what is known of it, a column a metric, and why cells are empty."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([*_COLUMNS, *(_safe(metric.name) for metric in run.metrics), "not_scored"])
    for case in run.cases:
        cells, known = run.cells.get(case.id, {}), _known(run, case)
        scores = [cells[metric.name].score if metric.name in cells else None for metric in run.metrics]
        lacks = [
            f"{name}: {f'failed: {cells[name].failed}' if name in cells else 'not scored'}"
            for name in (metric.name for metric in run.metrics)
            if name not in cells or cells[name].failed
        ]
        writer.writerow([*(_safe(known.get(name)) for name in _COLUMNS), *scores, _safe("; ".join(lacks))])
    return text.getvalue()


def _known(run: Gathered, case: Case) -> dict[str, Any]:
    row, verdict = run.rows.get(case.id), run.verdicts[case.id]
    known = {
        "category": case.category,
        "answerable": "no" if case.unanswerable else "yes" if case.answer else "unknown",
        "question": case.question,
        "reference": case.answer,
        "class": verdict.kind.title,
        "why": verdict.why,
    }
    if row is None:
        return {"id": case.id, **known}
    counts = {
        "citations": len(row.citations),
        "passages": len(row.passages),
        "documents": " ".join(dict.fromkeys(passage.doc_id for passage in row.passages if passage.doc_id)),
        "warnings": " ".join(row.warnings),
    }
    return dict(row) | known | counts


def _means(run: Gathered, means: Means, cases: Sequence[Case]) -> dict[str, dict[str, Any]]:
    told = {metric.name: means[metric.name] for metric in run.told(means, cases)}
    return {name: {"mean": mean.value, "n": mean.n, "of": mean.of} for name, mean in told.items()}


def _question(run: Gathered, case: Case) -> dict[str, Any]:
    row, verdict = run.rows.get(case.id), run.verdicts[case.id]
    cells = run.cells.get(case.id, {})
    return {
        "id": case.id,
        "question": case.question,
        "category": case.category,
        "answerable": not case.unanswerable,
        "reference": case.answer,
        "class": verdict.kind.key,
        "why": verdict.why,
        "row": None if row is None else row.model_dump(mode="json", exclude={"id", "passages"}),
        "contexts": 0 if row is None else len(row.passages),
        "cells": {name: cell.model_dump(mode="json", exclude_none=True) for name, cell in cells.items()},
    }


def _safe(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    shown, left_out = shorten(value, CELL_CHARS)
    told = f" … ({left_out} more characters)" if left_out else ""
    return f"'{shown}{told}" if _FORMULA.match(value) else shown + told
