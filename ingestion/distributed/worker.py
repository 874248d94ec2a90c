"""One worker of a run that is spread over processes or machines: reads files, cuts documents and embeds their leaves.

Flow: `ray_run.py` starts many -> files and documents come in, documents and vectors go out -> the one process that has
the corpus open compares and commits. A worker sees no store; the files must lie at the same path for all.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from errors import UnreadableError
from index.build import Embedding
from index.documents.blobs import LeftOut
from index.documents.splitter import TreeSplitter
from index.documents.store import Document
from ingestion.pipeline.batching import grouped
from ingestion.pipeline.chunk_embed import cut
from ingestion.pipeline.cutter import Cutter
from ingestion.pipeline.diff import Change
from ingestion.pipeline.embed import Vectorizer
from ingestion.reading.files import SourceFile
from ingestion.reading.reader import Reader
from settings import Settings

# What a file holds, with the file's doc_id; None stands for its end.
Found = tuple[str, Document | LeftOut | UnreadableError | None]
# A tree as `SpanTree.to_bytes` makes it, its leaves' vectors, how many of those were computed; or why there is none.
Prepared = tuple[bytes, npt.NDArray[np.float32], int] | str

PIECE_CHARS = 200_000
PIECE_ITEMS = 500


class Worker:
    """Holds one parser process, one that cuts, and one embedder, which is loaded when it is first needed.

    `read` and `prepare` may run at the same time, each in one thread.

    Args:
        settings: of reading, cutting and embedding.
        papers: read every text file as a paper, or an object of one.
    """

    def __init__(self, settings: Settings, *, papers: bool) -> None:
        self._embedding = Embedding(settings)
        model = self._embedding.model
        self._reader = Reader(settings.ingest, papers=papers)
        splitter = TreeSplitter(settings.chunk, model.count_tokens, self._embedding.passage_tokens)
        self._cutter = Cutter(settings.ingest, settings.chunk, model, self._embedding.passage_tokens)
        self._vectorizer = Vectorizer(None, self._embedding, splitter.leaf_texts, _go_on)

    def load(self) -> None:
        """Load the embedder now, converting the model if this machine has not done so yet.

        Raises:
            ModelError: it cannot be loaded.
        """
        _ = self._embedding.embedder

    def read(self, files: Sequence[SourceFile]) -> Iterator[list[Found]]:
        """Yield what the files hold, in order, in pieces of some 200,000 characters."""
        yield from grouped(self._found(files), _chars, max_weight=PIECE_CHARS, max_items=PIECE_ITEMS)

    def _found(self, files: Sequence[SourceFile]) -> Iterator[Found]:
        for file in files:
            for item in self._reader.read(file):
                yield file.doc_id, item
            yield file.doc_id, None

    def prepare(self, changes: list[Change]) -> list[Prepared]:
        """Return the trees and vectors of documents, in order; for one that cannot be cut the reason why.

        Raises:
            ModelError: the embedder cannot be loaded.
        """
        cut(changes, self._cutter)
        self._vectorizer.fill([change for change in changes if change.tree])
        return [_made(change) for change in changes]


def _made(change: Change) -> Prepared:
    if change.tree is None or change.vectors is None:
        return change.refused or ""
    return change.tree.to_bytes(), change.vectors, change.embedded


def _chars(found: Found) -> int:
    return len(found[1].text) if isinstance(found[1], Document) else 1


def _go_on() -> None:
    """Never stop: a worker is stopped by ending its process."""
