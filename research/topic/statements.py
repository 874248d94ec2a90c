"""Split an answer into statements, each with its citations.

Flow: `Done.answer` with its `[n]` -> **here** -> `survey.py`, which renumbers them; `summary.py`, `conflicts.py` and
`report.py` read them. Pure.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from index.documents.sentences import split_sentences
from query_engine.schema.events import Citation, Done
from query_engine.text.content_words import content_stems
from query_engine.text.words import WORD
from research.topic.citation_numbers import marks

_MARKS = re.compile(r"[ \t]*((?:\[\d{1,3}\])+)")
_NUMBER = re.compile(r"\d+")
_ENDED = re.compile(r"[.!?:;…]['\"”’)*_]*$")
_GOES_ON = re.compile(r"\s*(?:[,;.!?)]|[a-z])")
_LIST_LINE = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)]|\|)\s")
# "In detail:" before a list.
_LEAD = re.compile(r"\A(?:\w+ ){0,2}\w+:[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Statement:
    """A piece of an answer.

    Attributes:
        text: Markdown without marks: sentences, or the lines of a list.
        citations: what supports it, at least one.
    """

    text: str
    citations: tuple[Citation, ...]

    def shown(self) -> str:
        """Return it with its marks."""
        return f"{self.text} {marks(self.citations)}"

    @property
    def is_block(self) -> bool:
        """Whether it is a list or a table, which begins on a line for itself."""
        return "\n" in self.text or _LIST_LINE.match(self.text) is not None

    def sentences(self) -> list[str]:
        """Return its sentences; of a list its lines."""
        if self.is_block:
            return [line for line in self.text.splitlines() if line.strip()]
        return [self.text[one.start : one.end] for one in split_sentences(self.text)]

    def without(self, said: Collection[str]) -> "Statement | None":
        """Return it without the sentences whose `words_of` are in `said`; None if nothing of use is left."""
        sentences = self.sentences()
        kept = [sentence for sentence in sentences if words_of(sentence) not in said]
        if len(kept) == len(sentences):
            return self
        text = ("\n" if self.is_block else " ").join(kept).strip()
        return replace(self, text=text) if _says_something(text) else None


def statements_of(done: Done) -> list[Statement]:
    """Return the statements of an answer in order; none of a declined one.

    What cites nothing is left out, and so are lines that only lead in what was not quoted.
    """
    if done.answer is None:
        return []
    known: dict[int, list[Citation]] = {}
    for citation in done.citations:
        known.setdefault(citation.number, []).append(citation)
    pieces = (replace(one, text=_LEAD.sub("", one.text)) for one in _joined(_pieces(done.answer, known)))
    return [one for one in pieces if _says_something(one.text)]


def words_of(sentence: str) -> str:
    """Return what two sentences share that say the same in the same words."""
    return " ".join(WORD.findall(sentence.casefold()))


def joined(statements: Sequence[Statement]) -> str:
    """Return the statements as Markdown: prose goes on in one paragraph, lists stand between them."""
    text, before = "", False
    for one in statements:
        gap = "" if not text else "\n\n" if one.is_block or before else " "
        text, before = f"{text}{gap}{one.shown()}", one.is_block
    return text


def _pieces(answer: str, known: dict[int, list[Citation]]) -> Iterator[Statement]:
    text, position = "", 0
    for mark in _MARKS.finditer(answer):
        numbers = [int(number) for number in _NUMBER.findall(mark[1])]
        if not any(number in known for number in numbers):
            continue  # brackets of the document
        text = answer[position : mark.start()]
        position = mark.end()
        yield Statement(text, tuple(one for number in numbers for one in known.get(number, ())))
    rest = answer[position:]
    if _GOES_ON.match(rest):
        yield Statement(rest, ())


def _joined(pieces: Iterator[Statement]) -> list[Statement]:
    """Join the pieces of a sentence that a citation mark inside it has split."""
    found: list[Statement] = []
    for piece in pieces:
        if found and _GOES_ON.match(piece.text) and not _ENDED.search(found[-1].text):
            gap = "" if piece.text[:1] in ",;.!?)" else " "
            citations = tuple(dict.fromkeys([*found[-1].citations, *piece.citations]))
            found[-1] = Statement(f"{found[-1].text}{gap}{piece.text.strip()}", citations)
        elif piece.citations:
            found.append(replace(piece, text=piece.text.strip()))
    return found


def _says_something(text: str) -> bool:
    return bool(content_stems(text)) and not text.rstrip().endswith(":")
