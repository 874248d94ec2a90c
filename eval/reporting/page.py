"""Render a run as one self-contained HTML file, and as Markdown.

Flow: `figures.py`, `charts.py`, `history.py`, `questions.py` -> **here** and `templates/` -> `report.html` and
`eval_report.md`. Pure: returns text.

Documents and answers come from anywhere. Every value is escaped, nothing of them stands in a script or a style, and
the page's own policy allows only its own style sheet and scripts, by their hashes, and no connection at all.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from eval.cells import Cell
from eval.comparing.printing import bounds, said, signed
from eval.reporting.charts import distributions, trends
from eval.reporting.failures import FOUND_RULE, KINDS, RIGHT_RULE
from eval.reporting.figures import (
    by_family,
    categories,
    changes,
    examples,
    latency,
    lines,
    main_metrics,
    mean_of,
    suggestions,
    unmeasured,
    weakest,
)
from eval.reporting.gather import JUDGED, TITLES, Against, Gathered
from eval.reporting.history import History
from eval.reporting.questions import shown_questions
from eval.reporting.safe_text import plain, shorten, web_link
from eval.tables import duration, figure, flat, moment, percent

TEMPLATES = Path(__file__).parent / "templates"
ASSETS = ("style.css", "first.js", "script.js")
MARKDOWN_CHARS = 600
SOURCES = {
    "offline": "offline: every score is computed, no language model judged",
    "judge": "judge: every score of an answer comes from a language model",
    "mixed": "mixed: some metrics are computed, some come from a judge; the family of each metric tells which",
}
_MARKUP = re.compile(r"([\\`*_{}\[\]<>|#~!])")
_LINK = re.compile(r"(?i)\b(https?|ftp|mailto|javascript|data)(?=:)|(?<=\bwww)\.")


def render_page(run: Gathered, history: History, against: Against | None = None) -> str:
    """Return the HTML of a report.

    Args:
        run: what the report is about.
        history: runs of the same questions, this one among them.
        against: a run that it is compared with.
    """
    assets = {name: (TEMPLATES / name).read_text(encoding="utf-8") for name in ASSETS}
    digests = (hashlib.sha256(text.encode()).digest() for text in assets.values())
    style, *scripts = (f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    policy = (
        f"default-src 'none'; style-src {style}; script-src {' '.join(scripts)}; base-uri 'none'; form-action 'none'"
    )
    named = {name.replace(".", "_"): text for name, text in assets.items()}
    return _template("report.html", autoescape=True).render(
        values(run, history, against) | named | {"policy": policy, "shown": shown_questions(run)}
    )


def render_markdown(run: Gathered, history: History, against: Against | None = None) -> str:
    """Return the report: verdicts, figures, classes of failures with examples, every question, what the run is of."""
    found = _template("report.md", autoescape=False, text=text).render(values(run, history, against))
    return re.sub(r"\n{3,}", "\n\n", found).strip() + "\n"


def text(value: str, limit_chars: int = MARKDOWN_CHARS) -> str:
    """Return the text of others as one line of Markdown that shows just that text."""
    shown, left_out = shorten(" ".join(value.split()), limit_chars)
    escaped = _LINK.sub(lambda found: f"{found[0]}&#8203;", _MARKUP.sub(r"\\\1", plain(shown)).replace("&", "&amp;"))
    return escaped + (f" … ({left_out:,} more characters)" if left_out else "")


def values(run: Gathered, history: History, against: Against | None) -> dict[str, Any]:
    """Return what both templates show, by the names that they use."""
    main, took = main_metrics(run), latency(run)
    groups = {
        "answerable": ([case for case in run.cases if not case.unanswerable], run.summary.answerable),
        "unanswerable": ([case for case in run.cases if case.unanswerable], run.summary.unanswerable),
    }
    figures: dict[str, Any] = {}
    for name, (cases, means) in groups.items():
        beside = getattr(against.verdicts, name) if against else ()
        figures |= {name: cases, f"{name}_lines": by_family(lines(run, cases, means, beside))}
    return {
        **figures,
        "run": run,
        "titles": TITLES,
        "other": against.run if against else None,
        "said": said(against.verdicts) if against else [],
        "notices": [*run.notices, *([against.notice] if against and against.notice else [])],
        "source": SOURCES[run.source],
        "main": [(metric, mean_of(run, metric)) for metric in main],
        "latency": took,
        "unmeasured": unmeasured(run, *groups["answerable"]),
        "categories": categories(run),
        "changes": changes(run, against.run) if against else [],
        "kinds": KINDS,
        "rules": (RIGHT_RULE, FOUND_RULE),
        "examples": examples(run),
        "weakest": weakest(run),
        "suggestions": suggestions(run),
        "pictures": distributions(run, took),
        "history": history,
        "trends": trends(history, main),
        "facts": run_facts(run),
        "collection": collection(run),
        "settings": dict(flat(run.header.settings)),
    }


def run_facts(run: Gathered) -> dict[str, str]:
    """Return what the run is of, in words."""
    header = run.header
    fingerprints = dict.fromkeys(row.fingerprint for row in run.rows.values() if row.fingerprint)
    scored, of = _coverage(run.cells)
    judged = [metric.name for metric in run.metrics if metric.family in JUDGED]
    return {
        "Started": moment(header.started),
        "Questions": f"{header.questions} ({len(run.cases)}), SHA-256 {header.questions_sha256[:12] or 'unknown'}",
        "Asked": header.target,
        "Corpus": header.corpus or "the service's default",
        "Fingerprint": header.fingerprint or ", ".join(fingerprints) or "not reported by the service",
        "Scores": SOURCES[run.source],
        "Coverage": f"{scored:,} of {of:,} cells that should hold a score do",
        **({"Judged metrics": ", ".join(judged)} if judged else {}),
        **{f"Judge ({family})": by for family, by in run.judges.items()},
    }


def collection(run: Gathered) -> dict[str, str]:
    """Return what the replies show of the corpus; empty if the service tells no passages."""
    per_row = [row.passages for row in run.rows.values() if row.passages]
    passages = [passage for some in per_row for passage in some]
    if not passages:
        return {}
    documents = {passage.doc_id for passage in passages if passage.doc_id}
    relevant = {doc for case in run.cases for doc in case.relevant_docs}
    told = run.header.settings.get("index")
    mean_chars = sum(len(passage.text) for passage in passages) / len(passages)
    return {
        "Documents read from": f"{len(documents):,}" if documents else "not reported",
        "Documents asked about": f"{len(relevant):,}" if relevant else "not reported",
        "Passages of a reply": f"{len(passages) / len(per_row):.1f} on average, at most {max(map(len, per_row))}",
        "Characters of a passage": f"{mean_chars:,.0f} on average",
        **{f"Index: {name}": value for name, value in flat(told if isinstance(told, dict) else {})},
    }


def _coverage(cells: Mapping[str, Mapping[str, Cell]]) -> tuple[int, int]:
    wanted = [cell for row in cells.values() for cell in row.values() if cell.not_applicable is None]
    return sum(cell.score is not None for cell in wanted), len(wanted)


def _template(name: str, *, autoescape: bool, **filters: Callable[..., str]) -> Template:
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=autoescape,  # noqa: S701  # Markdown is escaped by another filter
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    known = {one.__name__: one for one in (figure, duration, percent, moment, plain, web_link, signed, bounds)}
    templates.filters.update(known | filters)
    return templates.get_template(name)
