"""Cut a document into its passage tree with LlamaIndex's `HierarchicalNodeParser`.

Flow: reading -> **here** -> embedding of the leaves. Only text goes through the parser (metadata longer than a leaf
would stop it), without overlap, so that spans tile the document. Sizes are counted in the embedding model's tokens, so
that no leaf is cut by the model's window, and in characters. Where a document may be cut is `blocks.py`'s business,
how passages are filled `level_splitter.py`'s.
"""

from collections.abc import Callable, Iterator, Sequence

from index.documents.blocks import MAX_CHARS_PER_TOKEN, Cuts, parts
from index.documents.paragraphs import PAPER_WORDS, paragraph_spans
from index.documents.span_tree import LEAF, LEVEL_NAMES, NO_PARENT, Span, SpanTree
from index.documents.store import Document, StoredDocument
from index.documents.structure import Structure
from settings import ChunkSettings

TITLE_TOKENS = 48
# The parser copies a text once a level: in parts that is bounded.
PART_CHARS = 400_000


class TreeSplitter:
    """Cuts documents into roots, middles and leaves.

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
        paper_words: int = PAPER_WORDS,
    ) -> None:
        self._count_tokens = count_tokens
        self._paper_words = paper_words
        self._title_tokens = max(0, min(TITLE_TOKENS, window_tokens - chunk.leaf_tokens))
        self._sizes = (chunk.root_tokens, chunk.middle_tokens, chunk.leaf_tokens)
        # With its title before it, the model still reads all of a paragraph.
        self._paper_sizes = (chunk.root_tokens, chunk.middle_tokens, window_tokens - self._title_tokens)

    def leaf_texts(self, document: StoredDocument) -> list[str]:
        """Return what is embedded for each leaf: the document's title, what its rows stand under, the leaf's text.

        The title tells what a leaf is about that does not say so itself, such as a page of a balance sheet (ADR 0008);
        rows without their header have the names of their columns there. Both take at most `TITLE_TOKENS`, and never so
        many that the model's window would cut the leaf.
        """
        text, structure = document.text, document.structure
        heads: dict[tuple[str, ...], str] = {}
        texts = []
        for span in (document.tree[position] for position in document.tree.leaves):
            above = (document.title, *structure.names_missing(span.start, text))
            if above not in heads:
                heads[above] = self._shortened(" ".join(above))
            own = text[span.start : span.end]
            texts.append(f"{heads[above]}\n{own}" if heads[above] else own)
        return texts

    def _shortened(self, title: str) -> str:
        words = title[: TITLE_TOKENS * MAX_CHARS_PER_TOKEN].split()
        while words and self._count_tokens(" ".join(words)) > self._title_tokens:
            words.pop()
        return " ".join(words)

    def load(self) -> None:
        """Load the parser and its libraries now."""
        self.split(Document("", "", "One sentence."))

    def split(self, document: Document) -> SpanTree:
        """Return the tree of a document; every non-blank text has at least one root, middle and leaf."""
        structure = document.structured().structure
        return joined([tree for tree, _ in self.parts(document.text, structure, paper=document.is_paper)])

    def parts(self, text: str, structure: Structure, *, paper: bool = False) -> Iterator[tuple[SpanTree, int]]:
        """Yield the trees of parts of `text`, with offsets in `text`, and where each part ends; see `joined`.

        Args:
            text: of a document.
            structure: its blocks.
            paper: its leaves are paragraphs, see `paragraphs.py`.
        """
        for start, end in parts(text, structure, PART_CHARS):
            # `Cuts` caches what it has computed; a new one for each part keeps the cache small.
            cuts = Cuts(text, structure, self._count_tokens)
            yield SpanTree(self._paragraphs(cuts, start, end) if paper else self._parsed(cuts, start, end)), end

    def _paragraphs(self, cuts: Cuts, start: int, end: int) -> list[Span]:
        return paragraph_spans(cuts, start, end, max_words=self._paper_words, sizes=self._paper_sizes)

    def _parsed(self, cuts: Cuts, start: int, end: int) -> list[Span]:
        # LlamaIndex's parsers import a good second's worth of libraries.
        from llama_index.core.node_parser import HierarchicalNodeParser  # noqa: PLC0415
        from llama_index.core.schema import Document as LlamaDocument  # noqa: PLC0415

        from index.documents.level_splitter import LevelSplitter  # noqa: PLC0415

        levels = {
            name: LevelSplitter(cuts, start, size, self._sizes[LEAF])
            for name, size in zip(LEVEL_NAMES, self._sizes, strict=True)
        }
        parser = HierarchicalNodeParser.from_defaults(
            node_parser_ids=list(levels), node_parser_map=dict(levels), include_metadata=False
        )
        nodes = parser.get_nodes_from_documents([LlamaDocument(text=cuts.text[start:end], id_="document")])
        positions = {node.node_id: position for position, node in enumerate(nodes)}
        # The parser's own offsets are relative to the parent, and wrong where text repeats.
        found = [(number, *span) for number, level in enumerate(levels.values()) for span in level.found]
        return [
            Span(*span, positions[node.parent_node.node_id] if node.parent_node else NO_PARENT)
            for node, span in zip(nodes, found, strict=True)
        ]


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
