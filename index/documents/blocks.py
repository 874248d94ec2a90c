"""Find where a document may be cut: between sentences, else blocks, else the cells of a row, phrases or words.

Flow: `splitter.py` gives a document and its blocks -> **here** -> `level_splitter.py` and `paragraphs.py` fill passages
with the pieces. A heading, a list item, a row or a record that fits a leaf is never cut, nor is a number or a date
(`atoms.py`). What a block is its reader knew, or `guess.py` said. Pure, apart from what it remembers; linear in the
text's length.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from index.documents.atoms import splits_atom, stop_before
from index.documents.sentences import sentence_ends
from index.documents.structure import Block, Span, Structure

# Three times what prose has, because a word of any length may be one token; a leaf of 128 tokens has at most 2,048.
MAX_CHARS_PER_TOKEN = 16

_PHRASE = re.compile(r"[,.;][\"'”’)\]]*\s+|[，、；：。！？]\s*")
_LINE = re.compile(r"\n\s*")
_SPACE = re.compile(r"\s+")
_STOP = re.compile(r"(?:[.!?][\"'”’)\]]*|[。！？])\Z")
_PROSE = frozenset({"paragraph", "quote"})

Step = Callable[[str, int, int], Iterable[int]]
Fits = Callable[[int, int], int | None]


class _Span(NamedTuple):
    start: int
    end: int
    leads: bool = False


class Piece(NamedTuple):
    """`[start, end)` of the text, the space after it included, and its tokens.

    Attributes:
        leads: it belongs to what follows: a heading, or the row that names the columns.
    """

    start: int
    end: int
    tokens: int
    leads: bool = False


class Cuts:
    """Where a document may be cut. Remembers sentences and tokens, because each level of the tree asks again.

    Args:
        text: of the document.
        structure: its blocks.
        count_tokens: the embedding model's token count of a text.
    """

    def __init__(self, text: str, structure: Structure, count_tokens: Callable[[str], int]) -> None:
        self.text = text
        self._structure = structure
        self._count_tokens = count_tokens
        self._tokens: dict[Span, int] = {}
        self._places: dict[int, list[int]] = {}

    def within(self, max_tokens: int) -> Fits:
        """Return a function that counts the tokens of `text[start:end]`; None if that is too large."""

        def fits(start: int, end: int) -> int | None:
            if end - start > max_tokens * MAX_CHARS_PER_TOKEN:
                return None
            tokens = self._tokens.get((start, end))
            if tokens is None:
                tokens = self._tokens[start, end] = self._count_tokens(self.text[start:end])
            return tokens if tokens <= max_tokens else None

        return fits

    def pieces(self, start: int, end: int, fits: Fits, chars: int, whole: Fits | None = None) -> Iterator[Piece]:
        """Yield pieces that tile `text[start:end]`, in order.

        Between two of them a sentence or a paragraph ends, unless that would be too large for a piece: so a passage
        begins with a table's title, and seldom in the midst of a list. A number or a date may be two words, and so two
        pieces: words are many and boundaries few, so whether one splits a number is asked when it is set.

        Args:
            start: of a passage.
            end: of the same passage.
            fits: returns the tokens of `text[start:end]`, or None if that is too large for a piece.
            chars: length of the pieces into which a word is cut that does not fit.
            whole: the same for what stays whole, no larger than a piece; nothing does if left out.
        """
        run: list[_Span] = []
        for span in self._spans(start, end, whole):
            run.append(span)
            if span.end < end and not self._ends(span):
                continue
            if (tokens := fits(run[0].start, span.end)) is not None:
                yield Piece(run[0].start, span.end, tokens, span.leads)
            else:
                for one in run:
                    for piece in self._fitting([(one.start, one.end)], fits, chars, _STEPS):
                        yield piece._replace(leads=one.leads)
            run = []

    def _ends(self, span: _Span) -> bool:
        """Whether a sentence or a paragraph ends with a span."""
        words = self.text[span.start : span.end].rstrip()
        return self.text.count("\n", span.start + len(words), span.end) > 1 or _STOP.search(words) is not None

    def _spans(self, start: int, end: int, whole: Fits | None) -> Iterator[_Span]:
        """Yield sentences, and what stays whole."""
        blocks = [self._structure.blocks[place] for place in self._structure.between(start, end)]
        for record in _records(self.text, blocks):
            keep = None if record[0].kind in _PROSE else whole
            first, last = max(start, record[0].start), min(end, record[-1].end)
            if keep and keep(first, last) is not None:
                yield _Span(first, last, record[0].kind == "heading" or record[0].header)
                continue
            for block in record:
                first, last = max(start, block.start), min(end, block.end)
                if keep and keep(first, last) is not None:
                    yield _Span(first, last)
                else:
                    yield from (_Span(*span) for span in self._bounds(block, first, last))

    def _bounds(self, block: Block, start: int, end: int) -> Iterator[Span]:
        """Yield what a block is made of, as far as it lies in `[start, end)`."""
        places = self._places.get(block.start)
        if places is None:
            places = self._places[block.start] = list(_places(self.text, block))
        inside = places[bisect_right(places, start) : bisect_left(places, end)]
        return pairwise([start, *inside, end])

    def _fitting(self, spans: Iterable[Span], fits: Fits, chars: int, steps: Sequence[Step]) -> Iterator[Piece]:
        """Yield the spans, those that do not fit cut by the next of the steps, and in the end by length."""
        for start, end in spans:
            if (tokens := fits(start, end)) is not None:
                yield Piece(start, end, tokens)
            elif steps:
                places = (place for place in steps[0](self.text, start, end) if start < place < end)
                yield from self._fitting(pairwise([start, *places, end]), fits, chars, steps[1:])
            elif end - start == 1:  # a single character cannot be cut
                yield Piece(start, end, 0)
            else:
                length = min(chars, max(1, (end - start) // 2))
                yield from self._fitting(_stretches(self.text, start, end, length), fits, length, ())


def parts(text: str, structure: Structure, chars: int) -> Iterator[Span]:
    """Yield parts that tile `text`, of at most `chars` characters each, which end with a block where they can."""
    ends = [block.end for block in structure.blocks] or [len(text)]  # a blank text has none
    start = 0
    while len(text) - start > chars:
        last = ends[bisect_right(ends, start + chars) - 1]
        stop = last if start < last <= start + chars else stop_before(text, start, start + chars)
        yield start, stop
        start = stop
    yield start, len(text)


def _records(text: str, blocks: Sequence[Block]) -> Iterator[Sequence[Block]]:
    """Yield the pairs of a record, between which no line is blank, together, and each other block by itself."""
    first = 0
    for place, (block, following) in enumerate(pairwise(blocks), start=1):
        if not (block.kind == following.kind == "pair" and text.count("\n", block.inner[1], block.end) < 2):
            yield blocks[first:place]
            first = place
    if blocks:
        yield blocks[first:]


def _places(text: str, block: Block) -> Iterable[int]:
    """Return where the lines of code begin, the cells of a row, else sentences; space ends what stands before it."""
    if block.kind in {"code", "front_matter"}:
        return _after(_LINE, text, block.start, block.end)
    if block.kind == "row":
        # A cell on a line of its own begins with that line, where its key stands.
        return sorted({text.rfind("\n", end, start) + 1 or start for (_, end), (start, _) in pairwise(block.cells)})
    return _sentences(text, block.start, block.end)


def _sentences(text: str, start: int, end: int) -> Iterator[int]:
    for place in sentence_ends(text, start, end):
        space = _SPACE.match(text, place, end)
        yield space.end() if space else place


def _phrases(text: str, start: int, end: int) -> Iterator[int]:
    return (place for place in _after(_PHRASE, text, start, end) if not splits_atom(text, place))


def _words(text: str, start: int, end: int) -> Iterator[int]:
    return _after(_SPACE, text, start, end)


def _after(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[int]:
    return (match.end() for match in pattern.finditer(text, start, end))


def _stretches(text: str, start: int, end: int, chars: int) -> Iterator[Span]:
    """Yield pieces of at most `chars` characters that end between words, where there are any."""
    while end - start > chars:
        stop = stop_before(text, start, start + chars)
        yield start, stop
        start = stop
    yield start, end


_STEPS: Sequence[Step] = (_sentences, _phrases, _words)
