"""Cut documents into passage trees in a child process, within the limits of time and memory that the readers have.

Flow: `chunk_embed.py` -> **here** -> `reading/sandbox.py` -> pipe -> `cutting`, in the child -> spans, part by part.

Cutting runs libraries over texts that others wrote. In a separate process it can neither take the service's memory
nor keep it from answering, and ends at once when the run is stopped. Embedding stays in the process that asks.
"""

import json
import threading
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, Self

from errors import UnreadableError
from index.documents.span_tree import SpanTree
from index.documents.splitter import TreeSplitter, joined
from index.documents.store import Document
from index.documents.structure import Structure
from index.embedding.model import MeasuringModel, token_counter
from ingestion.reading.child import SENT_AT_ONCE, Items, Task
from ingestion.reading.sandbox import Sandbox
from settings import ChunkSettings, IngestSettings

Cut = SpanTree | UnreadableError


class TreeCutter(Protocol):
    """Makes trees, here or elsewhere."""

    def trees(self, documents: Sequence[Document]) -> list[Cut]:
        """Return the tree of each document, or the reason why it has none."""
        ...


class Cutter:
    """Cuts documents; owns the child process, so use it as a context manager. For one thread at a time.

    Args:
        settings: limits of time and memory.
        chunk: sizes of the passages.
        model: the embedding model, whose tokens are counted.
        window_tokens: longest text the embedding model reads.
        stop: once it is set, cutting that is under way ends with RunStopped.
    """

    def __init__(
        self,
        settings: IngestSettings,
        chunk: ChunkSettings,
        model: MeasuringModel,
        window_tokens: int,
        *,
        stop: threading.Event | None = None,
    ) -> None:
        argument = {
            "tokenizer": str(model.tokenizer_file),
            "estimated": model.estimated,
            "chunk": chunk.model_dump(),
            "window_tokens": window_tokens,
        }
        self._sandbox = Sandbox(
            "ingestion.pipeline.cutter:cutting",
            json.dumps(argument),
            doing="Cutting the text",
            timeout_s=settings.parse_timeout_s,
            memory_mb=settings.parse_memory_mb,
            stop=stop,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def trees(self, documents: Sequence[Document]) -> list[Cut]:
        """Return the tree of each document, or the reason why it has none; a failure affects one document only.

        Args:
            documents: a document without a structure gets a guessed one here.

        Raises:
            RunStopped: the run shall end.
        """
        structures = [document.structured().structure.to_bytes() for document in documents]
        trees: list[Cut] = []
        while (done := len(trees)) < len(documents):
            request = {
                "texts": [document.text for document in documents[done:]],
                "structures": [b64encode(structure).decode() for structure in structures[done:]],
                "papers": [document.is_paper for document in documents[done:]],
            }
            try:
                for tree in _trees(self._sandbox.items(request)):
                    trees.append(tree)  # noqa: PERF402  # those before a failure stay
            except UnreadableError as error:  # of the first one without a tree; it is not tried again
                trees.append(error)
        return trees

    def start(self) -> None:
        """Start the child process, which takes seconds, and do not wait for it."""
        self._sandbox.start()

    def close(self) -> None:
        """End the child process."""
        self._sandbox.close()


def _trees(items: Iterable[Mapping[str, Any]]) -> Iterator[SpanTree]:
    """Yield the trees whose parts come one after the other.

    Raises:
        UnreadableError: a text cannot be cut.
    """
    parts: list[SpanTree] = []
    for item in items:
        if "unreadable" in item:
            raise UnreadableError(*item["unreadable"])
        parts.append(SpanTree.from_bytes(b64decode(item["spans"])))
        if item["last"]:
            yield joined(parts)
            parts = []


def cutting(argument: str) -> Task:
    """Return the child's task: `{"texts", "structures", "papers"}` is answered by the parts of each tree, in order."""
    given = json.loads(argument)
    count_tokens = token_counter(given["tokenizer"], estimated=given["estimated"])
    splitter = TreeSplitter(ChunkSettings(**given["chunk"]), count_tokens, given["window_tokens"])
    splitter.load()

    def cut(request: Mapping[str, Any]) -> Items:
        for text, packed, paper in zip(request["texts"], request["structures"], request["papers"], strict=True):
            begin = 0
            for tree, end in splitter.parts(text, Structure(b64decode(packed)), paper=paper):
                last = end == len(text)
                yield (
                    {"spans": b64encode(tree.to_bytes()).decode(), "last": last},
                    SENT_AT_ONCE if last else end - begin,
                )
                begin = end

    return cut
