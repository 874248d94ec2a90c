"""Render a run as one self-contained HTML file, and as Markdown.

Flow: `gather.py` -> **here** and `templates/` -> `report.html` and `eval_report.md`. Pure:
returns text.

Documents and answers come from anywhere. Every value is escaped, nothing of them stands in a script or a style, and
the page's own policy allows only its own style sheet and scripts, by their hashes, and no connection at all. Characters
that steer a terminal or turn the direction of a line around are shown by name, because what is read must be what
stands there; Arabic and Hebrew are shown as they are.

A page that opens at once matters more than its completeness: long texts are cut, and say by how much. The run's own
files hold them whole.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from eval.comparing.printing import bounds, said, signed
from eval.reporting.charts import histogram
from eval.reporting.failures import FOUND_RULE, KINDS, RIGHT_RULE
from eval.reporting.gather import JUDGED, TITLES, Gathered
from eval.rows import Row, Seen
from eval.scoring.catalogue import TAKES
from eval.tables import duration, figure, flat, moment, percent, quantile

TEMPLATES = Path(__file__).parent / "templates"
ASSETS = ("style.css", "first.js", "script.js")
MARKDOWN_CHARS = 600
PAGE_CHARS = 1_600_000
MOST_CHARS, LEAST_CHARS = 12_000, 600
MOST_QUESTIONS, MOST_QUOTES = 1_000, 50
SOURCES = {
    "offline": "offline: every score is computed, no language model judged",
    "judge": "judge: every score of an answer comes from a language model",
    "mixed": "mixed: some metrics are computed, some come from a judge; the family of each metric tells which",
}
# C0 and C1 without tab and line feed, marks and overrides of direction, soft and zero-width characters, surrogates
_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
_MARKUP = re.compile(r"([\\`*_{}\[\]<>|#~!])")
_LINK = re.compile(r"(?i)\b(https?|ftp|mailto|javascript|data)(?=:)|(?<=\bwww)\.")


def render_page(run: Gathered) -> str:
    """Return the HTML of a report about a run."""
    assets = {name: (TEMPLATES / name).read_text(encoding="utf-8") for name in ASSETS}
    digests = {name: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for name, text in assets.items()}
    shown = shown_questions(run)
    room = max(LEAST_CHARS, min(MOST_CHARS, PAGE_CHARS // len(shown)))
    return _render("report.html", run, assets=assets, digests=digests, shown=shown, room=room)


def render_markdown(run: Gathered) -> str:
    """Return the report: verdicts, figures, classes of failures with examples, every question, what the run is of."""
    return re.sub(r"\n{3,}", "\n\n", _render("report.md", run)).strip() + "\n"


def shown_questions(run: Gathered) -> dict[str, int]:
    """Return the place of each question, from 1, by its id; of very many, those that went wrong first.

    Anchors are made of places, as ids may be anything.
    """
    places = {case.id: place for place, case in enumerate(run.cases, start=1)}
    wrong_first = sorted(places, key=lambda id_: run.verdicts[id_].kind.state != "bad")[:MOST_QUESTIONS]
    return {id_: places[id_] for id_ in sorted(wrong_first, key=places.__getitem__)}


def run_facts(run: Gathered) -> dict[str, str]:
    """Return what the run is of, in words."""
    header = run.header
    fingerprints = dict.fromkeys(row.fingerprint for row in run.rows.values() if row.fingerprint)
    wanted = [cell for row in run.cells.values() for cell in row.values() if cell.not_applicable is None]
    scored = sum(cell.score is not None for cell in wanted)
    judged = [metric.name for metric in run.metrics if metric.family in JUDGED]
    return {
        "Started": moment(header.started),
        "Questions": f"{header.questions} ({len(run.cases)}), SHA-256 {header.questions_sha256[:12] or 'unknown'}",
        "Asked": header.target,
        "Corpus": header.corpus or "the service's default",
        "Fingerprint": header.fingerprint or ", ".join(fingerprints) or "not reported by the service",
        "Scores": SOURCES[run.source],
        "Coverage": f"{scored:,} of {len(wanted):,} cells that should hold a score do",
        **({"Judged metrics": ", ".join(judged)} if judged else {}),
        **{f"Judge ({family})": by for family, by in run.judges.items()},
    }


def collection(run: Gathered) -> dict[str, str]:
    """Return what the replies show of the corpus; empty if the service reports no passages."""
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


def plain(text: str) -> str:
    """Return the text with its control characters shown by name and its line ends as line feeds."""
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text.replace("\r\n", "\n"))


def shorten(text: str, limit_chars: int) -> tuple[str, int]:
    """Return at most this much of the beginning, and how many characters were left out."""
    return text[:limit_chars], max(0, len(text) - limit_chars)


def text(value: str, limit_chars: int = MARKDOWN_CHARS) -> str:
    """Return the text of others as one line of Markdown that shows just that text."""
    shown, left_out = shorten(" ".join(value.split()), limit_chars)
    escaped = _LINK.sub(lambda found: f"{found[0]}&#8203;", _MARKUP.sub(r"\\\1", plain(shown)).replace("&", "&amp;"))
    return escaped + (f" … ({left_out:,} more characters)" if left_out else "")


def begin(value: str, limit_chars: int) -> Markup:
    """Return the beginning of a text, and how much of it is not shown."""
    shown, left_out = shorten(value, limit_chars)
    return escape(plain(shown)) + _rest(left_out)


def answer(row: Row, place: int, limit_chars: int) -> Markup:
    """Return a question's answer with its bold words, and its `[n]` marks as links to the quotes.

    Nothing else of an answer is markup; a bold sign without its counterpart is text.
    """
    shown, left_out = shorten(row.answer or "", limit_chars)
    numbers = {quote.number for quote in row.citations[:MOST_QUOTES]}

    def mark(found: re.Match[str]) -> str:
        if (number := int(found[1])) in numbers:
            return f'<a class="mark" href="#q{place}-c{number}">{found[0]}</a>'
        return f'<span class="stray" title="The reply has no such citation.">{found[0]}</span>'

    bold = re.sub(r"(?s)\*\*(.*?)\*\*", r"<strong>\1</strong>", str(escape(plain(shown))))
    return Markup(re.sub(r"\[(\d{1,4})\]", mark, bold)) + _rest(left_out)  # noqa: S704  # escaped above


def passages(row: Row, room: int) -> Iterator[tuple[Seen, Markup]]:
    """Yield the passages that there is room for beside the answer and its quotes, each with its text."""
    quotes = row.citations[:MOST_QUOTES]
    room -= min(len(row.answer or ""), room // 2) + sum(min(len(quote.quote or ""), room // 4) for quote in quotes)
    for seen in row.passages:
        if room <= 0:
            break
        spans = [
            (quote.start - seen.start, quote.end - seen.start)
            for quote in quotes
            if quote.doc_id == seen.doc_id and not (seen.start is None or quote.start is None or quote.end is None)
        ]
        yield seen, quoted(seen.text, spans, room)
        room -= len(seen.text)


def quoted(value: str, spans: Iterable[tuple[int, int]], limit_chars: int) -> Markup:
    """Return a passage with the spans marked that the answer quotes; they may overlap and reach beyond the text."""
    shown, left_out = shorten(value, limit_chars)
    found, at = Markup(), 0
    for start, end in sorted(spans):
        first, last = max(start, at), min(end, len(shown))
        if first < last:
            found += Markup("{}<mark>{}</mark>").format(plain(shown[at:first]), plain(shown[first:last]))
            at = last
    return found + plain(shown[at:]) + _rest(left_out)


def web_link(url: str | None) -> str | None:
    """Return the address if it leads to a web page, else None: other schemes run things."""
    if not url or _HIDDEN.search(url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None


def _rest(left_out: int) -> Markup:
    told = Markup(' <span class="cut">… {:,} more characters are not shown</span>')
    return told.format(left_out) if left_out else Markup()


def _finished(value: Any) -> Any:
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(TEMPLATES),
    autoescape=select_autoescape(["html"]),
    undefined=StrictUndefined,
    finalize=_finished,
    trim_blocks=True,
    lstrip_blocks=True,
)
_FILTERS = (
    answer, begin, bounds, duration, figure, histogram, moment, passages, percent, quantile, signed, text,
    web_link,
)  # fmt: skip
_ENVIRONMENT.filters |= {one.__name__: one for one in _FILTERS}


def _render(template: str, run: Gathered, **values: Any) -> str:
    return _ENVIRONMENT.get_template(template).render(
        run=run,
        said=said(run.against) if run.against else [],
        source=SOURCES[run.source],
        titles=TITLES,
        kinds=KINDS,
        rules=(RIGHT_RULE, FOUND_RULE),
        most_quotes=MOST_QUOTES,
        takes=TAKES,
        facts=run_facts(run),
        collection=collection(run),
        settings=dict(flat(run.header.settings)),
        **values,
    )
