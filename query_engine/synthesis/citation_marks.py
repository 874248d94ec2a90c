"""Cut what a language model writes into sentences, and read which documents each of them cites.

Flow: the model's visible text, piece by piece -> **here** -> `draft.py`. A model cites the documents of its prompt
by rank: `[2]`, `[1, 3]`, `[DOC 1]`, before the full stop or after it. A sentence is handed over once the next one has
begun, since a mark may still follow it.
"""

import re
from dataclasses import dataclass

from index.documents.sentences import split_sentences

_LABELS = ("documents", "document", "docs", "doc", "ranks", "rank", "sources", "source", "passages", "passage", "and")
_FILLER = rf"\s|[,;&#=:._–-]|{'|'.join(_LABELS)}"
_MARK = re.compile(rf"\[(?:{_FILLER})*\d{{1,3}}(?!\d)(?:{_FILLER}|\d{{1,3}}(?!\d))*\]", re.IGNORECASE)
_MAX_MARK_CHARS = 48
_BEGUN = re.compile(r"\[[\w\s,;&#=:.–-]*\Z", re.ASCII)
_ITEM = re.compile(r"\d{1,2}[.)]\s+")


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    """One sentence as the model meant it.

    Attributes:
        lead: what stands before it: space, line breaks, the sign of a list item or a heading.
        text: without its marks.
        marks: where in `text` each rank was cited, `(offset, rank)`, in order.
        heading: it is marked as a heading.
    """

    lead: str
    text: str
    marks: tuple[tuple[int, int], ...]
    heading: bool


class MarkedSentences:
    """Reads one answer."""

    def __init__(self) -> None:
        self._held = ""
        self._plain = ""
        self._marks: list[tuple[int, int]] = []
        self._begun: MarkedSentence | None = None

    @property
    def begun(self) -> MarkedSentence | None:
        """The sentence that has begun and may go on, with the space after it; what may become a mark is left out."""
        return self._begun

    def feed(self, piece: str) -> list[MarkedSentence]:
        """Take the next piece of text and return the sentences that are finished by it."""
        self._read(self._held + piece)
        return self._finished(last=False)

    def finish(self) -> list[MarkedSentence]:
        """Return what was held back; the text is over."""
        self._plain, self._held = self._plain + self._held, ""
        return self._finished(last=True)

    def _read(self, text: str) -> None:
        """Move text to `_plain` and marks to `_marks`; hold back what may still become a mark."""
        position = 0
        for match in _MARK.finditer(text):
            if len(match[0]) > _MAX_MARK_CHARS:
                continue
            self._plain = (self._plain + text[position : match.start()]).rstrip(" \t")
            self._marks += [(len(self._plain), int(rank)) for rank in re.findall(r"\d+", match[0])]
            position = match.end()
        rest = text[position:]
        self._held = _possible_mark(rest)
        self._plain += rest[: len(rest) - len(self._held)]

    def _finished(self, *, last: bool) -> list[MarkedSentence]:
        found = split_sentences(self._plain)
        done = found if last else found[:-1]
        limits = [sentence.start for sentence in found[1:]] + [len(self._plain) + 1]
        sentences, lead_from, marks_from = [], 0, 0
        for sentence, limit in zip(done, limits, strict=False):
            start, end = sentence.start + _item_chars(self._plain, sentence.start, sentence.end), sentence.end
            # A mark before all text, or after the sentence's end, stands at its end.
            marks = tuple(
                ((at if start < at < end else end) - start, rank)
                for at, rank in self._marks
                if marks_from <= at < limit
            )
            lead, heading = self._plain[lead_from:start], sentence.kind == "heading"
            sentences.append(MarkedSentence(lead, self._plain[start:end], marks, heading))
            lead_from, marks_from = end, limit
        self._begun = None
        if not last and found:
            open_, start = found[-1], found[-1].start + _item_chars(self._plain, found[-1].start, len(self._plain))
            text, lead = self._plain[start:], self._plain[lead_from:start]
            open_marks = tuple((at - start, rank) for at, rank in self._marks if at >= marks_from)
            self._begun = MarkedSentence(lead, text, open_marks, open_.kind == "heading")
        self._plain = self._plain[lead_from:]
        self._marks = [(at - lead_from, rank) for at, rank in self._marks if at >= marks_from]
        return sentences


def _item_chars(text: str, start: int, end: int) -> int:
    """Length of a list item's number, which is not part of the sentence; 0 where the number is all there is."""
    item = _ITEM.match(text, start, end)
    return item.end() - start if item else 0


def _possible_mark(text: str) -> str:
    """The end of `text` that may be the beginning of a mark; empty if there is none."""
    begun = _BEGUN.search(text, max(0, len(text) - _MAX_MARK_CHARS))
    if begun is None:
        return ""
    *words, last = re.findall(r"[a-z]+", begun[0].lower()) or [""]
    unfinished = begun[0][-1].isalpha() or not last
    possible = any(label.startswith(last) for label in _LABELS) if unfinished else last in _LABELS
    return begun[0] if possible and all(word in _LABELS for word in words) else ""
