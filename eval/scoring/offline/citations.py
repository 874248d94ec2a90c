"""Score the citations: does each quote stand where it says, and has each sentence a quote that supports it?

Flow: `build.py` -> **here** -> `stage.py`. Whether quotes support a sentence is decided by `support.py`, as it is
when a generated answer is checked before it is shown.
"""

from collections.abc import Callable, Sequence

from errors import ModelError
from eval.cases import Case
from eval.cells import Cell, Metric, failed, not_applicable, scored
from eval.metrics import contains
from eval.rows import Quote, Row, Seen
from eval.scoring.marked_sentences import MOST_CHARS, marked_sentences
from eval.scoring.stage import Cells, all_of, failed_for
from query_engine.synthesis.citation_marks import MarkedSentence

FAMILY = "citations"
METRICS = (
    Metric(
        "citation_precision",
        FAMILY,
        "higher",
        "Share of quotes that stand verbatim at their place in their document, 0 to 1.",
    ),
    Metric("citation_recall", FAMILY, "higher", "Share of sentences with a mark whose quote supports them, 0 to 1."),
)
Supports = Callable[[str, Sequence[Quote]], bool]


def score_citations(case: Case, row: Row, supports: Supports) -> Cells:
    """Return both metrics of one row.

    Args:
        case: tells whether there is anything to answer.
        row: its marks `[n]` name citations by their number.
        supports: whether quotes hold what a sentence says; may raise ModelError.
    """
    if case.unanswerable:
        return all_of(METRICS, not_applicable("the corpus does not answer the question"))
    if row.outcome == "failed":
        return all_of(METRICS, failed(failed_for(row)))
    if row.outcome == "declined":
        return all_of(METRICS, not_applicable("the service declined"))
    if not row.citations and not row.fingerprint:  # a service with a fingerprint also sends citations: none
        return all_of(METRICS, not_applicable("the service tells no citations"))
    if row.citations and not any(citation.quote for citation in row.citations):
        return all_of(METRICS, not_applicable("the service tells no quotes"))
    return {"citation_precision": _precision(row), "citation_recall": _recall(row, supports)}


def _precision(row: Row) -> Cell:
    if not row.citations:
        return not_applicable("the answer has no citations")
    if not row.confirmed and not any(passage.start is not None for passage in row.passages):
        return not_applicable("the service does not tell where passages stand")
    right = [n in row.confirmed or in_passages(quote, row.passages) for n, quote in enumerate(row.citations)]
    return scored(sum(right) / len(right))


def in_passages(quote: Quote, passages: Sequence[Seen]) -> bool:
    """Whether the quote stands, letter for letter, at its place in passages of its document.

    It may reach over several: passages that touch or overlap are one stretch of text, blanks between them aside.
    """
    if not quote.quote or quote.start is None or quote.end is None or quote.end - quote.start != len(quote.quote):
        return False
    place = quote.start  # how far it was found
    for begin, text in sorted(
        (one.start, one.text) for one in passages if one.doc_id == quote.doc_id and one.start is not None
    ):
        if place < quote.end and begin + len(text) > place:
            between = quote.quote[place - quote.start : max(0, begin - quote.start)]
            place = max(place, begin)
            rest = quote.quote[place - quote.start :]
            seen = text[place - begin :][: len(rest)]
            if between.strip() or not rest.startswith(seen):
                return False
            place += len(seen)
    return place == quote.end


def _recall(row: Row, supports: Supports) -> Cell:
    answer = row.answer or ""
    length = len(answer) + sum(len(citation.quote or "") for citation in row.citations)
    if length > MOST_CHARS:
        return failed(f"answer and quotes have {length} characters; up to {MOST_CHARS} are compared")
    sentences = marked_sentences(answer)
    if not sentences:
        return not_applicable("the answer has no sentence")
    try:
        return scored(sum(_is_held(each, row.citations, supports) for each in sentences) / len(sentences))
    except ModelError as error:
        return failed(error.fact)


def _is_held(sentence: MarkedSentence, citations: Sequence[Quote], supports: Supports) -> bool:
    numbers = {number for _, number in sentence.marks}
    named = [citation for citation in citations if citation.number in numbers and citation.quote]
    if any(contains(citation.quote or "", sentence.text) for citation in named):
        return True
    return bool(named) and supports(sentence.text, named)
