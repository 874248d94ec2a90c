"""Write a run as JSON, for programs, and as CSV with a line a question, for spreadsheets.

Flow: `gather.py`, `reporting/figures/tables.py` -> **here** -> `eval_results.json`, `per_question_results.csv`. Pure:
returns text.
"""

import csv
import io
import json
import re
from collections.abc import Mapping
from typing import Any

from eval.cases import Case
from eval.cells import Cell, Mean, Metric
from eval.reporting.advice import suggestions
from eval.reporting.facts import collection, run_facts
from eval.reporting.figures.main_metrics import latency, main_metrics
from eval.reporting.figures.tables import Category, categories
from eval.reporting.gather import Gathered
from eval.reporting.page.safe_text import shorten
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
        "by_category": {category.name: _category(run, category) for category in categories(run)},
        "classes": {
            kind.key: {"title": kind.title, "state": kind.state, "rule": kind.rule, "questions": run.counts[kind.key]}
            for kind in run.kinds
        },
        "suggestions": [
            {"class": one.kind, "text": one.text, "settings": list(one.settings)} for one in suggestions(run.counts)
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
        cells = run.cells.get(case.id, {})
        facts = _facts(run, case)
        writer.writerow(
            [
                *(_safe(facts[name]) for name in _COLUMNS),
                *(_score(cells.get(metric.name)) for metric in run.metrics),
                _safe("; ".join(_why(metric, cells) for metric in run.metrics if _why(metric, cells))),
            ]
        )
    return text.getvalue()


def _category(run: Gathered, category: Category) -> dict[str, Any]:
    cases = [case for case in run.cases if (case.category or "") == category.name]
    means = _means(run, run.summary.by_category[category.name], cases)
    return {"questions": category.questions, "good": category.good, "judged": category.judged, "means": means}


def _means(run: Gathered, means: Means, cases: list[Case] | tuple[Case, ...]) -> dict[str, dict[str, Any]]:
    return {metric.name: _mean(means[metric.name]) for metric in run.told(means, cases)}


def _mean(mean: Mean) -> dict[str, Any]:
    return {"mean": mean.value, "n": mean.n, "of": mean.of}


def _question(run: Gathered, case: Case) -> dict[str, Any]:
    row, verdict = run.rows.get(case.id), run.verdicts[case.id]
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
        "cells": {
            name: cell.model_dump(mode="json", exclude_none=True) for name, cell in run.cells.get(case.id, {}).items()
        },
    }


def _facts(run: Gathered, case: Case) -> dict[str, Any]:
    row, verdict = run.rows.get(case.id), run.verdicts[case.id]
    known: dict[str, Any] = {
        "id": case.id,
        "category": case.category,
        "answerable": "no" if case.unanswerable else "yes" if case.answer else "unknown",
        "question": case.question,
        "reference": case.answer,
        "class": verdict.kind.title,
        "why": verdict.why,
    }
    if row is not None:
        known |= {
            "outcome": row.outcome,
            "answer": row.answer,
            "citations": len(row.citations),
            "passages": len(row.passages),
            "documents": " ".join(dict.fromkeys(passage.doc_id for passage in row.passages if passage.doc_id)),
            "synthesizer": row.synthesizer,
            "warnings": " ".join(row.warnings),
            "reason": row.reason,
            "seconds": row.seconds,
            "first_record_s": row.first_record_s,
            "fingerprint": row.fingerprint,
        }
    return dict.fromkeys(_COLUMNS) | known


def _score(cell: Cell | None) -> float | None:
    return None if cell is None else cell.score


def _why(metric: Metric, cells: Mapping[str, Cell]) -> str:
    cell = cells.get(metric.name)
    if cell is None:
        return f"{metric.name}: not scored"
    return f"{metric.name}: failed: {cell.failed}" if cell.failed else ""


def _safe(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    shown, left_out = shorten(value, CELL_CHARS)
    told = f" … ({left_out} more characters)" if left_out else ""
    return f"'{shown}{told}" if _FORMULA.match(value) else shown + told
