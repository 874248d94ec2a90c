"""Commit a batch of steps to a corpus: new and changed documents, what is gone, and what is known of their files.

Flow: `pipeline.py` (steps with trees and vectors, wherever they were made) -> **here** -> `index/corpus.py`.
"""

import threading
from collections.abc import Sequence

import numpy as np

from index.corpus import Corpus
from ingestion.pipeline.diff import Change, FileDone, Step
from ingestion.reading.files import Skipped
from ingestion.schema import RunStopped


def commit(corpus: Corpus, batch: Sequence[Step], stop: threading.Event) -> None:
    """Make the batch visible as a whole.

    Raises:
        RunStopped: `stop` was set before it was visible.
        CorpusError: a store failed; batches that were committed before are kept.
    """
    changes = [step for step in batch if isinstance(step, Change)]
    gone = [doc_id for step in batch if isinstance(step, FileDone) for doc_id in step.gone]
    # A file that continues in the next batch gets a note without a digest: if the run ends early, the next one reads
    # the file again, or knows which documents it had if it is gone by then.
    notes = {step.note.source: step.note for step in batch if not isinstance(step, Skipped) and step.note}
    if changes or gone or notes:
        vectors = [change.vectors for change in changes if change.vectors is not None]
        rows = np.concatenate(vectors) if vectors else np.empty((0, 0), np.float32)
        stored = [change.stored() for change in changes]
        if not corpus.replace(stored, rows, gone, list(notes.values()), stopping=stop.is_set):
            raise RunStopped
