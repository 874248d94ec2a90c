"""Cut changed documents into their trees and embed the leaves, in this process.

Flow: steps of `diff.py` -> **here** -> the same steps, changes with trees and vectors -> `commit.py`.
Cutting runs in a thread of its own, ahead of the embedding.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from errors import UnreadableError
from index.corpus import Corpus
from index.documents.splitter import TreeSplitter
from ingestion.pipeline.diff import Change, FileDone, Step
from ingestion.pipeline.embed import EmbedderSource, Vectorizer
from ingestion.pipeline.prefetch import Prefetched

Check = Callable[[], None]

# Leaves that are embedded, and committed, together: enough to keep every core busy and a commit worth its cost.
BATCH_LEAVES = 512
BATCH_STEPS = 1000
# Text that may wait between two stages.
WAITING_CHARS = 4_000_000


class Preparation(Protocol):
    """Makes trees and vectors, here or elsewhere."""

    def prepared(self, steps: Iterator[Step], check: Check) -> Iterator[Step]:
        """Yield the steps in their order, once their changes have trees and vectors.

        Args:
            steps: closed by whoever gave them.
            check: called often; raises when the run shall end.

        Raises:
            ModelError: the embedder cannot be loaded.
        """
        ...


class LocalPreparation:
    """Makes trees and vectors in this process.

    Args:
        corpus: holds the vectors of older versions, which need not be computed again.
        embedding: gives the embedder the corpus was made with, once there is something to embed.
        splitter: cuts texts into trees.
    """

    def __init__(self, corpus: Corpus, embedding: EmbedderSource, splitter: TreeSplitter) -> None:
        self._corpus = corpus
        self._embedding = embedding
        self._splitter = splitter

    def prepared(self, steps: Iterator[Step], check: Check) -> Iterator[Step]:
        """Do what `Preparation` says."""
        vectorizer = Vectorizer(self._corpus, self._embedding, self._splitter.leaf_texts, check)
        with Prefetched(self._cut(steps, check), max_weight=WAITING_CHARS, weigh=chars) as trees:
            for batch in batches(trees):
                vectorizer.fill([step for step in batch if isinstance(step, Change) and step.tree])
                yield from batch

    def _cut(self, steps: Iterable[Step], check: Check) -> Iterator[Step]:
        for step in steps:
            if isinstance(step, Change):
                check()
                cut(step, self._splitter)
            yield step


def cut(change: Change, splitter: TreeSplitter) -> None:
    """Give a change its tree, or the reason why it has none."""
    try:
        change.tree = splitter.split(change.document.text)
    except UnreadableError as error:
        change.refused = f"{change.document.doc_id}: {error}"


def without_refused(steps: Iterable[Step]) -> Iterator[Step]:
    """Leave out the changes that could not be cut, and tell it with the end of their file."""
    reasons: list[str] = []
    for step in steps:
        if isinstance(step, Change) and step.refused:
            reasons.append(step.refused)
        elif isinstance(step, FileDone) and reasons:
            yield step.with_failures(reasons)
            reasons = []
        else:
            yield step


def batches(steps: Iterable[Step]) -> Iterator[list[Step]]:
    """Group steps that have trees; a batch is full with `BATCH_LEAVES` leaves or `BATCH_STEPS` steps."""
    batch: list[Step] = []
    leaves = 0
    for step in steps:
        batch.append(step)
        if isinstance(step, Change) and step.tree is not None:
            leaves += len(step.tree.leaves)
        if leaves >= BATCH_LEAVES or len(batch) >= BATCH_STEPS:
            yield batch
            batch, leaves = [], 0
    if batch:
        yield batch


def chars(step: Step) -> int:
    """Return how much text a step carries; one for none, so that steps without text are bounded too."""
    return len(step.document.text) if isinstance(step, Change) else 1
