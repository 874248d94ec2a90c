"""Bring files into a corpus: compare -> cut -> embed the leaves -> commit, each stage in a thread of its own.

Flow: `build.py` -> **here** -> `index/corpus.py`. What is known is not parsed, what was embedded is not embedded again,
one unreadable file or record costs itself only, and what is committed stays whatever happens later. How a file is
compared is `comparing.py`'s business, what is on disk `index/`'s.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from errors import UnreadableError
from index.corpus import Corpus
from index.documents import StoredDocument
from ingestion.comparing import Change, Comparison, FileDone, Step
from ingestion.reading.files import Skipped, SourceFile
from ingestion.reading.reader import Reader
from ingestion.run import Outcome, Progress, RunOptions, RunStopped, Summary
from ingestion.splitting import TreeSplitter
from ingestion.stages import Prefetched
from ingestion.vectorizing import EmbedderSource, Vectorizer

BATCH_LEAVES = 512
BATCH_STEPS = 1000
# Text that may wait between two stages.
WAITING_CHARS = 4_000_000


@dataclass(slots=True)
class Batch:
    """Steps that are committed together, with the vectors of their leaves."""

    steps: list[Step] = field(default_factory=list)
    documents: list[StoredDocument] = field(default_factory=list)
    replacing: list[str] = field(default_factory=list)
    leaves: int = 0
    embedded: int = 0
    vectors: npt.NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), np.float32))

    def add(self, step: Step) -> None:
        """Take a step; a change must have its tree."""
        self.steps.append(step)
        if isinstance(step, Change):
            assert step.tree is not None
            self.documents.append(StoredDocument.of(step.document, step.version, step.tree))
            self.leaves += len(step.tree.leaves)
            if step.replaces:
                self.replacing.append(step.document.doc_id)

    @property
    def full(self) -> bool:
        """Whether it is worth a commit."""
        return self.leaves >= BATCH_LEAVES or len(self.steps) >= BATCH_STEPS


class Pipeline:
    """One ingestion run into one corpus.

    Args:
        corpus: open for writing.
        embedding: gives the embedder the corpus was made with, once there is something to embed.
        splitter: cuts texts into trees.
        reader: turns files into documents.
        on_progress: called from the thread that runs this, after each file, and each commit within a large one.
        stop: set it, from any thread, to end the run after the batch that is being written.
    """

    def __init__(
        self,
        corpus: Corpus,
        embedding: EmbedderSource,
        splitter: TreeSplitter,
        reader: Reader,
        *,
        on_progress: Callable[[Progress], None] = lambda _progress: None,
        stop: threading.Event | None = None,
    ) -> None:
        self._corpus = corpus
        self._splitter = splitter
        self._reader = reader
        self._on_progress = on_progress
        self._stop = stop or threading.Event()
        self._vectorizer = Vectorizer(corpus, embedding, splitter.leaf_texts, self._check)

    def run(
        self,
        entries: Iterable[SourceFile | Skipped],
        root: str,
        options: RunOptions | None = None,
        totals: tuple[int, int] = (0, 0),
        *,
        whole: bool = True,
    ) -> Summary:
        """Ingest the files; whatever is committed stays when the run is stopped.

        Args:
            entries: what was listed below `root`.
            root: the folder, absolute; what vanished is looked for among the files that it had.
            options: what to do.
            totals: number of files and their bytes, for the progress.
            whole: the entries are all that is below `root`, so what is not among them has vanished.

        Raises:
            CorpusError: a store failed; committed documents are kept.
            UnreadableError: nothing is left below `root`, and pruning would remove all that came from there.
        """
        started = time.monotonic()
        options = options or RunOptions()
        comparison = Comparison(self._corpus, self._reader, root, options)
        report = _Report(Summary(self._corpus.name, dry_run=options.dry_run), totals, self._on_progress)
        steps = comparison.steps(entries)
        try:
            if options.dry_run:
                for step in steps:
                    self._check()
                    report.note(step)
            else:
                self._corpus.sweep()
                with closing(self._batches(steps)) as batches:
                    for batch in batches:
                        self._commit(batch, comparison, report)
            if whole and options.limit is None:
                self._vanished(comparison, root, options, report)
        except RunStopped:
            report.summary.stopped = True
        report.summary.duration_s = round(time.monotonic() - started, 2)
        return report.summary

    def _batches(self, steps: Iterator[Step]) -> Generator[Batch]:
        with ExitStack() as stages:
            compared = stages.enter_context(Prefetched(self._watched(steps), max_weight=WAITING_CHARS, weigh=_chars))
            cut = stages.enter_context(Prefetched(self._cut(compared), max_weight=WAITING_CHARS, weigh=_chars))
            embedded = stages.enter_context(Prefetched(self._embedded(cut), max_weight=1))
            # Runs first on leaving: stages that are still at work then end within a second or two.
            stages.push(self._stop_unless_done)
            yield from embedded

    def _watched(self, steps: Iterator[Step]) -> Iterator[Step]:
        for step in steps:
            self._check()
            yield step

    def _cut(self, steps: Iterable[Step]) -> Iterator[Step]:
        for step in steps:
            if isinstance(step, Change):
                self._check()
                step.tree = self._splitter.split(step.document.text)
            yield step

    def _embedded(self, steps: Iterable[Step]) -> Iterator[Batch]:
        batch = Batch()
        for step in steps:
            batch.add(step)
            if batch.full:
                yield self._with_vectors(batch)
                batch = Batch()
        if batch.steps:
            yield self._with_vectors(batch)

    def _with_vectors(self, batch: Batch) -> Batch:
        batch.vectors, batch.embedded = self._vectorizer.vectors(batch.documents, batch.replacing)
        return batch

    def _commit(self, batch: Batch, comparison: Comparison, report: "_Report") -> None:
        done = [step for step in batch.steps if isinstance(step, FileDone)]
        gone = [doc_id for step in done for doc_id in step.gone]
        # Of a file that goes on in the next batch a note without digest is kept: whatever happens before its end, the
        # next run reads it again, and knows whose its documents are if it is gone by then.
        notes = {step.note.source: step.note for step in batch.steps if not isinstance(step, Skipped) and step.note}
        if batch.documents or gone or notes:
            self._corpus.replace(batch.documents, batch.vectors, gone, list(notes.values()))
        for document in batch.documents:
            comparison.under_way.pop(document.doc_id, None)
        report.summary.embedded += batch.embedded
        for step in batch.steps:
            report.note(step)
        if isinstance(last := batch.steps[-1], Change):
            report.under_way(last.document.source)

    def _vanished(self, comparison: Comparison, root: str, options: RunOptions, report: "_Report") -> None:
        """Count, and with `prune` remove, the documents whose files are gone from the root."""
        hidden = tuple(f"{entry}/" for entry in comparison.unlisted)
        gone = [
            note.source
            for note in self._corpus.ledger.under(root)
            if note.source not in comparison.seen
            and note.source not in comparison.unlisted
            and not note.source.startswith(hidden)
        ]
        doc_ids = [doc_id for source in gone for doc_id in self._corpus.documents.versions(source)]
        if not options.prune:
            report.gone(gone, "vanished", len(doc_ids))
            return
        if doc_ids and not comparison.seen:
            raise UnreadableError(
                f"{root} holds no document; pruning would remove all {len(doc_ids)} that came from it.",
                "Check the path; `python -m ingestion delete` removes documents by name.",
            )
        if not options.dry_run:
            self._corpus.remove(doc_ids)
            self._corpus.ledger.forget(gone)
        report.gone(gone, "removed", len(doc_ids))

    def _check(self) -> None:
        if self._stop.is_set():
            raise RunStopped

    def _stop_unless_done(self, error: type[BaseException] | None, *_: object) -> None:
        if error is not None:
            self._stop.set()


class _Report:
    """Counts steps into the summary, and tells the progress file by file."""

    def __init__(self, summary: Summary, totals: tuple[int, int], tell: Callable[[Progress], None]) -> None:
        self.summary = summary
        self._files_total, self._bytes_total = totals
        self._tell = tell
        self._files = self._bytes = 0
        self._outcome: Outcome = "unchanged"

    def note(self, step: Step) -> None:
        """Count one step; the end of a file is told."""
        if isinstance(step, Change):
            self._change(step)
        elif isinstance(step, Skipped):
            self.summary.skipped.append({"source": step.path, "reason": step.reason})
            self._progress(step.path, "skipped", step.reason)
        else:
            self._file(step)

    def under_way(self, source: str) -> None:
        """Tell how far a file of many documents is."""
        self._progress(source, None, None)

    def gone(self, sources: list[str], outcome: Literal["vanished", "removed"], documents: int) -> None:
        """Count the documents of files that are gone, and name the files."""
        setattr(self.summary, outcome, getattr(self.summary, outcome) + documents)
        for source in sources:
            self._progress(source, outcome, None)

    def _change(self, step: Change) -> None:
        self.summary.leaves += len(step.tree.leaves) if step.tree else 0
        if step.replaces:
            self.summary.changed += 1
            self._outcome = "changed"
        else:
            self.summary.new += 1
            self._outcome = self._outcome if self._outcome == "changed" else "new"

    def _file(self, step: FileDone) -> None:
        self._files += 1
        self._bytes += step.size
        self.summary.unchanged += step.unchanged
        self.summary.removed += len(step.gone)
        self.summary.failed += [{"source": step.source, "reason": reason} for reason in step.failures]
        outcome: Outcome = "failed" if step.failures else "changed" if step.gone else self._outcome
        self._progress(step.source, outcome, step.failures[0] if step.failures else None)
        self._outcome = "unchanged"

    def _progress(self, source: str, outcome: Outcome | None, reason: str | None) -> None:
        summary = self.summary
        self._tell(
            Progress(
                source,
                outcome,
                reason,
                self._files,
                self._files_total,
                self._bytes,
                self._bytes_total,
                summary.new + summary.changed,
                summary.leaves,
            )
        )


def _chars(step: Step) -> int:
    return len(step.document.text) if isinstance(step, Change) else 1
