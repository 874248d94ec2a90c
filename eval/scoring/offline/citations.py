"""Score the citations: does each quote stand where it says, and has each sentence a quote that supports it?

Flow: `build.py` -> **here** -> `stage.py`. A judge's families cut answers into sentences by **here**, too.
"""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from errors import ModelError
from eval.cases import Case
from eval.cells import Cell, failed, not_applicable, scored
from eval.metrics import contains, words
from eval.rows import Quote, Row, Seen
from eval.scoring.catalogue import names_of
from eval.scoring.stage import Cells, lacking
from query_engine.synthesis.citation_marks import MarkedSentence, MarkedSentences

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

# Cutting a text without any full stop into sentences takes time that grows with the square of its length.
MOST_CHARS = 20_000
_BEFORE_ROW = re.compile(r"(?<=\]) (?=\|)")
_AFTER_ROW = re.compile(r"(\|(?: ?\[\d+\])+) ")

Supports = Callable[[str, Sequence[Quote]], bool]


def score_citations(case: Case, row: Row, supports: Supports) -> Cells:
    """Return both metrics of one row; `supports` says whether quotes hold a sentence, and may raise ModelError."""
    if lack := lacking(case, row, "answer", "quotes"):
        return dict.fromkeys(names_of("citations"), lack)
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


def marked_sentences(answer: str) -> list[MarkedSentence]:
    """Return the sentences that hold a word, without headings; callers refuse answers of more than `MOST_CHARS`."""
    # A quoted row of a table stands within running text; on a separate line it differs from its neighbours.
    lines = _AFTER_ROW.sub(r"\1\n", _BEFORE_ROW.sub("\n", answer.replace("**", "")))
    reader = MarkedSentences()
    return [each for each in [*reader.feed(lines), *reader.finish()] if not each.heading and words(each.text)]


def supported(sentence: str, quotes: Sequence[Quote], embedder: "BaseEmbedding") -> bool:
    """Whether every clause of a sentence (without marks) is held by one of the quotes.

    The check is the one that a generated answer goes through before it is shown.
    """
    from query_engine.schema.passage import Passage  # noqa: PLC0415  # loads LlamaIndex
    from query_engine.synthesis.grounding import Evidence  # noqa: PLC0415

    passages = [
        Passage(
            node_id="",
            chunk_id="",
            doc_id=quote.doc_id or "",
            title=quote.title or "",
            url=quote.url,
            level="leaf",
            start=quote.start or 0,
            end=(quote.start or 0) + len(quote.quote or ""),
            pages=(),
            score=0.0,
            scores={},
            text=quote.quote or "",
        )
        for quote in quotes
    ]
    return Evidence(passages, embedder).check(sentence).supported
