"""Commit steps to a corpus in batches, while the ones after them are still compared, cut and embedded.

Flow: steps (of `diff.py`, or made otherwise) -> `chunk_embed.py` -> **here** -> `index/corpus.py`. Whatever makes
trees and vectors, and wherever, its documents enter the corpus here.
"""

import threading
from collections.abc import Generator, Iterator
from contextlib import ExitStack

import numpy as np

from index.corpus import Corpus
from ingestion.pipeline.chunk_embed import WAITING_CHARS, Preparation, batches, chars, without_refused
from ingestion.pipeline.diff import Change, FileDone, Step
from ingestion.pipeline.prefetch import Prefetched
from ingestion.reading.files import Skipped
from ingestion.schema import RunStopped

# A large file takes minutes to its first commit: so often the caller can tell how far it is.
BEAT_S = 1.0


class Writer:
    """Brings steps into one corpus.

    Args:
        corpus: open for writing.
        preparation: makes trees and vectors.
        stop: set it, from any thread, to end after the batch that is being written; it is also set when this ends
            before its steps do.
    """

    def __init__(self, corpus: Corpus, preparation: Preparation, stop: threading.Event) -> None:
        self._corpus = corpus
        self._preparation = preparation
        self._stop = stop

    def written(self, steps: Iterator[Step]) -> Generator[list[Step]]:
        """Yield the steps batch by batch, each once it is committed; close this generator when leaving early.

        An empty batch says that the next one still takes its time.

        Raises:
            CorpusError: a store failed; committed documents are kept.
            ModelError: the embedder cannot be loaded.
            RunStopped: the run was asked to stop.
        """
        with ExitStack() as stages:
            given = stages.enter_context(Prefetched(self._watched(steps), max_weight=WAITING_CHARS, weigh=chars))
            prepared = batches(without_refused(self._preparation.prepared(given, self.check)))
            ready = stages.enter_context(Prefetched(prepared, max_weight=1))
            # Runs first on leaving: stages that are still at work then end within a second or two.
            stages.push(self._stop_unless_done)
            for batch in ready.beating(BEAT_S):
                if batch:
                    self._commit(batch)
                yield batch or []

    def check(self) -> None:
        """Raise RunStopped when the run shall end."""
        if self._stop.is_set():
            raise RunStopped

    def _watched(self, steps: Iterator[Step]) -> Iterator[Step]:
        for step in steps:
            self.check()
            yield step

    def _commit(self, batch: list[Step]) -> None:
        changes = [step for step in batch if isinstance(step, Change)]
        gone = [doc_id for step in batch if isinstance(step, FileDone) for doc_id in step.gone]
        # Of a file that goes on in the next batch a note without digest is kept: whatever happens before its end, the
        # next run reads it again, and knows whose its documents are if it is gone by then.
        notes = {step.note.source: step.note for step in batch if not isinstance(step, Skipped) and step.note}
        if changes or gone or notes:
            vectors = [change.vectors for change in changes if change.vectors is not None]
            rows = np.concatenate(vectors) if vectors else np.empty((0, 0), np.float32)
            self._corpus.replace([change.stored() for change in changes], rows, gone, list(notes.values()))

    def _stop_unless_done(self, error: type[BaseException] | None, *_: object) -> None:
        if error is not None:
            self._stop.set()
