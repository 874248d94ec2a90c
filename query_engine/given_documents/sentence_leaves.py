"""Make single sentences the leaves of a passage tree.

Flow: `corpus.py` has cut a given document into its tree -> **here**, where the settings say so -> it embeds these
leaves. Roots and middles stay as they are, so merging climbs from sentences as it does from other leaves. Pure.
"""

from collections.abc import Iterator

from index.documents.sentences import split_sentences
from index.documents.span_tree import LEAF, LEVEL_NAMES, Span, SpanTree
from index.documents.structure import stripped

MIDDLE = LEVEL_NAMES.index("middle")


def with_sentence_leaves(text: str, tree: SpanTree) -> SpanTree:
    """Return the tree with one leaf a sentence, heading, list item or table row, of about 600 characters at most.

    Nothing but space stands between two leaves of one middle: a mark before a sentence, as of a list, belongs to it.

    Args:
        text: of the document.
        tree: its roots, middles and leaves.
    """
    above = [span for span in tree.spans if span.level < LEAF]
    leaves = [
        Span(LEAF, start, end, position)
        for position, span in enumerate(above)
        if span.level == MIDDLE
        for start, end in _pieces(text, span.start, span.end)
    ]
    return SpanTree([*above, *leaves])


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield `[start, end)` of each sentence with what stands before it."""
    *firsts, _ = [start + one.end for one in split_sentences(text[start:end])] or [end]
    begin = start
    for stop in (*firsts, end):
        yield stripped(text, begin, stop)
        begin = stop
