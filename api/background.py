"""Write in the background what no request should wait for: records of answers, events of a study.

Flow: `recorder.py`, `study.py` hand over what is to be written -> **here**, one thread for each, in order -> their
files. If the disk is full or the queue too long, records are lost; the log says so at most once a minute.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from errors import RagError

# Writes that may wait for a slow disk; further ones are lost.
MAX_WAITING = 1000
WARN_EVERY_S = 60.0

Result = TypeVar("Result")

logger = logging.getLogger(__name__)


class BackgroundWriter:
    """One thread that writes.

    Args:
        name: of the thread.
        things: what is written, for the log: `answers`.
        lost: what a lost one means, as a sentence without its full stop.
    """

    def __init__(self, name: str, things: str, lost: str) -> None:
        self._things = things
        self._lost = lost
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._room = threading.BoundedSemaphore(MAX_WAITING)
        self._warned_s = -WARN_EVERY_S

    def write(self, work: Callable[[], None]) -> None:
        """Do it soon; returns immediately."""
        if not self._room.acquire(blocking=False):
            self._warn(f"{MAX_WAITING} {self._things} are waiting to be noted")
            return
        self._thread.submit(self._write, work)

    async def run(self, work: Callable[[], Result]) -> Result:
        """Do `work` after everything handed over so far, and return its result.

        Raises:
            Exception: what `work` raises.
        """
        return await asyncio.wrap_future(self._thread.submit(work))

    def wait(self) -> None:
        """Block until everything handed over so far is written."""
        self._thread.submit(lambda: None).result()

    def close(self) -> None:
        """Write what is pending; blocks. Nothing may be handed over afterwards."""
        self._thread.shutdown(wait=True)

    def _write(self, work: Callable[[], None]) -> None:
        try:
            work()
        except RagError as error:
            self._warn(str(error))
        except Exception:
            logger.exception(self._lost)
        finally:
            self._room.release()

    def _warn(self, why: str) -> None:
        if time.monotonic() - self._warned_s >= WARN_EVERY_S:
            self._warned_s = time.monotonic()
            logger.warning("%s: %s", self._lost, why)
