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
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from cachetools import TTLCache

from query_engine import steps
from query_engine.schema.events import Done, Event, Token
from query_engine.schema.retrieval_result import ms_since

# What the same documents and settings would bring about again.
LASTING_WARNINGS = frozenset({"low_confidence", "other_language", "passages_left_out", "steering_skipped"})


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

    def find(self, key: str) -> list[Event] | None:
        """Return the events of the answer that is kept under this key, with a step that says so; None if none is."""
        if not self._kept.maxsize:
            return None
        started = time.perf_counter()
        self._times_cleared()
        events = self._kept.get(key)
        self._on_lookup(events is not None)
        return None if events is None else _again(events, started)

    def draft(self) -> "Draft":
        """Return what takes the events of an answer that is about to be made."""
        return Draft(self._times_cleared())

    def keep(self, key: str, draft: "Draft") -> None:
        """Keep an answer that is complete and would come out the same, unless all was forgotten since it began.

        Args:
            key: that the question had when the answer began, and still has.
            draft: its events.
        """
        if self._kept.maxsize and draft.lasts and self._times_cleared() == draft.cleared:
            self._kept[key] = tuple(draft.events)

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


class Draft:
    """The events of an answer that is being made.

    Args:
        cleared: how often all had been forgotten when it began.

    Attributes:
        events: so far, without empty tokens.
        lasts: it is complete, and nothing in it may be gone a moment later.
    """

    def __init__(self, cleared: int) -> None:
        self.cleared = cleared
        self.events: list[Event] = []
        self.lasts = False

    def add(self, event: Event) -> None:
        """Take the next event."""
        if not isinstance(event, Token) or event.text or event.citations:
            self.events.append(event)
        if isinstance(event, Done):
            self.lasts = all(warning.code in LASTING_WARNINGS for warning in event.warnings)


def _touched_ns(mark: Path | None) -> int:
    return 0 if mark is None else mark.stat().st_mtime_ns


def _again(events: Sequence[Event], started: float) -> list[Event]:
    timings_ms = {"total": ms_since(started)}
    return [
        steps.remembered(),
        *(replace(one, timings_ms=timings_ms, cache_hit=True) if isinstance(one, Done) else one for one in events),
    ]
