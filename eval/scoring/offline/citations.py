"""Score the citations: does each quote stand where it says, and has each sentence a quote that supports it?

Flow: `build.py` -> **here** -> `stage.py`. Whether quotes support a sentence is decided by `support.py`, as it is
when a generated answer is checked before it is shown.
"""

import re
from collections.abc import Callable, Sequence

from errors import ModelError
from eval.cases import Case
from eval.cells import Cell, Metric, failed, not_applicable, scored
from eval.metrics import contains, words
from eval.rows import Quote, Row
from eval.scoring.stage import Cells, failed_for
from query_engine.synthesis.citation_marks import MarkedSentence, MarkedSentences

FAMILY = "citations"
METRICS = (
    Metric("citation_precision", FAMILY, "higher", "Share of quotes that stand at their place in a passage, 0 to 1."),
    Metric("citation_recall", FAMILY, "higher", "Share of sentences with a mark whose quote supports them, 0 to 1."),
)
# Cutting a text without any full stop into sentences takes time that grows with the square of its length.
MOST_CHARS = 20_000

_BEFORE_ROW = re.compile(r"(?<=\]) (?=\|)")
_AFTER_ROW = re.compile(r"(\|(?: ?\[\d+\])+) ")

Supports = Callable[[str, Sequence[Quote]], bool]


def score_citations(case: Case, row: Row, supports: Supports) -> Cells:
    """Return both metrics of one row.

    Args:
        case: tells whether there is anything to answer.
        row: its marks `[n]` name citations by their number.
        supports: whether quotes hold what a sentence says; may raise ModelError.
    """
    if case.unanswerable:
        return _both(not_applicable("the corpus does not answer the question"))
    if row.outcome == "failed":
        return _both(failed(failed_for(row)))
    if row.outcome == "declined":
        return _both(not_applicable("the service declined"))
    if not row.citations and not row.fingerprint:  # a service with a fingerprint also sends citations: none
        return _both(not_applicable("the service tells no citations"))
    if row.citations and not any(citation.quote for citation in row.citations):
        return _both(not_applicable("the service tells no quotes"))
    return {"citation_precision": _precision(row), "citation_recall": _recall(row, supports)}


def _both(cell: Cell) -> Cells:
    return {metric.name: cell for metric in METRICS}


def _precision(row: Row) -> Cell:
    if not row.citations:
        return not_applicable("the answer has no citations")
    if not any(passage.start is not None for passage in row.passages):
        return not_applicable("the service does not tell where passages stand")
    return scored(sum(_stands(citation, row) for citation in row.citations) / len(row.citations))


def _stands(quote: Quote, row: Row) -> bool:
    """Whether the quote stands, letter for letter, at its place in a passage of its document."""
    if not quote.quote or quote.start is None or quote.end is None:
        return False
    return any(
        passage.doc_id == quote.doc_id
        and passage.start is not None
        and passage.start <= quote.start <= quote.end
        and passage.text[quote.start - passage.start : quote.end - passage.start] == quote.quote
        for passage in row.passages
    )


def _recall(row: Row, supports: Supports) -> Cell:
    answer = row.answer or ""
    length = len(answer) + sum(len(citation.quote or "") for citation in row.citations)
    if length > MOST_CHARS:
        return failed(f"answer and quotes have {length} characters; up to {MOST_CHARS} are compared")
    sentences = [each for each in _sentences(answer) if not each.heading and words(each.text)]
    if not sentences:
        return not_applicable("the answer has no sentence")
    try:
        return scored(sum(_is_held(each, row.citations, supports) for each in sentences) / len(sentences))
    except ModelError as error:
        return failed(error.fact)


def _sentences(answer: str) -> list[MarkedSentence]:
    # A quoted row of a table stands within running text; on a separate line it differs from its neighbours.
    lines = _AFTER_ROW.sub(r"\1\n", _BEFORE_ROW.sub("\n", answer.replace("**", "")))
    reader = MarkedSentences()
    return [*reader.feed(lines), *reader.finish()]


def _is_held(sentence: MarkedSentence, citations: Sequence[Quote], supports: Supports) -> bool:
    numbers = {number for _, number in sentence.marks}
    named = [citation for citation in citations if citation.number in numbers and citation.quote]
    if any(contains(citation.quote or "", sentence.text) for citation in named):
        return True
    return bool(named) and supports(sentence.text, named)
