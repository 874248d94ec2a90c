"""Write a run as JSON, for programs, and as CSV with a line a question, for spreadsheets.

Flow: `gather.py` -> **here** -> `eval_results.json`, `per_question_results.csv`. Pure: returns text.
"""

import csv
import io
import json
import re
from typing import Any

from eval.cases import Case
from eval.reporting.gather import Gathered, Group
from eval.reporting.page import collection, run_facts, shorten
from eval.tables import quantile

CELL_CHARS = 32_000  # spreadsheets take no more
_COLUMNS = (
    "id", "category", "answerable", "question", "reference", "outcome", "class", "why", "answer", "citations",
    "passages", "documents", "synthesizer", "warnings", "reason", "seconds", "first_record_s", "fingerprint",
)  # fmt: skip
# A spreadsheet takes such a beginning for a formula; texts of others must stay texts.
_FORMULA = re.compile(r"^[=+\-@\t\r]")


def results_json(run: Gathered) -> str:
    """Return all figures and each question with its cells; passages stay in the run's own files."""
    took = run.seconds
    document = {
        "run": run.name,
        "header": run.header.model_dump(mode="json"),
        "source": run.source,
        "facts": run_facts(run),
        "collection": collection(run),
        "notices": run.notices,
        "metrics": {
            metric.name: {"family": metric.family, "better": metric.better, "about": metric.about}
            for metric in run.metrics
        },
        "main_metrics": [metric.name for metric in run.main],
        "judge_scatter": run.scatter,
        "aggregate": {
            "answerable": _means(run.answerable),
            "unanswerable": _means(run.unanswerable),
            "everything": _means(run.everything),
        },
        "by_category": {
            name: {
                "questions": len(group.cases),
                "good": group.states["good"],
                "judged": len(group.cases) - group.states["open"],
                "means": _means(group),
            }
            for name, group in run.categories.items()
        },
        "classes": {
            kind.key: {"title": kind.title, "state": kind.state, "rule": kind.rule, "questions": run.counts[kind.key]}
            for kind in run.kinds
        },
        "suggestions": [
            {"class": kind.key, "text": kind.advice, "settings": kind.settings} for kind in run.suggestions
        ],
        "latency_s": {"n": len(took), "p50": quantile(took, 0.5), "p95": quantile(took, 0.95)} if took else None,
        "questions": [_question(run, case) for case in run.cases],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def questions_csv(run: Gathered) -> str:
    """Return a line a question: what is known of it, a column a metric, and why cells are empty."""
    text = io.StringIO(newline="")
    names = [metric.name for metric in run.metrics]
    writer = csv.writer(text)
    writer.writerow([*_COLUMNS, *map(_safe, names), "not_scored"])
    for case in run.cases:
        row, verdict, cells = run.rows.get(case.id), run.verdicts[case.id], run.cells[case.id]
        known: dict[str, Any] = dict(row) if row else {"passages": ()}
        documents = dict.fromkeys(passage.doc_id for passage in known["passages"] if passage.doc_id)
        known |= {
            "id": case.id,
            "category": case.category,
            "answerable": "no" if case.unanswerable else "yes" if case.answer else "unknown",
            "question": case.question,
            "reference": case.answer,
            "class": verdict.kind.title,
            "why": verdict.why,
            "citations": len(row.citations) if row else None,
            "passages": len(row.passages) if row else None,
            "documents": " ".join(documents),
            "warnings": " ".join(row.warnings) if row else None,
        }
        lacks = [
            f"{name}: {f'failed: {cells[name].failed}' if name in cells else 'not scored'}"
            for name in names
            if name not in cells or cells[name].failed
        ]
        scores = (run.score(case, name) for name in names)
        writer.writerow([*(_safe(known.get(name)) for name in _COLUMNS), *scores, _safe("; ".join(lacks))])
    return text.getvalue()


def _means(group: Group) -> dict[str, dict[str, Any]]:
    told = {metric.name: group.means[metric.name] for metric in group.metrics}
    return {name: {"mean": mean.value, "n": mean.n, "of": mean.of} for name, mean in told.items()}


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
        "cells": {name: cell.model_dump(mode="json", exclude_none=True) for name, cell in run.cells[case.id].items()},
    }


def _safe(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    shown, left_out = shorten(value, CELL_CHARS)
    told = f" … ({left_out} more characters)" if left_out else ""
    return f"'{shown}{told}" if _FORMULA.match(value) else shown + told
