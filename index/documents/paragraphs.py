"""Cut a paper into paragraphs of nearly equal length, which are the leaves of its tree.

Flow: `splitter.py` gives a part of a paper -> **here** -> sentences of `blocks.py`, packed -> spans. Papers are
searched by paragraph (`docs/http.md`), and a paragraph holds more than a leaf of other documents. Pure.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from index.documents.atoms import splits_atom
from index.documents.blocks import MAX_CHARS_PER_TOKEN, Cuts, Piece
from index.documents.span_tree import LEAF, NO_PARENT, Span
from index.documents.structure import stripped

PAPER_WORDS = 250
"""Words of a paragraph, at most; a change has papers read again."""
# Of the interval in which the smallest possible size of the largest group is sought.
HALVINGS = 12
# Of a sum of shares that fill a group exactly.
ROUNDING = 1e-9


def paragraph_spans(cuts: Cuts, start: int, end: int, *, max_words: int, sizes: tuple[int, int, int]) -> list[Span]:
    """Return the tree of a part: as few paragraphs as possible, in middles and roots; nothing of a blank one.

    Args:
        cuts: where the paper may be cut.
        start: of the part in the paper.
        end: of the part.
        max_words: of a paragraph.
        sizes: tokens of a root, a middle and a paragraph, at most.
    """
    text, max_tokens = cuts.text, sizes[LEAF]
    within = cuts.within(max_tokens)

    def fits(first: int, last: int) -> int | None:
        return within(first, last) if len(text[first:last].split()) <= max_words else None

    def share(part: Piece) -> float:
        """Return how much of a paragraph it fills."""
        words, chars = len(text[part.start : part.end].split()), part.end - part.start
        return max(words / max_words, part.tokens / max_tokens, chars / (max_tokens * MAX_CHARS_PER_TOKEN))

    pieces = list(_whole_atoms(text, cuts.pieces(start, end, fits, max_tokens)))
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
            parent = above + parents[level - 1][place] if level else NO_PARENT
            spans.append(Span(level, *stripped(text, part.start, part.end), parent))
    return spans


def _whole_atoms(text: str, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the pieces, those joined between which a boundary would split a number or a date."""
    kept: list[Piece] = []
    for piece in pieces:
        if kept and not splits_atom(text, piece.start):
            yield _joined(kept)
            kept = []
        kept.append(piece)
    if kept:
        yield _joined(kept)


def _joined(parts: Sequence[Piece]) -> Piece:
    return Piece(parts[0].start, parts[-1].end, sum(part.tokens for part in parts))


def _packed(parts: Sequence[Piece], shares: Sequence[float]) -> list[Sequence[Piece]]:
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
