"""Cut a document into its passage tree with LlamaIndex's `HierarchicalNodeParser`.

Flow: reading -> **here** -> embedding of the leaves. Only text goes through the parser (metadata longer than a leaf
would stop it), without overlap, so that spans tile the document. Sizes are counted in the embedding model's tokens, so
that no leaf is cut by the model's window, and in characters, because a word of any length may be one token. Where a
text may be cut is `blocks.py`'s business, how passages are filled `level_splitter.py`'s.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from index.documents.blocks import BlockCutter, parts
from index.documents.paragraphs import paragraph_spans
from index.documents.span_tree import LEAF, LEVEL_NAMES, NO_PARENT, Span, SpanTree
from index.documents.store import StoredDocument
from settings import ChunkSettings, IngestSettings

if TYPE_CHECKING:
    from llama_index.core.node_parser import HierarchicalNodeParser

TITLE_TOKENS = 48
# Three times what prose has; a leaf of 128 tokens has at most 2,048.
MAX_CHARS_PER_TOKEN = 16
# The parser copies a text once a level and searches it for each passage: in parts that is bounded.
PART_CHARS = 400_000


class TreeSplitter:
    """Cuts text into roots, middles and leaves.

    Args:
        chunk: sizes of the three levels, in tokens.
        count_tokens: the embedding model's token count of a text.
        window_tokens: longest text the embedding model reads.
        paper_words: of a paragraph of a paper, at most.
    """

    def __init__(
        self,
        chunk: ChunkSettings,
        count_tokens: Callable[[str], int],
        window_tokens: int,
        paper_words: int = IngestSettings().paper_words,
    ) -> None:
        self._count_tokens = count_tokens
        self._paper_words = paper_words
        self._title_tokens = max(0, min(TITLE_TOKENS, window_tokens - chunk.leaf_tokens))
        self._sizes = (chunk.root_tokens, chunk.middle_tokens, chunk.leaf_tokens)
        # With its title before it, the model still reads all of a paragraph.
        self._paper_sizes = (chunk.root_tokens, chunk.middle_tokens, window_tokens - self._title_tokens)
        self._cutter = BlockCutter()

    @cached_property
    def _parser(self) -> "HierarchicalNodeParser":
        """LlamaIndex's parser; made at the first text, because it imports a good second's worth of libraries."""
        from llama_index.core.node_parser import HierarchicalNodeParser  # noqa: PLC0415

        from index.documents.level_splitter import LevelSplitter  # noqa: PLC0415

        return HierarchicalNodeParser.from_defaults(
            node_parser_ids=list(LEVEL_NAMES),
            node_parser_map={
                name: LevelSplitter(self._cutter, self._count_tokens, size, self._sizes[LEAF], MAX_CHARS_PER_TOKEN)
                for name, size in zip(LEVEL_NAMES, self._sizes, strict=True)
            },
            include_metadata=False,
            include_prev_next_rel=False,
        )

    def leaf_texts(self, document: StoredDocument) -> list[str]:
        """Return what is embedded for each leaf: the document's title, a line break, the leaf's text.

        The title tells what a leaf is about that does not say so itself, such as a page of a balance sheet (ADR 0008).
        It takes at most `TITLE_TOKENS`, and never so many that the model's window would cut the leaf.
        """
        title = self._short_title(document.title)
        return [
            f"{title}\n{document.text[span.start : span.end]}" if title else document.text[span.start : span.end]
            for span in (document.tree[position] for position in document.tree.leaves)
        ]

    def _short_title(self, title: str) -> str:
        words = title[: TITLE_TOKENS * MAX_CHARS_PER_TOKEN].split()
        while words and self._count_tokens(" ".join(words)) > self._title_tokens:
            words.pop()
        return " ".join(words)

    def load(self) -> None:
        """Load the parser and its libraries now."""
        self.split("One sentence. " * self._sizes[-1])

    def split(self, text: str, *, paper: bool = False) -> SpanTree:
        """Return the tree of `text`; every non-blank text has at least one root, middle and leaf.

        Args:
            text: of a document.
            paper: its leaves are paragraphs, see `paragraphs.py`.
        """
        return joined([tree for tree, _ in self.parts(text, paper=paper)])

    def parts(self, text: str, *, paper: bool = False) -> Iterator[tuple[SpanTree, int]]:
        """Yield the trees of parts of `text`, with offsets in `text`, and where each part ends; see `joined`."""
        for start, end in parts(text, PART_CHARS):
            spans = self._paragraphs(text[start:end]) if paper else self._split_part(text[start:end])
            moved = [span._replace(start=start + span.start, end=start + span.end) for span in spans]
            yield SpanTree(moved), end

    def _paragraphs(self, text: str) -> list[Span]:
        return paragraph_spans(
            text,
            self._cutter,
            self._count_tokens,
            max_words=self._paper_words,
            sizes=self._paper_sizes,
            chars_per_token=MAX_CHARS_PER_TOKEN,
        )

    def _split_part(self, text: str) -> list[Span]:
        from llama_index.core.schema import Document as LlamaDocument  # noqa: PLC0415  # see `_parser`

        nodes = self._parser.get_nodes_from_documents([LlamaDocument(text=text, id_="document")])
        positions = {node.node_id: position for position, node in enumerate(nodes)}
        spans: list[Span] = []
        cursors: dict[int, int] = {}
        for node in nodes:
            parent = positions[node.parent_node.node_id] if node.parent_node else NO_PARENT
            level = spans[parent].level + 1 if parent != NO_PARENT else 0
            # The parser's own offsets are relative to the parent, and wrong where text repeats: siblings come in
            # order and do not overlap, so each is found after the end of the one before it.
            begin = cursors.get(parent, spans[parent].start if parent != NO_PARENT else 0)
            content = node.get_content()
            start = text.index(content, begin)
            cursors[parent] = end = start + len(content)
            spans.append(Span(level, start, end, parent))
        return spans


def joined(trees: Sequence[SpanTree]) -> SpanTree:
    """Return the trees of a text's parts, in order, as one tree."""
    if len(trees) == 1:
        return trees[0]
    spans: list[Span] = []
    shifts = [0] * len(trees)  # by tree: from a position among its spans to that among those of the level above
    for level in range(LEAF + 1):
        next_shifts = []
        for tree, shift in zip(trees, shifts, strict=True):
            own = [(place, span) for place, span in enumerate(tree.spans) if span.level == level]
            next_shifts.append(len(spans) - own[0][0] if own else 0)
            spans += [
                span if span.parent == NO_PARENT else span._replace(parent=span.parent + shift) for _, span in own
            ]
        shifts = next_shifts
    return SpanTree(spans)
