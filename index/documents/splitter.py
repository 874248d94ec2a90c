"""Cut a document into its passage tree with LlamaIndex's `HierarchicalNodeParser`.

Flow: reading -> **here** -> embedding of the leaves. Only text goes through the parser (metadata longer than a leaf
would stop it), without overlap, so that spans tile the document; sizes are counted in the embedding model's tokens,
so that no leaf is cut by the model's window.
"""

import re
from collections.abc import Callable
from functools import cached_property, lru_cache
from string import ascii_lowercase, ascii_uppercase, digits
from typing import TYPE_CHECKING

from errors import UnreadableError
from index.documents.span_tree import LEVEL_NAMES, NO_PARENT, Span, SpanTree
from index.documents.store import StoredDocument
from settings import ChunkSettings

if TYPE_CHECKING:
    from llama_index.core.node_parser import HierarchicalNodeParser
    from llama_index.core.schema import BaseNode

TITLE_TOKENS = 48
HEAD_CHARS_PER_TOKEN = 8
REMEMBERED_VERDICTS = 16_384
SHAPES = str.maketrans(ascii_lowercase + ascii_uppercase + digits, "a" * 26 + "A" * 26 + "1" * 10)
RUN_OF_MARKS = re.compile(r"""[?!][?!."']{100}""")


class TreeSplitter:
    """Cuts text into roots, middles and leaves.

    Args:
        chunk: sizes of the three levels, in tokens.
        count_tokens: the embedding model's token count of a text.
        window_tokens: longest text the embedding model reads.
    """

    def __init__(self, chunk: ChunkSettings, count_tokens: Callable[[str], int], window_tokens: int) -> None:
        self._count_tokens = count_tokens
        self._title_tokens = max(0, min(TITLE_TOKENS, window_tokens - chunk.leaf_tokens))
        self._sizes = (chunk.root_tokens, chunk.middle_tokens, chunk.leaf_tokens)

    @cached_property
    def _parser(self) -> "HierarchicalNodeParser":
        """LlamaIndex's parser; made at the first text, because it imports a good second's worth of libraries."""
        from llama_index.core.node_parser import HierarchicalNodeParser, SentenceSplitter  # noqa: PLC0415

        sentences = _SentenceCutter()

        def counter(size: int) -> Callable[[str], range]:
            # SentenceSplitter only takes the length of what this returns.
            return lambda text: range(self._tokens(text, size))

        return HierarchicalNodeParser.from_defaults(
            node_parser_ids=list(LEVEL_NAMES),
            node_parser_map={
                name: SentenceSplitter(
                    chunk_size=size,
                    chunk_overlap=0,
                    tokenizer=counter(size),
                    chunking_tokenizer_fn=sentences,
                    include_metadata=False,
                    include_prev_next_rel=False,
                )
                for name, size in zip(LEVEL_NAMES, self._sizes, strict=True)
            },
            include_metadata=False,
            include_prev_next_rel=False,
        )

    def _tokens(self, text: str, size: int) -> int:
        """Return the tokens of `text`; where they are more than `size`, any number that is more will do."""
        if len(text) > (head_chars := size * HEAD_CHARS_PER_TOKEN):
            head = text[:head_chars].rsplit(maxsplit=1)[0:1]
            if head and (tokens := self._count_tokens(head[0])) > size:
                return tokens
        return self._count_tokens(text)

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
        words = title.split()
        while words and self._count_tokens(" ".join(words)) > self._title_tokens:
            words.pop()
        return " ".join(words)

    def split(self, text: str) -> SpanTree:
        """Return the tree of `text`; every non-blank text has at least one root, middle and leaf.

        Raises:
            UnreadableError: the sentence splitter gives up on this text.
        """
        from llama_index.core.schema import Document as LlamaDocument  # noqa: PLC0415  # see `_parser`

        try:
            nodes = self._parser.get_nodes_from_documents([LlamaDocument(text=text, id_="document")])
        except (TimeoutError, RecursionError) as error:  # NLTK bounds the time of each of its patterns
            raise UnreadableError(
                f"The text cannot be cut into sentences ({type(error).__name__}).", "Look for long runs of marks in it."
            ) from error
        positions = {node.node_id: position for position, node in enumerate(nodes)}
        spans: list[Span] = []
        cursors: dict[int, int] = {}
        for node in nodes:
            parent = positions[node.parent_node.node_id] if node.parent_node else NO_PARENT
            level = spans[parent].level + 1 if parent != NO_PARENT else 0
            # The parser's own offsets are relative to the parent, and wrong where text repeats: siblings come in
            # order and do not overlap, so each is found after the end of the one before it.
            begin = cursors.get(parent, spans[parent].start if parent != NO_PARENT else 0)
            start = text.index(_content(node), begin)
            end = start + len(_content(node))
            cursors[parent] = end
            spans.append(Span(level, start, end, parent))
        return SpanTree(spans)


def _content(node: "BaseNode") -> str:
    return node.get_content()


class _SentenceCutter:
    """Cuts sentences as LlamaIndex does by itself, and remembers its verdicts.

    Each level asks again whether a sentence ends at a place. That depends on the words around it only, and, as Punkt
    comes without a vocabulary here, not on their letters but on which are capitals.
    """

    def __call__(self, text: str) -> list[str]:
        # Punkt takes such a run apart mark by mark, and LlamaIndex recurses at each: minutes, then a RecursionError.
        return [text] if RUN_OF_MARKS.search(text) else self._cut(text)

    @cached_property
    def _cut(self) -> Callable[[str], list[str]]:
        """Made for the first text that needs it: NLTK takes a second to import, and short texts do without."""
        from llama_index.core.node_parser.text.utils import split_by_sentence_tokenizer_internal  # noqa: PLC0415
        from nltk.tokenize import PunktSentenceTokenizer  # noqa: PLC0415

        punkt = PunktSentenceTokenizer()
        verdict = lru_cache(REMEMBERED_VERDICTS)(punkt.text_contains_sentbreak)
        punkt.text_contains_sentbreak = lambda context: verdict(context.translate(SHAPES))
        return lambda text: split_by_sentence_tokenizer_internal(text, punkt)
