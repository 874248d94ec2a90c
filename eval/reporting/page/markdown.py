"""Write the report as Markdown, to be read in a terminal, a pull request or an editor.

Flow: `gather.py`, `reporting/figures/tables.py` -> **here** -> `eval_report.md`. Pure: returns text. Texts of others
are escaped, so that an answer is neither markup nor a line of a table.
"""

import re
from collections.abc import Iterable, Sequence

from eval.cases import Case
from eval.reporting.advice import suggestions
from eval.reporting.facts import collection, run_facts, settings
from eval.reporting.failures import FOUND_RULE, KIND, RIGHT_RULE
from eval.reporting.figures.history import History
from eval.reporting.figures.main_metrics import latency, main_metrics
from eval.reporting.figures.tables import Line, categories, examples, lines, weakest
from eval.reporting.gather import TITLES, Gathered
from eval.reporting.number_format import duration, figure, moment, percent
from eval.reporting.page.safe_text import plain, shorten

ANSWER_CHARS, LINE_CHARS = 600, 140
_MARKUP = re.compile(r"([\\`*_{}\[\]<>|#~!])")
_LINK = re.compile(r"(?i)\b(https?|ftp|mailto|javascript|data)(?=:)|(?<=\bwww)\.")


def render_markdown(run: Gathered, history: History) -> str:
    """Return the report: figures, classes of failures with examples, every question, and what the run is of."""
    parts = [
        [f"# {text(run.name)}", "", *(f"> {text(notice)}\n>" for notice in run.notices)],
        *(_section("This run", _facts(run_facts(run))),),
        _outcomes(run),
        _scores(run),
        _categories(run),
        _failures(run),
        _examples(run),
        _questions(run),
        _history(run, history),
        _section("Collection", _facts(collection(run)) or ["The service does not tell its passages."]),
        _section("Settings", _facts(settings(run)) or ["The service does not tell its settings."]),
        _section("Versions", _facts(run.header.versions) or ["Not told."]),
    ]
    return "\n".join("\n".join(part).rstrip("\n") + "\n" for part in parts if part)


def text(value: str, limit_chars: int = ANSWER_CHARS) -> str:
    """Return the text of others as one line of Markdown that shows just that text."""
    shown, left_out = shorten(" ".join(value.split()), limit_chars)
    escaped = _LINK.sub(lambda found: f"{found[0]}&#8203;", _MARKUP.sub(r"\\\1", plain(shown)).replace("&", "&amp;"))
    return escaped + (f" … ({left_out:,} more characters)" if left_out else "")


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: int = 0) -> list[str]:
    """Return a table; its last `numbers` columns stand to the right."""
    marks = ["---"] * (len(head) - numbers) + ["---:"] * numbers
    return [f"| {' | '.join(cells)} |" for cells in (head, marks, *rows)]


def _section(title: str, body: Sequence[str]) -> list[str]:
    return [f"## {title}", "", *body]


def _facts(values: dict[str, str]) -> list[str]:
    return [f"- {text(name)}: {text(value)}" for name, value in values.items()]


def _outcomes(run: Gathered) -> list[str]:
    rows = [
        (kind.title, str(run.counts[kind.key]), percent(run.counts[kind.key] / len(run.cases))) for kind in run.kinds
    ]
    took = latency(run)
    times = f"Time to the whole answer: median {duration(took.p50)}, 95 % within {duration(took.p95)}." if took else ""
    return _section("Overview", [*table(("Outcome", "Questions", "Share"), rows, 2), "", times])


def _scores(run: Gathered) -> list[str]:
    answerable = [case for case in run.cases if not case.unanswerable]
    unanswerable = [case for case in run.cases if case.unanswerable]
    body = ["Coverage n/N: the mean rests on n rows of the N that should have a score.", ""]
    if run.scatter:
        body[0] += " ± is one standard deviation of the mean, by how far the judge disagreed with itself."
    body += [f"Questions that have an answer, or may have one ({len(answerable)}):", ""]
    body += _lines(lines(run, answerable, run.summary.answerable))
    if unanswerable:
        body += ["", f"Questions that the corpus does not answer ({len(unanswerable)}), apart:", ""]
        body += _lines(lines(run, unanswerable, run.summary.unanswerable))
    declined = run.summary.everything.get("abstention_precision")
    if declined and declined.n and answerable and unanswerable:
        told = f"{figure(declined.value)} had no answer (abstention_precision, {declined.n}/{declined.of})."
        body += ["", f"Of all questions that were declined, {text(told)}"]
    return _section("Scores", body)


def _lines(found: Sequence[Line]) -> list[str]:
    if not found:
        return ["No metric says anything of them."]
    rows = (
        (
            text(line.metric.name),
            text(TITLES.get(line.metric.family, line.metric.family)),
            line.metric.better,
            figure(line.mean.value) + (f" ± {figure(line.scatter)}" if line.scatter is not None else ""),
            f"{line.mean.n}/{line.mean.of}",
        )
        for line in found
    )
    return table(("Metric", "Family", "Better", "Mean", "Coverage"), rows, 2)


def _categories(run: Gathered) -> list[str]:
    head = ["Category", "Questions", "Good end", *(text(metric.name) for metric in main_metrics(run))]
    rows = (
        [
            text(category.name or "no category"),
            str(category.questions),
            f"{category.good}/{category.judged}",
            *(
                f"{figure(line.mean.value)} ({line.mean.n}/{line.mean.of})" if line.mean.n else "–"
                for line in category.lines
            ),
        ]
        for category in categories(run)
    )
    return _section("By category", table(head, rows, len(head) - 1))


def _failures(run: Gathered) -> list[str]:
    found = examples(run)
    if not found:
        return _section("What went wrong", ["No question of this run came to a bad end."])
    rows = (
        (kind.title, str(run.counts[kind.key]), percent(run.counts[kind.key] / len(run.cases)), kind.rule)
        for kind, _ in found
    )
    advice = [
        f"{number}. **{KIND[one.kind].title}**: {one.text} {' '.join(f'`{name}`' for name in one.settings)}".rstrip()
        for number, one in enumerate(suggestions(run.counts), start=1)
    ]
    body = [*table(("Class", "Questions", "Share", "Rule"), rows), "", RIGHT_RULE, "", FOUND_RULE]
    return _section("What went wrong", [*body, "", "### What to try", "", *advice])


def _examples(run: Gathered) -> list[str]:
    shown = [(kind.title, case) for kind, cases in examples(run) for case in cases]
    shown += [("Weakest of the right ones", case) for case in weakest(run)]
    body = list[str]()
    for title, case in shown:
        row, verdict = run.rows.get(case.id), run.verdicts[case.id]
        answer = text(row.answer or f"(no reply: {row.reason})") if row else "(not asked)"
        body += [f"### {title}: {text(case.question, LINE_CHARS)}", "", f"- Id: {text(case.id)}"]
        body += [f"- Reference: {_reference(case)}", f"- Answer: {answer}"]
        body += [f"- Why this class: {text(verdict.why)}", ""] if verdict.why else [""]
    return _section("Examples", body) if body else []


def _questions(run: Gathered) -> list[str]:
    main = main_metrics(run)
    head = ["Id", "Question", "Outcome", *(text(metric.name) for metric in main)]
    rows = []
    for case in run.cases:
        cells = [run.cells.get(case.id, {}).get(metric.name) for metric in main]
        figures = ["–" if cell is None or cell.score is None else figure(cell.score) for cell in cells]
        kind = run.verdicts[case.id].kind
        rows.append([text(case.id, 60), text(case.question, LINE_CHARS), kind.title, *figures])
    return _section("Questions", table(head, rows, len(main)))


def _history(run: Gathered, history: History) -> list[str]:
    main = main_metrics(run)
    head = ["Run", "Begun", "Fingerprint", "What changed", *(text(metric.name) for metric in main)]
    rows = [
        [
            text(past.name) + (" (this one)" if past.this else ""),
            moment(past.header.started),
            text(past.fingerprint[:12]) + (" changed" if place in history.changes else ""),
            text("; ".join(history.changed(place))),
            *(figure(past.means[metric.name].value if metric.name in past.means else None) for metric in main),
        ]
        for place, past in enumerate(history.runs)
    ]
    left = [f"Left out: {text('; '.join(history.left_out))}."] if history.left_out else []
    return _section("History", [*table(head, rows, len(main)), "", *left])


def _reference(case: Case) -> str:
    if case.answer:
        return text(case.answer)
    return "(the corpus does not answer it)" if case.unanswerable else "(not known)"
