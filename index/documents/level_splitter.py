"""One level of the passage tree, as a LlamaIndex node parser.

Flow: `splitter.py` gives three of these to LlamaIndex's `HierarchicalNodeParser` -> **here**: pieces of `blocks.py`,
packed in order as far as they fit, as LlamaIndex's own `SentenceSplitter` does. That one cuts into numbers, rows and
list items, and takes gigabytes for a text without spaces; here a boundary that falls into such a unit moves to its end,
or to its start. To import this takes a second: it imports LlamaIndex's node parsers.
"""

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.node_parser import TextSplitter

from index.documents.atoms import splits_atom
from index.documents.blocks import BlockCutter, Fits, Piece, Unit, units

# Where each boundary among so many splits a number, the text is nothing but digits.
TRIED_PIECES = 16


class LevelSplitter(TextSplitter):
    """Cuts a text into passages of one level.

    Args:
        cutter: finds the pieces.
        count_tokens: the embedding model's token count of a text.
        max_tokens: of a passage.
        unit_tokens: of a row, list item or the like that no boundary falls into; those of a leaf, at every level.
        chars_per_token: bounds passages and units in characters.
    """

    _cutter: BlockCutter = PrivateAttr()
    _count_tokens: Callable[[str], int] = PrivateAttr()
    _sizes: tuple[int, int, int] = PrivateAttr()

    def __init__(
        self,
        cutter: BlockCutter,
        count_tokens: Callable[[str], int],
        max_tokens: int,
        unit_tokens: int,
        chars_per_token: int,
        **kwargs: Any,
    ) -> None:
        super().__init__(include_metadata=False, include_prev_next_rel=False, **kwargs)
        self._cutter = cutter
        self._count_tokens = count_tokens
        self._sizes = (max_tokens, unit_tokens, chars_per_token)

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex serialises."""
        return "LevelSplitter"

    def split_text(self, text: str) -> list[str]:
        """Return the passages, without the space around them; blank ones are left out."""
        max_tokens, unit_tokens, chars_per_token = self._sizes
        fits = _within(text, max_tokens, max_tokens * chars_per_token, self._count_tokens)
        fits_leaf = _within(text, unit_tokens, unit_tokens * chars_per_token, self._count_tokens)
        if fits(0, len(text)) is not None:
            return [text.strip()] if text.strip() else []
        pieces = list(self._cutter.pieces(text, fits, max_tokens))
        whole = units(text, fits_leaf)
        passages = []
        first = 0
        while first < len(pieces):
            start = pieces[first].start
            last = _filled(pieces, first, max_tokens, max_tokens * chars_per_token)
            # Tokens are counted piece by piece; where two meet inside a word, they may be more together.
            while last > first + 1 and fits(start, pieces[last - 1].end) is None:
                last -= 1
            ends = [piece.end for piece in pieces[max(first, last - TRIED_PIECES) : last]]
            end = next((end for end in reversed(ends) if not splits_atom(text, end)), ends[-1])
            while end < len(text) and (unit := _parted(whole, end)) and fits_leaf(unit.start, unit.end) is not None:
                if not unit.leads and fits(start, unit.end) is not None:
                    end = unit.end
                elif unit.start > start:
                    end = unit.start
                else:
                    break
            if passage := text[start:end].strip():
                passages.append(passage)
            while first < len(pieces) and pieces[first].end <= end:
                first += 1
            if first < len(pieces) and (rest := pieces[first]).start < end:
                pieces[first] = Piece(end, rest.end, self._count_tokens(text[end : rest.end]))
        return passages


def _within(text: str, max_tokens: int, max_chars: int, count_tokens: Callable[[str], int]) -> Fits:
    """Return a function that returns the tokens of `text[start:end]`, or None if that is too large."""

    def fits(start: int, end: int) -> int | None:
        if end - start > max_chars:
            return None
        tokens = count_tokens(text[start:end])
        return tokens if tokens <= max_tokens else None

    return fits


def _parted(whole: list[Unit], place: int) -> Unit | None:
    """Return the unit that a boundary at this place would cut, or the heading that it would part from its text."""
    before = bisect_left(whole, (place,)) - 1
    if before < 0:
        return None
    unit = whole[before]
    return unit if place < unit.end + unit.leads else None


def _filled(pieces: list[Piece], first: int, max_tokens: int, max_chars: int) -> int:
    """Return the place after the last piece that still fits behind the first."""
    tokens, last = pieces[first].tokens, first + 1
    while last < len(pieces) and pieces[last].end - pieces[first].start <= max_chars:
        tokens += pieces[last].tokens
        if tokens > max_tokens:
            break
        last += 1
    return last
