"""Score the citations: does each quote stand where it says, and has each sentence a quote that supports it?

Flow: `build.py` -> **here** -> `stage.py`. A judge's families cut answers into sentences by **here**, too.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from eval.cases import Case
from eval.cells import Cell, failed, not_applicable, scored
from eval.metrics import contains, word_recall, words
from eval.rows import Quote, Row, Seen
from eval.scoring.catalogue import names_of
from eval.scoring.stage import Cells, lacking
from index.documents.sentences import split_sentences

# Cutting a text without any full stop into sentences takes time that grows with the square of its length.
MOST_CHARS = 20_000
_BEFORE_ROW = re.compile(r"(?<=\]) (?=\|)")
_AFTER_ROW = re.compile(r"(\|(?: ?\[\d+\])+) ")

_MARK = re.compile(r" ?\[(\d{1,3})\]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# Of a sentence's content words.
SUPPORT_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    """A sentence of an answer without its marks, and the numbers of the citations that it bears, in order."""

    text: str
    numbers: tuple[int, ...]


def score_citations(case: Case, row: Row) -> Cells:
    """Return both metrics of one row."""
    if lack := lacking(case, row, "answer", "quotes"):
        return dict.fromkeys(names_of("citations"), lack)
    return {"citation_precision": _precision(row), "citation_recall": _recall(row)}


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


def _recall(row: Row) -> Cell:
    answer = row.answer or ""
    length = len(answer) + sum(len(citation.quote or "") for citation in row.citations)
    if length > MOST_CHARS:
        return failed(f"answer and quotes have {length} characters; up to {MOST_CHARS} are compared")
    sentences = marked_sentences(answer)
    if not sentences:
        return not_applicable("the answer has no sentence")
    return scored(sum(_is_held(each, row.citations) for each in sentences) / len(sentences))


def _is_held(sentence: MarkedSentence, citations: Sequence[Quote]) -> bool:
    """Whether the quotes that a sentence names hold all its numbers and most of its content words."""
    held = "\n".join(one.quote or "" for one in citations if one.number in sentence.numbers)
    has_numbers = set(_NUMBER.findall(sentence.text)) <= set(_NUMBER.findall(held))
    return bool(contains(held, sentence.text)) or (has_numbers and word_recall(held, sentence.text) >= SUPPORT_SHARE)


def marked_sentences(answer: str) -> list[MarkedSentence]:
    """Return the sentences that hold a word, without headings; callers refuse answers of more than `MOST_CHARS`.

    A mark belongs to the sentence that it stands in or behind; before all text, to the first one.
    """
    # A quoted row of a table stands within running text; on a separate line it differs from its neighbours.
    lines = _AFTER_ROW.sub(r"\1\n", _BEFORE_ROW.sub("\n", answer.replace("**", "")))
    plain, position, marks = "", 0, []
    for mark in _MARK.finditer(lines):
        plain += lines[position : mark.start()]
        marks.append((len(plain), int(mark[1])))
        position = mark.end()
    plain += lines[position:]
    found = split_sentences(plain)
    begins = [0, *(sentence.start for sentence in found[1:]), len(plain) + 1]
    return [
        MarkedSentence(text, tuple(number for at, number in marks if begin <= at < begins[nth + 1]))
        for nth, (sentence, begin) in enumerate(zip(found, begins, strict=False))
        if sentence.kind != "heading" and words(text := plain[sentence.start : sentence.end])
    ]
