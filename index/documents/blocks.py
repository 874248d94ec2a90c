"""Find where a text may be cut: between sentences, else phrases, else words, and not inside a row or a list item.

Flow: `level_splitter.py` asks for the pieces of a text that fit a size, and for its units -> **here** -> it fills
passages with the pieces, and moves a boundary that falls into a unit. A piece is taken apart only where it does not
fit. No boundary falls into a number or a date (`atoms.py`). Pure, apart from what it remembers; linear in the text's
length.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from string import ascii_lowercase, ascii_uppercase, digits
from typing import TYPE_CHECKING, Literal, NamedTuple

from index.documents.atoms import is_date_alone, splits_atom

if TYPE_CHECKING:
    from nltk.tokenize import PunktSentenceTokenizer

REMEMBERED_VERDICTS = 16_384
REMEMBERED_BLOCKS, REMEMBERED_CHARS = 1024, 4000
# Longer prose is given to Punkt in parts: its patterns are not linear.
PUNKT_CHARS = 10_000
# Prose is wrapped at some 45 characters at least, in narrow columns.
WRAPPED_CHARS = 45
TRIED_SPACES, TRIED_LETTERS = 16, 48

_SHAPES = str.maketrans(ascii_lowercase + ascii_uppercase + digits, "a" * 26 + "A" * 26 + "1" * 10)
_RUN_OF_MARKS = re.compile(r"""[?!.][?!."'\s]{100}""")
_HEADING = re.compile(r" {0,3}#{1,6}\s")
_ITEM = re.compile(r"[ \t]*(?:[-*+•▪◦‣][ \t]|\(?(?:\d{1,4}|[a-z])[.)][ \t]|\d{3,4}[–-]\d{2,4}[.:]?[ \t])")
_NUMBERED = re.compile(r"[ \t]*\(?[\da-z]")
_KEY = re.compile(r"[ \t]*[^\s:.!?;,|#][^:.!?;,|\n]{0,39}:[ \t]+\S")
# Of a table's row as PDFs give it, at least the last two words are figures, dashes or signs of a currency.
_FIGURE = re.compile(r"[($€£-]*+(?:\d[\d.,]*+)?+[)%]*+|[—–]")
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*")
_CELL = re.compile(r"(?<=\s)\|\s+")
_PHRASE = re.compile(r"[,.;][\"'”’)\]]*\s+|[，、；：。！？]\s*")
_SPACE = re.compile(r"\s+")

Span = tuple[int, int]
Step = Callable[[str, int, int], Iterator[Span]]
Fits = Callable[[int, int], int | None]
Kind = Literal["heading", "row", "item", "record", "prose"]


class Piece(NamedTuple):
    """`[start, end)` of the text, the space after it included, and its tokens."""

    start: int
    end: int
    tokens: int


class Unit(NamedTuple):
    """`[start, end)` of the text, the space after it included, which stays together if a leaf holds it.

    Attributes:
        leads: it is a heading, which belongs to what follows.
    """

    start: int
    end: int
    leads: bool = False


class _Block(NamedTuple):
    start: int
    end: int
    kind: Kind


class BlockCutter:
    """Cuts texts into pieces. Remembers where sentences end, because each level of the tree asks again."""

    def __init__(self) -> None:
        self._remembered_ends = lru_cache(REMEMBERED_BLOCKS)(self._ends)

    def pieces(self, text: str, fits: Fits, chars: int) -> Iterator[Piece]:
        """Yield pieces that tile `text`, in order: sentences, else cells of a table, else phrases, else words.

        A number or a date may be two words, and so two pieces: words are many and boundaries few, so whether one
        splits a number is asked when it is set.

        Args:
            text: of a document or a passage.
            fits: returns the tokens of `text[start:end]`, or None if that is too large.
            chars: length of the pieces into which a word is cut that does not fit.
        """
        yield from _fitting(text, self._sentences(text), fits, chars, [_cells, _phrases, _words])

    def _sentences(self, text: str) -> Iterator[Span]:
        begin = first = 0
        while first < len(text):
            last = len(text) if len(text) - first <= PUNKT_CHARS else stop_before(text, first, first + PUNKT_CHARS)
            part = text[first:last]
            ends = self._remembered_ends(part) if len(part) <= REMEMBERED_CHARS else self._ends(part)
            # The last sentence may go on behind this part, and is read again with the next one.
            for stop in ends[:-1] or ends:
                if not is_date_alone(text[begin : first + stop].rstrip().rstrip(".")):
                    yield from _cut_after(_PARAGRAPH, text, begin, first + stop)
                    begin = first + stop
            first = last if last == len(text) else first + (ends[:-1] or ends)[-1]
        if begin < len(text):
            yield from _cut_after(_PARAGRAPH, text, begin, len(text))

    def _ends(self, text: str) -> tuple[int, ...]:
        """Return where each sentence ends, the space after it included."""
        if _RUN_OF_MARKS.search(text):  # Punkt takes such a run apart mark by mark
            return (len(text),)
        starts = [start for start, _ in self._punkt.span_tokenize(text)][1:]
        return (*(start for start in starts if not splits_atom(text, start)), len(text))

    @cached_property
    def _punkt(self) -> "PunktSentenceTokenizer":
        """Made for the first text that needs it: NLTK takes a second to import."""
        from nltk.tokenize import PunktSentenceTokenizer  # noqa: PLC0415

        punkt = PunktSentenceTokenizer()
        # Without a vocabulary its verdict depends on which letters are capitals, not on the letters.
        verdict = lru_cache(REMEMBERED_VERDICTS)(punkt.text_contains_sentbreak)
        punkt.text_contains_sentbreak = lambda context: verdict(context.translate(_SHAPES))
        return punkt


def units(text: str, fits: Fits) -> list[Unit]:
    """Return the headings, table rows, list items and records, in order; of a record that does not fit, its pairs."""
    found = []
    for start, end, kind in _blocks(text):
        if kind == "record" and fits(start, end) is None:
            found += [Unit(*pair) for pair in _pairs(text, start, end)]
        elif kind != "prose":
            found.append(Unit(start, end, kind == "heading"))
    return found


def parts(text: str, chars: int) -> Iterator[Span]:
    """Yield parts that tile `text`, of at most `chars` characters each, cut between blocks where there are any."""
    start = 0
    while len(text) - start > chars:
        *whole, _ = _blocks(text[start : start + chars])
        stop = start + whole[-1].end if whole else stop_before(text, start, start + chars)
        yield start, stop
        start = stop
    yield start, len(text)


def _fitting(text: str, spans: Iterable[Span], fits: Fits, chars: int, steps: list[Step]) -> Iterator[Piece]:
    """Yield the spans, those that do not fit cut by the next of the steps, and in the end by length."""
    for start, end in spans:
        if (tokens := fits(start, end)) is not None:
            yield Piece(start, end, tokens)
        elif steps:
            yield from _fitting(text, steps[0](text, start, end), fits, chars, steps[1:])
        else:
            # A single character is always a piece, because it cannot be cut.
            length = min(chars, max(1, (end - start) // 2))
            if end - start == 1:
                yield Piece(start, end, 0)
            else:
                yield from _fitting(text, _stretches(text, start, end, length), fits, length, [])


def _blocks(text: str) -> Iterator[_Block]:
    """Yield headings, table rows, list items, records of `key: value` lines and paragraphs, which tile the text."""
    kind: Kind | None = None
    begin = position = 0
    before = ""  # the line before, stripped
    for line in text.splitlines(keepends=True):
        if (stripped := line.strip()) and (new := _begun_by(line, kind, before)):
            if kind:
                yield _Block(begin, position, kind)
                begin = position
            kind = new
        before = stripped
        position += len(line)
    if begin < position:
        yield _Block(begin, position, kind or "prose")


def _begun_by(line: str, kind: Kind | None, before: str) -> Kind | None:
    """Return the kind of block that a line begins; None if it belongs to the block before it."""
    inside_prose = kind == "prose" and _goes_on(before)
    if _HEADING.match(line):
        return "heading"
    if " | " in line or "\t" in line.strip() or line.lstrip().startswith("|") or _ends_in_figures(line):
        return "row"
    if _ITEM.match(line) and not (inside_prose and _NUMBERED.match(line)):
        return "item"
    if _KEY.match(line) and not inside_prose:
        return "record" if kind != "record" or not before else None
    if not before or kind in {None, "heading", "row"}:
        return "prose"
    # PDFs have no blank line between a list and the text after it.
    ends = (kind == "record" or (kind == "item" and not line[0].isspace())) and not _goes_on(before)
    return "prose" if ends else None


def _ends_in_figures(line: str) -> bool:
    last = line.rsplit(maxsplit=2)[-2:]
    return len(last) == 2 and all(map(_FIGURE.fullmatch, last))


def _goes_on(line: str) -> bool:
    """Tell a line of wrapped prose, whose sentence goes on in the next line."""
    return len(line) >= WRAPPED_CHARS and line[-1] not in ".!?:;"


def _pairs(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the `key: value` lines of a record, each with the lines that its value takes."""
    begin = start
    for match in re.finditer(r"\n", text[start:end]):
        at = start + match.end()
        if _KEY.match(text, at, end):
            yield begin, at
            begin = at
    yield begin, end


def _cells(text: str, start: int, end: int) -> Iterator[Span]:
    return _cut_after(_CELL, text, start, end)


def _phrases(text: str, start: int, end: int) -> Iterator[Span]:
    begin = start
    for _, stop in _cut_after(_PHRASE, text, start, end):
        if stop == end or not splits_atom(text, stop):
            yield begin, stop
            begin = stop


def _words(text: str, start: int, end: int) -> Iterator[Span]:
    return _cut_after(_SPACE, text, start, end)


def _cut_after(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[Span]:
    begin = start
    for match in pattern.finditer(text, start, end):
        if match.end() < end:
            yield begin, match.end()
            begin = match.end()
    yield begin, end


def _stretches(text: str, start: int, end: int, chars: int) -> Iterator[Span]:
    """Yield pieces of at most `chars` characters that end between words, where there are any."""
    while end - start > chars:
        stop = stop_before(text, start, start + chars)
        yield start, stop
        start = stop
    yield start, end


def stop_before(text: str, start: int, limit: int) -> int:
    """Return where to cut `text[start:]` at `limit` or before: after a word, else after a letter, never in a number."""
    spaces = [match.end() for match in _SPACE.finditer(text, start, limit)]
    for at in spaces[:-TRIED_SPACES:-1]:
        if text[at - 2 : at] != ": " and not splits_atom(text, at):
            return at
    for at in range(limit, max(start, limit - TRIED_LETTERS), -1):
        if not splits_atom(text, at) and not unicodedata.combining(text[at : at + 1] or " "):
            return at
    return limit
