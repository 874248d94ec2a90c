"""An ingester that follows a script, so that jobs and their routes can be tested without stores or models."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from api.jobs.ingester import result_of
from api.jobs.queue import Result
from ingestion.schema import Progress, RunOptions, Summary

POLL_S = 0.01
Tell = Callable[[Progress], None]


def a_progress(bytes_done: int = 25, leaves: int = 8) -> Progress:
    return Progress("wind.md", "new", None, 1, 4, bytes_done, 100, 2, leaves)


@dataclass
class FakeIngester:
    """Tells one file, waits if it is told to, and returns `summary` or raises `failure`.

    Attributes:
        held: the ingestion waits until it is stopped, or `go` is set.
        began: set when an ingestion has told its progress.
        asked: corpus, path and options of each ingestion, in order; a retry has neither path nor options.
        within: the folders of the last retry.
    """

    summary: Summary = field(default_factory=lambda: Summary("default", new=2, unchanged=1, leaves=8, duration_s=1.5))
    failure: Exception | None = None
    held: bool = False
    go: threading.Event = field(default_factory=threading.Event)
    began: threading.Event = field(default_factory=threading.Event)
    asked: list[tuple[str, Path | None, RunOptions | None]] = field(default_factory=list)
    within: Sequence[Path] | None = None

    def ingest(self, corpus: str, path: Path, options: RunOptions, tell: Tell, stop: threading.Event) -> Result:
        self.asked.append((corpus, path, options))
        return self._work(tell, stop)

    def retry(self, corpus: str, tell: Tell, stop: threading.Event, within: Sequence[Path] | None = None) -> Result:
        self.within = within
        self.asked.append((corpus, None, None))
        return self._work(tell, stop)

    def _work(self, tell: Tell, stop: threading.Event) -> Result:
        tell(a_progress())
        self.began.set()
        while self.held and not self.go.is_set() and not stop.wait(POLL_S):
            pass
        if self.failure:
            raise self.failure
        self.summary.stopped = stop.is_set()
        return result_of(self.summary, chunks_total=40)
