"""Cut a paper into paragraphs of nearly equal length, which are the leaves of its tree.

Flow: `splitter.py` gives the text of a paper -> **here** -> sentences of `blocks.py`, packed -> spans. Papers are
searched by paragraph (`docs/xdd.md`), and a paragraph holds more than a leaf of other documents. Pure.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from index.documents.atoms import splits_atom
from index.documents.blocks import BlockCutter
from index.documents.span_tree import LEAF, NO_PARENT, Span

# Of the interval in which the smallest possible size of the largest group is sought.
HALVINGS = 12
# Of a sum of shares that fill a group exactly.
ROUNDING = 1e-9


class _Part(NamedTuple):
    """`[start, end)` of the text, and its tokens."""

    start: int
    end: int
    tokens: int


def paragraph_spans(
    text: str,
    cutter: BlockCutter,
    count_tokens: Callable[[str], int],
    *,
    max_words: int,
    sizes: tuple[int, int, int],
    chars_per_token: int,
) -> list[Span]:
    """Return the tree of a text: as few paragraphs as possible, in middles and roots; nothing of a blank text.

    Args:
        text: of a paper.
        cutter: finds sentences, and smaller pieces of one that is too long.
        count_tokens: the embedding model's token count of a text.
        max_words: of a paragraph.
        sizes: tokens of a root, a middle and a paragraph, at most.
        chars_per_token: bounds a paragraph in characters.
    """
    max_tokens = sizes[LEAF]

    def fits(start: int, end: int) -> int | None:
        part = text[start:end]
        if len(part) > max_tokens * chars_per_token or len(part.split()) > max_words:
            return None
        tokens = count_tokens(part)
        return tokens if tokens <= max_tokens else None

    def share(part: _Part) -> float:
        """Return how much of a paragraph it fills."""
        words, chars = len(text[part.start : part.end].split()), part.end - part.start
        return max(words / max_words, part.tokens / max_tokens, chars / (max_tokens * chars_per_token))

    pieces = list(_whole_atoms(text, [_Part(*piece) for piece in cutter.pieces(text, fits, max_tokens)]))
    grouped = [_joined(group) for group in _packed(pieces, [share(piece) for piece in pieces])]
    levels = [[part for part in grouped if text[part.start : part.end].strip()]]
    parents: list[list[int]] = []
    for size in (sizes[1], sizes[0]):
        groups = _packed(levels[0], [part.tokens / size for part in levels[0]])
        parents.insert(0, [place for place, group in enumerate(groups) for _ in group])
        levels.insert(0, [_joined(group) for group in groups])
    spans: list[Span] = []
    for level, parts in enumerate(levels):
        above = len(spans) - len(levels[level - 1])
        for place, part in enumerate(parts):
            content = text[part.start : part.end]
            start = part.start + len(content) - len(content.lstrip())
            parent = above + parents[level - 1][place] if level else NO_PARENT
            spans.append(Span(level, start, start + len(content.strip()), parent))
    return spans


def _whole_atoms(text: str, pieces: Sequence[_Part]) -> Iterator[_Part]:
    """Yield the pieces, those joined between which a boundary would split a number or a date."""
    kept: list[_Part] = []
    for piece in pieces:
        if kept and not splits_atom(text, piece.start):
            yield _joined(kept)
            kept = []
        kept.append(piece)
    if kept:
        yield _joined(kept)


def _joined(parts: Sequence[_Part]) -> _Part:
    return _Part(parts[0].start, parts[-1].end, sum(part.tokens for part in parts))


def _packed(parts: Sequence[_Part], shares: Sequence[float]) -> list[Sequence[_Part]]:
    """Group parts in order: as few groups as have room for their shares, the largest as small as possible.

    A share above 1 is a group by itself.
    """
    few, most = _bounds(shares, 1.0), 1.0
    least = 0.0
    for _ in range(HALVINGS):
        limit = (least + most) / 2
        found = _bounds(shares, limit)
        if len(found) == len(few):
            few, most = found, limit
        else:
            least = limit
    return [parts[first:last] for first, last in pairwise(few)]


def _bounds(shares: Sequence[float], limit: float) -> list[int]:
    """Return where groups begin that are filled up to a limit, one after the other, and where the last one ends."""
    bounds, load = [0], 0.0
    for place, share in enumerate(shares):
        if load and load + share > limit + ROUNDING:
            bounds.append(place)
            load = 0.0
        load += share
    return bounds if not shares else [*bounds, len(shares)]
