"""Bring files into a corpus: compare -> cut -> embed the leaves -> commit, each stage in its own thread.

Flow: `build.py` -> **here** joins `diff.py` -> `chunk_embed.py` -> `index/corpus.py` (`stages`), and counts what they
did. Known files are not parsed, embedded texts are not embedded again, other files and records are unaffected by an
unreadable one, and what is committed stays.
"""

import threading
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import PurePosixPath
from typing import Literal

import numpy as np

from errors import UnreadableError
from index.corpus import Corpus
from ingestion.pipeline.chunk_embed import WAITING_CHARS, Preparation, batches, chars, drop_failed
from ingestion.pipeline.diff import Change, Comparison, FileDone, FileReader, Step
from ingestion.pipeline.prefetch import Prefetched
from ingestion.reading.files import Skipped, SourceFile
from ingestion.schema import Outcome, Progress, RunOptions, RunStopped, Summary, Tell

# A large file takes minutes to its first commit: so often the caller can tell how far it is.
BEAT_S = 1.0


def stages(
    steps: Iterator[Step], corpus: Corpus, preparation: Preparation, stop: threading.Event
) -> Generator[list[Step]]:
    """Yield the steps batch by batch, each once it is committed, while those after it are compared, cut and embedded.

    An empty batch says that the next one still takes its time. Close this generator when leaving early.

    Args:
        steps: of `diff.py`, or made otherwise; iterated in a thread.
        corpus: open for writing.
        preparation: makes trees and vectors.
        stop: set it, from any thread, to end without the batch that is being written; it is also set when this ends
            before the steps do.

    Raises:
        CorpusError: a store failed; committed documents are kept.
        ModelError: the embedder cannot be loaded.
        RunStopped: `stop` was set.
    """

    def check() -> None:
        if stop.is_set():
            raise RunStopped

    def checked() -> Iterator[Step]:
        for step in steps:
            check()
            yield step

    def stop_unless_done(error: type[BaseException] | None, *_: object) -> None:
        if error is not None:
            stop.set()

    with ExitStack() as threads:
        compared = threads.enter_context(Prefetched(checked(), max_weight=WAITING_CHARS, weigh=chars))
        embedded = batches(drop_failed(preparation.prepared(compared, check)))
        ready = threads.enter_context(Prefetched(embedded, max_weight=1))
        # Runs first on leaving: stages that are still at work then end within a second or two.
        threads.push(stop_unless_done)
        for batch in ready.beating(BEAT_S):
            if batch:
                _commit(corpus, batch, stop)
            yield batch or []


def _commit(corpus: Corpus, batch: Sequence[Step], stop: threading.Event) -> None:
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


class Pipeline:
    """One ingestion run into one corpus.

    Args:
        corpus: open for writing.
        reader: turns files into documents.
        preparation: makes their trees and vectors.
        on_progress: called from the thread that runs this: at the start, after each file, and after each commit within
            a large one.
        stop: set it, from any thread, to end the run without the batch that is being written.
    """

    def __init__(
        self,
        corpus: Corpus,
        reader: FileReader,
        preparation: Preparation,
        *,
        on_progress: Tell = lambda _progress: None,
        stop: threading.Event | None = None,
    ) -> None:
        self._corpus = corpus
        self._reader = reader
        self._on_progress = on_progress
        self._preparation = preparation
        self._stop = stop or threading.Event()

    def run(
        self,
        entries: Iterable[SourceFile | Skipped],
        root: str,
        options: RunOptions | None = None,
        totals: tuple[int, int] = (0, 0),
        *,
        whole: bool = True,
    ) -> Summary:
        """Ingest the files; what is committed stays when the run is stopped.

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
        comparison = Comparison(self._corpus, self._reader, root, options, self._check)
        report = Report(Summary(self._corpus.name, dry_run=options.dry_run), totals, self._on_progress)
        report.under_way(root)
        steps = report.watched(comparison.steps(entries))
        try:
            if options.dry_run:
                for step in steps:
                    self._check()
                    report.note(step)
            else:
                self._corpus.sweep(self._stop.is_set)
                with closing(stages(steps, self._corpus, self._preparation, self._stop)) as committed:
                    for batch in committed:
                        self._report(batch, comparison, report)
            if options.limit is None and (whole or (options.prune and options.files)):
                self._vanished(comparison, root, options, report)
        except RunStopped:
            report.summary.stopped = True
        finally:
            comparison.close()
        if not options.dry_run:
            self._forget_moved(report.summary)
        report.summary.files = report.files_met
        report.summary.duration_s = round(time.monotonic() - started, 2)
        return report.summary

    def _check(self) -> None:
        if self._stop.is_set():
            raise RunStopped

    def _report(self, batch: list[Step], comparison: Comparison, report: "Report") -> None:
        for step in batch:
            if isinstance(step, Change):
                comparison.committed(step.document)
            report.note(step)
        if not batch:
            report.under_way(comparison.reading)
        elif isinstance(last := batch[-1], Change):
            report.under_way(last.document.source)

    def _forget_moved(self, summary: Summary) -> None:
        """Keep the duplicates of which both are there: a record that got another id is not a copy of itself."""
        names = [entry["duplicate_of"] for entry in summary.duplicates]
        there = set(self._corpus.catalogue.sources(names)) if names else set()
        summary.duplicates = [entry for entry in summary.duplicates if entry["duplicate_of"] in there]

    def _vanished(self, comparison: Comparison, root: str, options: RunOptions, report: "Report") -> None:
        """Count, and with `prune` remove, the documents whose files are gone from the root."""
        named = None if options.files is None else frozenset(options.files)
        hidden = tuple(f"{entry}/" for entry in comparison.unlisted)
        gone = [
            note.source
            for note in self._corpus.ledger.under(root)
            if note.source not in comparison.seen
            and note.source not in comparison.unlisted
            and not note.source.startswith(hidden)
            and (named is None or not named.isdisjoint(_path_and_folders(note.file)))
        ]
        doc_ids = [doc_id for source in gone for doc_id in self._corpus.documents.versions(source)]
        if not options.prune:
            report.gone(gone, "vanished", len(doc_ids))
            return
        if doc_ids and named is None and not comparison.seen:
            raise UnreadableError(
                f"{root} holds no document; pruning would remove all {len(doc_ids)} that came from it.",
                "Check the path; `python -m ingestion delete` removes documents by name.",
            )
        if not options.dry_run:
            self._corpus.delete(doc_ids)
            self._corpus.ledger.forget(gone)
        report.gone(gone, "removed", len(doc_ids))


def _path_and_folders(file: str) -> Iterator[str]:
    path = PurePosixPath(file)
    return map(str, (path, *path.parents))


class Report:
    """Counts steps into the summary, and tells the progress file by file."""

    def __init__(self, summary: Summary, totals: tuple[int, int], tell: Tell) -> None:
        self.summary = summary
        self._files_total, self._bytes_total = totals
        self._tell = tell
        self._files = self._bytes = 0
        self._outcome: Outcome = "unchanged"
        self._coming: dict[int, Change] = {}  # read, but not committed
        self._file_bytes = 0.0  # committed of the file that goes on
        self._told_bytes = self._told_leaves = 0

    @property
    def files_met(self) -> int:
        """All plain files, those of a type that is not read among them."""
        # More may be done than were counted before: a folder can fill while it is read.
        return max(self._files_total, self._files) + sum(self.summary.skipped_types.values())

    def watched(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Pass the steps on, and know which are under way; runs in another thread than the rest."""
        for step in steps:
            if isinstance(step, Change):
                self._coming[id(step)] = step
            yield step

    def note(self, step: Step) -> None:
        """Count one step; the end of a file is told."""
        if isinstance(step, Change):
            self._change(step)
        elif isinstance(step, Skipped):
            self.summary.skipped.append({"source": step.path, "reason": step.reason})
            if step.suffix is not None:
                self.summary.skipped_types[step.suffix] = self.summary.skipped_types.get(step.suffix, 0) + 1
            self._progress(step.path, "skipped", step.reason)
        else:
            self._file(step)

    def under_way(self, source: str) -> None:
        """Tell how far the run is, with this file or folder just started, or the one before it that is embedded."""
        coming = next(iter(list(self._coming.values())), None)
        self._progress(coming.document.source if coming else source, None, None)

    def gone(self, sources: list[str], outcome: Literal["vanished", "removed"], documents: int) -> None:
        """Count the documents of files that are gone, and name the files."""
        setattr(self.summary, outcome, getattr(self.summary, outcome) + documents)
        for source in sources:
            self._progress(source, outcome, None)

    def _change(self, step: Change) -> None:
        self._coming.pop(id(step), None)
        step.embedded_share = 1.0
        self._file_bytes += step.bytes_done
        self.summary.leaves += len(step.tree.leaves) if step.tree else 0
        self.summary.embedded += step.embedded
        metadata = step.document.metadata
        if pages := str(metadata.get("ocr_pages", "")):
            page = "Page" if pages.isdigit() else "Pages"
            reason = f"{page} {pages}, mean confidence {metadata.get('ocr_confidence')}."
            self.summary.by_ocr.append({"source": step.document.doc_id, "reason": reason})
        if step.copy_of:
            self.summary.duplicates.append({"doc_id": step.document.doc_id, "duplicate_of": step.copy_of})
        if step.replaces:
            self.summary.changed += 1
            self._outcome = "changed"
        else:
            self.summary.new += 1
            self._outcome = self._outcome if self._outcome == "changed" else "new"

    def _file(self, step: FileDone) -> None:
        for key, change in list(self._coming.items()):  # those that were refused, and are not committed
            if change.document.source == step.source:
                del self._coming[key]
        self._file_bytes = 0.0
        self._files += 1
        self._bytes += step.size
        self.summary.files_read += bool(step.unchanged or not step.failures or self._outcome != "unchanged")
        self.summary.unchanged += step.unchanged
        self.summary.removed += len(step.gone)
        self.summary.failed += [{"source": step.source, "reason": reason} for reason in step.failures]
        self.summary.left_out += [{"source": step.source, "reason": reason} for reason in step.left_out]
        outcome: Outcome = "failed" if step.failures else "changed" if step.gone else self._outcome
        self._progress(step.source, outcome, step.failures[0] if step.failures else None)
        self._outcome = "unchanged"

    def _progress(self, source: str, outcome: Outcome | None, reason: str | None) -> None:
        summary = self.summary
        coming = list(self._coming.values())
        under_way = int(self._file_bytes + sum(change.bytes_done for change in coming))
        leaves = sum(int(change.embedded_share * len(change.tree.leaves)) for change in coming if change.tree)
        # Never back: shares of files are estimates.
        self._told_bytes = max(self._told_bytes, min(self._bytes + under_way, self._bytes_total), self._bytes)
        self._told_leaves = max(self._told_leaves, summary.leaves + leaves)
        self._tell(
            Progress(
                source,
                outcome,
                reason,
                self._files,
                self._files_total,
                self._told_bytes,
                self._bytes_total,
                summary.new + summary.changed,
                self._told_leaves,
            )
        )
