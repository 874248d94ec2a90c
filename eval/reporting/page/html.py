"""Render the report as one self-contained HTML file.

Flow: `gather.py`, `reporting/figures/history.py`, `reporting/figures/tables.py`, `reporting/figures/charts.py`,
`questions.py` -> **here** and `templates/` -> `report.html`.

Documents and answers come from anywhere. Every value is escaped, nothing of them stands in a script or a style, and
the page's own policy allows only its own style sheet and scripts, by their hashes, and no connection at all.
"""

import base64
import hashlib
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from eval.reporting.advice import suggestions
from eval.reporting.facts import SOURCES, collection, run_facts, settings
from eval.reporting.failures import FOUND_RULE, KINDS, RIGHT_RULE
from eval.reporting.figures.charts import distributions, latency_picture, parts, trends
from eval.reporting.figures.history import History
from eval.reporting.figures.main_metrics import latency, main_metrics, mean_of
from eval.reporting.figures.tables import by_family, categories, changes, examples, lines, weakest
from eval.reporting.gather import Gathered, check_shared
from eval.reporting.number_format import duration, figure, moment, percent
from eval.reporting.page.questions import shown_questions
from eval.reporting.page.safe_text import plain

_FOLDER = Path(__file__).parent / "templates"


def render_page(run: Gathered, history: History, other: Gathered | None = None) -> str:
    """Return the HTML of a report.

    Args:
        run: what the report is about.
        history: runs of the same questions, this one among them.
        other: a run shown beside.
    """
    templates = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(figure=figure, duration=duration, percent=percent, moment=moment, plain=plain)
    return templates.get_template("report.html").render(_assets() | _values(run, history, other))


def _assets() -> dict[str, Any]:
    texts = {name: (_FOLDER / name).read_text(encoding="utf-8") for name in ("style.css", "first.js", "script.js")}
    hashes = {name: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for name, text in texts.items()}
    policy = (
        f"default-src 'none'; style-src 'sha256-{hashes['style.css']}'; "
        f"script-src 'sha256-{hashes['first.js']}' 'sha256-{hashes['script.js']}'; base-uri 'none'; form-action 'none'"
    )
    return {"policy": policy} | {name.replace(".", "_"): text for name, text in texts.items()}


def _values(run: Gathered, history: History, other: Gathered | None) -> dict[str, Any]:
    shown = shown_questions(run)
    answerable = [case for case in run.cases if not case.unanswerable]
    unanswerable = [case for case in run.cases if case.unanswerable]
    main, took = main_metrics(run), latency(run)
    return {
        "run": run,
        "other": other,
        "notices": [*run.notices, *filter(None, [check_shared(run, other) if other else ""])],
        "source": SOURCES[run.source],
        "answerable": answerable,
        "unanswerable": unanswerable,
        "outcomes": parts([(kind.key, kind.title, run.counts[kind.key]) for kind in run.kinds]),
        "main": [(metric, mean_of(run, metric)) for metric in main],
        "latency": took,
        "answerable_lines": by_family(lines(run, answerable, run.summary.answerable, other)),
        "unanswerable_lines": by_family(lines(run, unanswerable, run.summary.unanswerable, other)),
        "everything": run.summary.everything,
        "categories": categories(run),
        "changes": changes(run, other) if other else [],
        "kinds": KINDS,
        "kind_place": {kind.key: place for place, kind in enumerate(KINDS)},
        "category_place": {name: place for place, name in enumerate(run.summary.by_category)},
        "rules": (RIGHT_RULE, FOUND_RULE),
        "examples": examples(run),
        "weakest": weakest(run),
        "suggestions": suggestions(run.counts),
        "distributions": distributions(run),
        "latency_picture": latency_picture(took) if took else None,
        "shown": shown,
        "of_id": {one.case.id: one for one in shown},
        "history": history,
        "trends": trends(history, main),
        "facts": run_facts(run),
        "collection": collection(run),
        "settings": settings(run),
    }
