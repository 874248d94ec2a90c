"""Compare what a language model replied with what the reader was shown.

Flow: `oracle.py` (replies) and `command.py` (rows) -> **here** -> table. Pure.

A question is *answerable* if it has vital facts, and a *near miss* otherwise. Of the replies to a question the one
whose prompt held most of them counts; it is *right* if that was half of them or more. *As written* means equal but for
citation marks, the list of sources at the end and white space. With |…| for a number of questions:

    in_prompt            = |right reply| / |answerable|
    unchanged            = |right reply shown whole, as written| / |right reply|
    arrived              = |right reply whose answer is shown, as written| / |answerable|
    marked               = |right reply of which `unsupported` names something| / |right reply|; of the shape `planted`
                           that is what is found, of all others it is wrong
    cited_right          = mean over the arrived: citations of documents that hold a region of the question / citations;
                           0 without citations
    near misses declined = |declined near misses| / |near misses|
    prompt, mean and p95 = characters of a prompt that holds sources, of answerable questions
    calls                = requests to the model / |questions|

So `arrived` is `in_prompt` × `unchanged` where a reply is nothing but the answer, as those of the shape `plain` are.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from urllib.parse import unquote, urlsplit

from bench.figures import percentile
from bench.quality.helpful.nuggets import NuggetCase
from bench.writer.oracle import Reply
from eval.metrics import file_name
from eval.rows import Quote, Row

MEASURES = {
    "n": 0,
    "in_prompt": 3,
    "unchanged": 3,
    "arrived": 3,
    "marked": 3,
    "cited_right": 3,
    "near misses declined": 3,
    "prompt, mean": 0,
    "prompt, p95": 0,
    "calls": 2,
}
FENCE = "```"
_MARK = re.compile(r" ?(?:\[\[\d{1,4}\]\]\([^()\s]*\)|\[\^?\d{1,4}\]|【\d{1,4}】)")
# What `/v1` and, if it is set so, `/evaluate` add to an answer.
_SOURCES = re.compile(r"\n\n(?:\*\*Sources\*\*|References:)\n")


@dataclass(frozen=True, slots=True)
class Shown:
    """One question: what the reader was shown and what of it was marked, and all that the model replied on the way."""

    case: NuggetCase
    row: Row
    replies: tuple[Reply, ...]
    marked: tuple[str, ...] = ()

    @property
    def right(self) -> Reply | None:
        """The reply that counts, if it is right."""
        own = [reply for reply in self.replies if reply.case_id == self.case.id]
        best = max(own, key=lambda reply: reply.found, default=None)
        return best if best and best.right else None

    @property
    def unchanged(self) -> bool:
        """Whether the right reply is shown whole, as written."""
        return self.right is not None and plain(self.row.answer) == plain(self.right.text)

    @property
    def arrived(self) -> bool:
        """Whether the answer in the right reply is shown, as written."""
        return self.right is not None and plain(self.case.answer) in plain(self.row.answer)

    @property
    def cited_right(self) -> float:
        """The share of the citations that name a document of the question's regions; 0 without citations."""
        documents = {file_name(region.doc) for region in self.case.regions}
        return fmean([_document(quote) in documents for quote in self.row.citations] or [False])


def scores(asked: Sequence[Shown]) -> dict[str, float | None]:
    """Return the measures of the docstring above; None where no question allows one."""
    answerable = [one for one in asked if one.case.nuggets]
    near_misses = [one for one in asked if not one.case.nuggets]
    chars = [reply.chars for one in answerable for reply in one.replies if reply.vital]
    return {
        "n": len(asked),
        "in_prompt": _mean([one.right is not None for one in answerable]),
        "unchanged": _mean([one.unchanged for one in answerable if one.right]),
        "arrived": _mean([one.arrived for one in answerable]),
        "marked": _mean([bool(one.marked) for one in answerable if one.right]),
        "cited_right": _mean([one.cited_right for one in answerable if one.arrived]),
        "near misses declined": _mean([one.row.outcome == "declined" for one in near_misses]),
        "prompt, mean": _mean(chars),
        "prompt, p95": percentile(chars, 95) if chars else None,
        "calls": _mean([len(one.replies) for one in asked]),
    }


def plain(text: str | None) -> str:
    """Return a text without citation marks, its list of sources and runs of white space; marks in code blocks stay."""
    parts = " ".join(_SOURCES.split(text or "")[0].split()).split(FENCE)
    return FENCE.join(part if place % 2 else _MARK.sub("", part) for place, part in enumerate(parts)).strip()


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _document(quote: Quote) -> str:
    """Return the name of the file that is cited; a stream of `/run` tells it by the address alone."""
    return file_name(quote.doc_id or unquote(urlsplit(quote.url or "").path))
