"""Count what ingestions do.

Flow: `app.py` puts **this** around the ingester -> `metrics.py`. Ingestions of the command line are another process's:
of those the size of the corpus tells.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from api.jobs.queue import Result
from api.watching.metrics import Metrics


class CountedIngester:
    """Passes everything on to an ingester.

    Args:
        ingester: does the work.
        metrics: count it.
    """

    def __init__(self, ingester: Any, metrics: Metrics) -> None:
        self._ingester = ingester
        self._metrics = metrics

    def ingest(self, *args: Any, **kwargs: Any) -> Result:
        """Ingest; what `ingester` raises is raised."""
        return self._counted(partial(self._ingester.ingest, *args, **kwargs))

    def retry(self, *args: Any, **kwargs: Any) -> Result:
        """Read failed files again; what `ingester` raises is raised."""
        return self._counted(partial(self._ingester.retry, *args, **kwargs))

    def _counted(self, work: Callable[[], Result]) -> Result:
        started, result = time.perf_counter(), None
        try:
            result = work()
            return result
        finally:
            self._metrics.ingestion(result, time.perf_counter() - started)
