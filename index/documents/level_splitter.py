"""One level of the passage tree, as a LlamaIndex node parser.

Flow: `splitter.py` gives three of these to LlamaIndex's `HierarchicalNodeParser` -> **here**: pieces of `blocks.py`,
packed in order as far as they fit, as LlamaIndex's own `SentenceSplitter` does. That one cuts into numbers, rows and
list items, and takes gigabytes for a text without spaces. To import this takes a second: it imports LlamaIndex's node
parsers.
"""

from collections.abc import Iterator
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.node_parser import TextSplitter

from index.documents.atoms import splits_atom
from index.documents.blocks import MAX_CHARS_PER_TOKEN, Cuts, Piece
from index.documents.structure import Span, stripped

# Where each boundary among so many splits a number, the text is nothing but digits.
TRIED_PIECES = 16


class LevelSplitter(TextSplitter):
    """Cuts the texts of one part of a document into passages of one level; for one part only.

    LlamaIndex's parser passes a level only texts, in order, so each is located after the one before it.

    Args:
        cuts: where the document may be cut.
        start: of the part in the document.
        max_tokens: of a passage.
        unit_tokens: of a row, list item or the like that no boundary falls into; those of a leaf, at every level.
    """

    _cuts: Cuts = PrivateAttr()
    _behind: int = PrivateAttr()
    _sizes: tuple[int, int] = PrivateAttr()
    _found: list[Span] = PrivateAttr(default_factory=list)

    def __init__(self, cuts: Cuts, start: int, max_tokens: int, unit_tokens: int, **kwargs: Any) -> None:
        super().__init__(include_metadata=False, include_prev_next_rel=False, **kwargs)
        self._cuts = cuts
        self._behind = start
        self._sizes = (max_tokens, unit_tokens)

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex serialises."""
        return "LevelSplitter"

    @property
    def found(self) -> list[Span]:
        """`[start, end)` in the document of all passages so far."""
        return self._found

    def split_text(self, text: str) -> list[str]:
        """Return the passages, without the space around them; blank ones are left out."""
        start = self._cuts.text.index(text, self._behind)
        self._behind = start + len(text)
        passages = []
        for first, last in self._passages(start, self._behind):
            begin, end = stripped(self._cuts.text, first, last)
            if begin < end:
                self._found.append((begin, end))
                passages.append(self._cuts.text[begin:end])
        return passages

    def _passages(self, start: int, end: int) -> Iterator[Span]:
        max_tokens, unit_tokens = self._sizes
        fits = self._cuts.within(max_tokens)
        if fits(start, end) is not None:
            yield start, end
            return
        pieces = list(self._cuts.pieces(start, end, fits, max_tokens, self._cuts.within(unit_tokens)))
        first = 0
        while first < len(pieces):
            last = _filled(pieces, first, max_tokens)
            # Tokens are counted piece by piece; where two meet inside a word, they may be more together.
            while last > first + 1 and fits(pieces[first].start, pieces[last - 1].end) is None:
                last -= 1
            if last < len(pieces):
                last = self._last_that_ends(pieces, first, last)
            yield pieces[first].start, pieces[last - 1].end
            first = last

    def _last_that_ends(self, pieces: list[Piece], first: int, last: int) -> int:
        """Return the last place up to `last` where a passage may end: not in a number, nor after a heading."""
        for place in range(last, max(first, last - TRIED_PIECES), -1):
            if not pieces[place - 1].leads and not splits_atom(self._cuts.text, pieces[place - 1].end):
                return place
        return last


def _filled(pieces: list[Piece], first: int, max_tokens: int) -> int:
    """Return the place after the last piece that still fits behind the first."""
    tokens, last = pieces[first].tokens, first + 1
    while last < len(pieces) and pieces[last].end - pieces[first].start <= max_tokens * MAX_CHARS_PER_TOKEN:
        tokens += pieces[last].tokens
        if tokens > max_tokens:
            break
        last += 1
    return last
