"""One level of the passage tree, as a LlamaIndex node parser.

Flow: `splitter.py` gives three of these to LlamaIndex's `HierarchicalNodeParser` -> **here**: pieces of `blocks.py`,
packed in order as far as they fit. LlamaIndex's own `SentenceSplitter` cuts into numbers, rows and list items, and
takes gigabytes for a text without spaces. To import this takes a second: it imports LlamaIndex's
node parsers.
"""

from collections.abc import Callable
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.node_parser import TextSplitter

from index.documents.blocks import BlockCutter, Piece


class LevelSplitter(TextSplitter):
    """Cuts a text into passages of one level.

    Args:
        cutter: finds the pieces.
        count_tokens: the embedding model's token count of a text.
        max_tokens: of a passage.
        max_chars: of a passage.
    """

    _cutter: BlockCutter = PrivateAttr()
    _count_tokens: Callable[[str], int] = PrivateAttr()
    _max_tokens: int = PrivateAttr()
    _max_chars: int = PrivateAttr()

    def __init__(
        self, cutter: BlockCutter, count_tokens: Callable[[str], int], max_tokens: int, max_chars: int, **kwargs: Any
    ) -> None:
        super().__init__(include_metadata=False, include_prev_next_rel=False, **kwargs)
        self._cutter = cutter
        self._count_tokens = count_tokens
        self._max_tokens = max_tokens
        self._max_chars = max_chars

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex serialises."""
        return "LevelSplitter"

    def split_text(self, text: str) -> list[str]:
        """Return the passages, without the space around them; blank ones are left out."""
        # Attributes of a pydantic model are slow to look up.
        count_tokens, max_tokens, max_chars = self._count_tokens, self._max_tokens, self._max_chars

        def tokens_of(start: int, end: int) -> int | None:
            if end - start > max_chars:
                return None
            tokens = count_tokens(text[start:end])
            return tokens if tokens <= max_tokens else None

        if tokens_of(0, len(text)) is not None:
            return [text.strip()] if text.strip() else []
        pieces = list(self._cutter.pieces(text, tokens_of, max_tokens))
        passages = []
        first = 0
        while first < len(pieces):
            last = _filled(pieces, first, max_tokens, max_chars)
            # Tokens are counted piece by piece; where two meet inside a word, they may be more together.
            while last > first + 1 and tokens_of(pieces[first].start, pieces[last - 1].end) is None:
                last -= 1
            while last > first + 1 and last < len(pieces) and pieces[last - 1].leads:
                last -= 1
            if passage := text[pieces[first].start : pieces[last - 1].end].strip():
                passages.append(passage)
            first = last
        return passages


def _filled(pieces: list[Piece], first: int, max_tokens: int, max_chars: int) -> int:
    """Return the place after the last piece that still fits behind the first."""
    tokens, last = pieces[first].tokens, first + 1
    while last < len(pieces) and pieces[last].end - pieces[first].start <= max_chars:
        tokens += pieces[last].tokens
        if tokens > max_tokens:
            break
        last += 1
    return last
