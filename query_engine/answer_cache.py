"""Keep whole answers for a while, so that a question that was just answered is not worked on again.

Flow: `api/answering/cached.py` -> **here** -> the events of an earlier answer, or of the engine and then kept. What is
kept are the events themselves: a reader of a cached answer gets what the first one got, and one step more; only empty
tokens are left out.

An answer belongs to the documents and settings it was made from: its key holds the engine's fingerprint, so it is found
no more once a document came, went or changed. Failures are not kept, nor is an answer with a warning that may be gone a
moment later. Not safe for threads; it lives on the event loop.
"""

import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from cachetools import TTLCache

from query_engine import steps
from query_engine.schema.events import Done, Event, Token

# What the same documents and settings would bring about again.
LASTING_WARNINGS = frozenset({"low_confidence", "passages_left_out", "steering_skipped"})


class AnswerCache:
    """Answers by key; the one that was not asked for the longest makes room.

    Args:
        entries: how many are kept at most; 0 keeps none.
        ttl_s: seconds after which an answer expires.
        clock: seconds that never go back.
        mark: a file that is touched when everything is forgotten, by all processes that have it in common.
        on_lookup: called after each lookup with whether it found an answer; never called if nothing is kept.
    """

    def __init__(
        self,
        entries: int,
        ttl_s: float,
        clock: Callable[[], float] = time.monotonic,
        mark: Path | None = None,
        on_lookup: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self._on_lookup = on_lookup
        self._kept: TTLCache[str, tuple[Event, ...]] = TTLCache(entries, ttl_s, timer=clock)
        self._mark = mark
        self._touched_ns = _touched_ns(mark)
        self._cleared = 0

    def find(self, key: str) -> AsyncGenerator[Event, None] | None:
        """Return the events of the answer that is kept under this key, or None."""
        if not self._kept.maxsize:
            return None
        self._times_cleared()
        events = self._kept.get(key)
        self._on_lookup(events is not None)
        return None if events is None else _replay(events)

    async def keep(
        self, events: AsyncGenerator[Event, None], current_key: Callable[[], Awaitable[str]]
    ) -> AsyncGenerator[Event, None]:
        """Pass events on, and keep them once they are complete.

        Args:
            events: of the engine; closed with this generator.
            current_key: returns the key that the question has now. It is asked before the first event and after the
                last one: documents that changed meanwhile change it, and then nothing is kept. Nor is anything if all
                was forgotten meanwhile.
        """
        seen: list[Event] = []
        async with aclosing(events):
            key, cleared = await current_key(), self._times_cleared()
            async for event in events:
                if not isinstance(event, Token) or event.text or event.citations:
                    seen.append(event)
                if isinstance(event, Done) and _lasts(event) and await current_key() == key:
                    self._keep(key, seen, cleared)
                yield event

    def clear(self) -> int:
        """Forget everything, in all processes; return how many answers this one had."""
        self._times_cleared()
        self._kept.expire()
        count = len(self._kept)
        self._kept.clear()
        self._cleared += 1
        if self._mark is not None:
            os.utime(self._mark)
            self._touched_ns = _touched_ns(self._mark)
        return count

    def _times_cleared(self) -> int:
        """Forget everything if another process was told to; return how often that has happened here or there."""
        if (touched_ns := _touched_ns(self._mark)) != self._touched_ns:
            self._touched_ns = touched_ns
            self._kept.clear()
            self._cleared += 1
        return self._cleared

    def _keep(self, key: str, events: Sequence[Event], cleared: int) -> None:
        if self._kept.maxsize and self._times_cleared() == cleared:
            self._kept[key] = tuple(events)


def _touched_ns(mark: Path | None) -> int:
    return 0 if mark is None else mark.stat().st_mtime_ns


def _lasts(done: Done) -> bool:
    return all(warning.code in LASTING_WARNINGS for warning in done.warnings)


async def _replay(events: Sequence[Event]) -> AsyncGenerator[Event, None]:
    started = time.perf_counter()
    yield steps.remembered()
    for event in events:
        if isinstance(event, Done):
            timings_ms = {"total": round((time.perf_counter() - started) * 1000, 1)}
            yield replace(event, timings_ms=timings_ms, cache_hit=True)
        else:
            yield event
