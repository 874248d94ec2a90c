"""Bring files into a corpus: compare -> cut -> embed the leaves -> commit, each stage in a thread of its own.

Flow: `build.py` -> **here** joins `diff.py` -> `chunk_embed.py` -> `commit.py`, and counts what they did. What is
known is not parsed, what was embedded is not embedded again, one unreadable file or record costs itself only, and what
is committed stays whatever happens later.
"""

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Literal

from errors import UnreadableError
from index.corpus import Corpus
from ingestion.pipeline.chunk_embed import Preparation
from ingestion.pipeline.commit import Writer
from ingestion.pipeline.diff import Change, Comparison, FileDone, FileReader, Step
from ingestion.reading.files import Skipped, SourceFile
from ingestion.schema import Outcome, Progress, RunOptions, RunStopped, Summary


class Pipeline:
    """One ingestion run into one corpus.

    Args:
        corpus: open for writing.
        reader: turns files into documents.
        preparation: makes their trees and vectors.
        on_progress: called from the thread that runs this: at the start, after each file, and after each commit within
            a large one.
        stop: set it, from any thread, to end the run after the batch that is being written.
    """

    def __init__(
        self,
        corpus: Corpus,
        reader: FileReader,
        preparation: Preparation,
        *,
        on_progress: Callable[[Progress], None] = lambda _progress: None,
        stop: threading.Event | None = None,
    ) -> None:
        self._corpus = corpus
        self._reader = reader
        self._on_progress = on_progress
        self._writer = Writer(corpus, preparation, stop or threading.Event())

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
        report.under_way(root)
        steps = comparison.steps(entries)
        try:
            if options.dry_run:
                for step in steps:
                    self._writer.check()
                    report.note(step)
            else:
                self._corpus.sweep()
                with closing(self._writer.written(steps)) as written:
                    for batch in written:
                        self._report(batch, comparison, report)
            if whole and options.limit is None:
                self._vanished(comparison, root, options, report)
        except RunStopped:
            report.summary.stopped = True
        report.summary.duration_s = round(time.monotonic() - started, 2)
        return report.summary

    def _report(self, batch: list[Step], comparison: Comparison, report: "_Report") -> None:
        for step in batch:
            if isinstance(step, Change):
                comparison.under_way.pop(step.document.doc_id, None)
            report.note(step)
        if isinstance(last := batch[-1], Change):
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
        """Tell how far the run is, with this file or folder only begun."""
        self._progress(source, None, None)

    def gone(self, sources: list[str], outcome: Literal["vanished", "removed"], documents: int) -> None:
        """Count the documents of files that are gone, and name the files."""
        setattr(self.summary, outcome, getattr(self.summary, outcome) + documents)
        for source in sources:
            self._progress(source, outcome, None)

    def _change(self, step: Change) -> None:
        self.summary.leaves += len(step.tree.leaves) if step.tree else 0
        self.summary.embedded += step.embedded
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
        self.summary.left_out += [{"source": step.source, "reason": reason} for reason in step.left_out]
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
