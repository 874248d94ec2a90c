"""Do an ingestion inside the service: into the corpus that answers questions meanwhile, with the models it has loaded.

Flow: a job's thread -> **here** -> `ingestion/build.py` -> `result_of`, for clients that ask how it went.
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from api.jobs.queue import Result
from ingestion.build import ingest, ingest_into, retry_failed
from ingestion.console.coverage import coverage
from ingestion.schema import Progress, RunOptions, Summary
from query_engine.build import Engines
from settings import Settings

Tell = Callable[[Progress], None]

MAX_ERRORS = 10
MAX_LISTED = 1000


class Ingester:
    """Writes into the corpora of a running service. The caller ensures that nothing else writes into the same one.

    Args:
        engines: hold the corpora open, and their embedding models.
        settings: how to read, cut and embed.
    """

    def __init__(self, engines: Engines, settings: Settings) -> None:
        self._engines = engines
        self._settings = settings

    def ingest(self, corpus: str, path: Path, options: RunOptions, tell: Tell, stop: threading.Event) -> Result:
        """Bring a file or folder into a corpus, which is made if it does not exist; blocks.

        Raises:
            RagError: what `ingestion.build.ingest` raises.
        """
        if options.dry_run and corpus not in self._engines.names():
            # Nothing is made, so nothing has to be shared with the questions.
            plan = ingest(path, self._settings, corpus=corpus, options=options, on_progress=tell, stop=stop)
            return result_of(plan, chunks_total=0)
        embeddings = self._engines.embeddings
        with self._engines.lease(corpus, create=True) as engine:
            opened = engine.corpus
            summary = ingest_into(
                opened, path, self._settings, embeddings, options=options, on_progress=tell, stop=stop
            )
            return result_of(summary, chunks_total=opened.documents.leaf_count())

    def retry(self, corpus: str, tell: Tell, stop: threading.Event, within: Sequence[Path] | None = None) -> Result:
        """Read the files of a corpus again that could not be read; blocks.

        Args:
            corpus: its name.
            tell: is given the progress.
            stop: set it to end the run.
            within: folders whose files are read, see `ingestion.build.retry_failed`; None reads all.

        Raises:
            RagError: what `ingestion.build.retry_failed` raises.
        """
        with self._engines.lease(corpus) as engine:
            opened = engine.corpus
            embeddings = self._engines.embeddings
            summary = retry_failed(opened, self._settings, embeddings, on_progress=tell, stop=stop, within=within)
            return result_of(summary, chunks_total=opened.documents.leaf_count())


def result_of(summary: Summary, *, chunks_total: int) -> Result:
    """Return what a job did; lists are cut to 1,000 entries, counts are not.

    Args:
        summary: of the run.
        chunks_total: leaves of the corpus afterwards.
    """
    failed = len(summary.failed)
    return {
        "docs_total": summary.documents + failed,
        "docs_ok": summary.documents,
        "docs_failed": failed,
        "chunks_total": chunks_total,
        "chunks_indexed": 0 if summary.dry_run else summary.leaves,
        "duration_sec": summary.duration_s,
        "errors": summary.failed[:MAX_ERRORS],
        **summary.to_dict(),
        "failed": summary.failed[:MAX_LISTED],
        "skipped": summary.skipped[:MAX_LISTED],
        "left_out": summary.left_out[:MAX_LISTED],
        "by_ocr": summary.by_ocr[:MAX_LISTED],
        "left_out_total": len(summary.left_out),
        "skipped_total": len(summary.skipped),
        "skipped_types": dict(Counter(summary.skipped_types).most_common(MAX_LISTED)),
        "coverage": coverage(summary),
        "duplicates": summary.duplicates[:MAX_LISTED],
        "duplicates_total": len(summary.duplicates),
    }
