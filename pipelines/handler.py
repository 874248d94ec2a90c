"""What a running step is given: services, progress reporting, and the row cache.

Flow: `running.py` makes one for each step -> **here** -> `transform` uses it -> `running.py` reads warnings and hits.
"""

import json
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Any

from pydantic_core import from_json, to_json

from errors import TaskCancelledError, without_paths
from pipelines.row_cache import RowCache
from pipelines.services import Services

KEY_BYTES = 16
# Told at most so often in a step: a message costs more than a short row.
MOST_MESSAGES = 100
MOST_MESSAGE_CHARS = 1000

logger = logging.getLogger(__name__)


class StepHandler:
    """One step's view of the task that runs it.

    Args:
        number: of the step, from 1.
        services: what it may call.
        cache: of rows; None computes every row.
        stop: set when the task was cancelled.
        tell: is told how many rows are done, of how many.
        note: is told a line of the log.

    Attributes:
        number, services: as given.
        warnings: what the step lowered or left out.
        looked_up: rows that were asked of the cache.
        found: those of them that were there.
    """

    def __init__(
        self,
        number: int,
        services: Services,
        *,
        cache: RowCache | None,
        stop: threading.Event,
        tell: Callable[[int, int], None],
        note: Callable[[str], None],
    ) -> None:
        self.number = number
        self.services = services
        self.warnings: list[str] = []
        self.looked_up = 0
        self.found = 0
        self._cache = cache
        self._stop = stop
        self._tell = tell
        self._note = note

    @property
    def stop(self) -> threading.Event:
        """Set when the task was cancelled; for calls that take a deadline."""
        return self._stop

    def check(self) -> None:
        """Return if the task goes on; call it between parts of the work.

        Raises:
            TaskCancelledError: it was cancelled.
        """
        if self._stop.is_set():
            raise TaskCancelledError("The task was cancelled.", "Start it again if it is still wanted.")

    def progress(self, done: int, total: int) -> None:
        """Tell how far the step is; raises TaskCancelledError as `check` does."""
        self.check()
        self._tell(done, total)

    def log(self, text: str) -> None:
        """Add a line to the log of the task."""
        self._note(text)

    def warn(self, text: str) -> None:
        """Add a warning: something was lowered or left out; the pipeline goes on."""
        if len(self.warnings) < MOST_MESSAGES:
            self.warnings.append(without_paths(text)[:MOST_MESSAGE_CHARS])

    def each(
        self,
        rows: Sequence[Any],
        name: object,
        compute: Callable[[list[Any]], Iterable[Any]],
        *,
        cached: bool = True,
        before: int = 0,
        of: int | None = None,
    ) -> list[Any]:
        """Return what `compute` makes of each row, from the cache where it is there. Tells the progress.

        Args:
            rows: the inputs, JSON-ready.
            name: all that decides the outcome beside the row: step, parameters, model; JSON-ready.
            compute: yields one JSON-ready value for each of the rows it is given, in order. What it yielded is kept
                even if it fails at a later row.
            cached: False computes every row: for what costs less than a look-up.
            before: rows of earlier calls of the same step, which count as done.
            of: rows of all its calls together; None stands for those of this one.

        Raises:
            TaskCancelledError: the task was cancelled.
        """
        total = len(rows)
        whole = total if of is None else of

        def tell(done: int) -> None:
            self._tell(before + done, whole)

        self.check()
        tell(0)
        if self._cache is None or not cached:
            return self._computed(rows, list(range(total)), [None] * total, compute, {}, tell=tell)
        keys = _keys(rows, name)
        found = self._known(keys)
        self.looked_up += total
        # One list is read faster than its entries one by one.
        values = from_json(b"[" + b",".join([found.get(key, b"null") for key in keys]) + b"]")
        missing = [place for place, key in enumerate(keys) if key not in found]
        self.found += total - len(missing)
        made: dict[int, Any] = {}
        try:
            return self._computed(rows, missing, values, compute, made, tell=tell)
        finally:
            self._keep({keys[place]: to_json(value) for place, value in made.items()})

    def _computed(
        self,
        rows: Sequence[Any],
        missing: list[int],
        values: list[Any],
        compute: Callable[[list[Any]], Iterable[Any]],
        made: dict[int, Any],
        *,
        tell: Callable[[int], None],
    ) -> list[Any]:
        done = len(rows) - len(missing)
        told_every = max(1, len(rows) // 100)
        if missing:
            for place, value in zip(missing, compute([rows[place] for place in missing]), strict=True):
                values[place] = made[place] = value
                done += 1
                self.check()
                if done % told_every == 0 or done == len(rows):
                    tell(done)
        return values

    def _known(self, keys: list[bytes]) -> dict[bytes, bytes]:
        try:
            return self._cache.get(list(dict.fromkeys(keys))) if self._cache else {}
        except sqlite3.Error as error:
            self._without_cache(error)
            return {}

    def _keep(self, values: dict[bytes, bytes]) -> None:
        try:
            if self._cache and values:
                self._cache.put(values)
        except sqlite3.Error as error:
            self._without_cache(error)

    def _without_cache(self, error: sqlite3.Error) -> None:
        logger.warning("The row cache was left out: %s", error)
        self.warn(f"The row cache was left out: {error}.")


def _keys(rows: Sequence[Any], name: object) -> list[bytes]:
    prefix = blake2b(json.dumps(name, sort_keys=True).encode(), digest_size=KEY_BYTES).digest()
    texts = [row.encode("utf-8", "surrogatepass") if isinstance(row, str) else to_json(row) for row in rows]
    return [blake2b(prefix + text, digest_size=KEY_BYTES).digest() for text in texts]
