"""The texts by which a research loop tells people what it did.

Flow: `loop.py` -> **here** -> the steps that views show, beside those of `query_engine/steps.py`. Each step is short
Markdown that makes sense on its own. Decides nothing.
"""

import re
from collections.abc import Callable, Sequence

from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Nearest, Step
from query_engine.text.markdown_escape import as_plain, as_text
from research.schema import Round, RoundStep

MAX_QUERY_CHARS = 200
# One that Markdown takes for a link's whole target.
_WEB_URL = re.compile(r"https?://[^\s()<>]+")


def searching(number: int, queries: Sequence[str]) -> Step:
    """Say what a round searches for, before it does."""
    return Step("search", f"**Round {number}**, searching for {_listed(queries)}")


def round_done(one: Round, link: Callable[[Nearest], str] | None = None) -> RoundStep:
    """Tell a round: its queries, what was found, and what is still missing.

    Args:
        one: the round.
        link: place -> the address that its title is a link to; without it only web addresses are linked.
    """
    review = one.review
    lines = [f"**Round {one.number}** searched for {_listed(one.queries)} and found:"]
    lines += [_line(document.place, link, "" if document.useful else " (not used)") for document in one.found]
    if not one.found:
        lines.append("- nothing")
    if review.summary:
        lines.append(f"\nSo far: {as_text(review.summary)}")
    if review.sufficient:
        lines.append("\n**Sufficient**: an answer can be written.")
    elif review.missing:
        lines.append(f"\n**Still missing**: {'; '.join(as_text(one) for one in review.missing)}")
    return RoundStep("round", "\n".join(lines), one)


def ended(why: str) -> Step:
    """Say why no further round follows, where the passages were not found sufficient."""
    return Step("plan", f"**No further search**: {why} The answer is written from what was found.")


def told(warning: AnswerWarning) -> Step:
    """Say that a stage of the loop failed or was left out."""
    return Step("warning", f"**Researching with less**: {warning.text}")


def _line(place: Nearest, link: Callable[[Nearest], str] | None, mark: str = "") -> str:
    title = as_plain(place.title) or as_plain(place.doc_id)
    url = link(place) if link else place.url or ""
    shown = f"[{title}]({url})" if _WEB_URL.fullmatch(url) and not set(title) & set("[]") else f"*{title}*"
    return f"- {shown}{mark}: “{as_text(' '.join(place.quote.split()))}”"


def _listed(queries: Sequence[str]) -> str:
    shown = [one if len(one) <= MAX_QUERY_CHARS else f"{one[: MAX_QUERY_CHARS - 1]}…" for one in queries]
    return ", ".join(f"“{as_text(one)}”" for one in shown)
