"""Cut changed documents into their trees and embed the leaves.

Flow: steps of `diff.py` -> **here** -> the same steps, changes with trees and vectors -> `pipeline.py`.
Cutting runs in a separate process (`cutter.py`), ahead of the embedding, which runs in this one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from errors import UnreadableError
from index.corpus import Corpus
from index.documents.splitter import TreeSplitter
from ingestion.pipeline.batching import grouped
from ingestion.pipeline.cutter import TreeCutter
from ingestion.pipeline.diff import Change, FileDone, Step
from ingestion.pipeline.embed import EmbedderSource, Vectorizer
from ingestion.pipeline.prefetch import Prefetched

Check = Callable[[], None]

# Leaves that are embedded, and committed, together: enough to keep every core busy and a commit worth its cost.
BATCH_LEAVES = 512
BATCH_STEPS = 1000
# Texts that are cut together: enough that handing them over costs nothing, few enough to begin early.
CUT_CHARS = 200_000
CUT_STEPS = 200
# Text that may wait between two stages.
WAITING_CHARS = 4_000_000


class Preparation(Protocol):
    """Makes trees and vectors, here or elsewhere."""

    def prepared(self, steps: Iterator[Step], check: Check) -> Iterator[Step]:
        """Yield the steps in their order, once their changes have trees and vectors.

        Args:
            steps: closed by the caller.
            check: called often; raises when the run shall end.

        Raises:
            ModelError: the embedder cannot be loaded.
        """
        ...


class LocalPreparation:
    """Makes trees and vectors on this machine.

    Args:
        corpus: holds the vectors of older versions, which need not be computed again.
        embedding: gives the embedder the corpus was made with, once there is something to embed.
        splitter: says what is embedded for each leaf.
        cutter: cuts texts into trees.
        batch_leaves: leaves that are embedded together; `BATCH_LEAVES` if None.
    """

    def __init__(
        self,
        corpus: Corpus,
        embedding: EmbedderSource,
        splitter: TreeSplitter,
        cutter: TreeCutter,
        batch_leaves: int | None = None,
    ) -> None:
        self._corpus = corpus
        self._embedding = embedding
        self._splitter = splitter
        self._cutter = cutter
        self._batch_leaves = batch_leaves

    def prepared(self, steps: Iterator[Step], check: Check) -> Iterator[Step]:
        """Do what `Preparation` says."""
        vectorizer = Vectorizer(self._corpus, self._embedding, self._splitter.leaf_texts, check)
        with Prefetched(self._cut(steps, check), max_weight=WAITING_CHARS, weigh=chars) as trees:
            for batch in batches(trees, self._batch_leaves):
                vectorizer.fill([step for step in batch if isinstance(step, Change) and step.tree])
                yield from batch

    def _cut(self, steps: Iterable[Step], check: Check) -> Iterator[Step]:
        for group in grouped(steps, chars, max_weight=CUT_CHARS, max_items=CUT_STEPS):
            check()
            cut([step for step in group if isinstance(step, Change)], self._cutter)
            yield from group


def cut(changes: Sequence[Change], cutter: TreeCutter) -> None:
    """Give each change its tree, or the reason why it has none."""
    trees = cutter.trees([change.document for change in changes])
    for change, tree in zip(changes, trees, strict=True):
        if isinstance(tree, UnreadableError):
            change.refused = f"{change.document.doc_id}: {tree}"
        else:
            change.tree = tree


def drop_failed(steps: Iterable[Step]) -> Iterator[Step]:
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


def batches(steps: Iterable[Step], most_leaves: int | None = None) -> Iterator[list[Step]]:
    """Group steps that have trees, up to `most_leaves` leaves (None: `BATCH_LEAVES`) or `BATCH_STEPS` steps a group."""
    return grouped(steps, _leaves, max_weight=most_leaves or BATCH_LEAVES, max_items=BATCH_STEPS)


def _leaves(step: Step) -> int:
    return len(step.tree.leaves) if isinstance(step, Change) and step.tree else 0


def chars(step: Step) -> int:
    """Return how much text a step carries; one for none, so that steps without text are bounded too."""
    return len(step.document.text) if isinstance(step, Change) else 1
