"""Show on stderr how a run goes: a bar on a terminal, a line now and then elsewhere, JSON lines for machines.

Flow: `Progress`, file by file -> **here** -> stderr. What the run did in the end is `summary.py`'s business.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from typing import TextIO

from ingestion.console.pace import Pace, PaceMeter
from ingestion.schema import Progress, Tell

BAR_EVERY_S = 0.25
LINE_EVERY_S = 5.0
NAME_CHARS = 30


@contextmanager
def shown(stream: TextIO, *, json_lines: bool = False) -> Iterator[Tell]:
    """Give what is to be called with each `Progress`.

    Args:
        stream: where it is shown; whether it is a terminal decides between a bar and lines.
        json_lines: one JSON object a line instead: `event` is `file`, or `progress` within a large file.
    """
    if json_lines:
        yield _events(stream)
    else:
        with _bar(stream) if stream.isatty() else _lines(stream) as tell:
            yield tell


def describe(progress: Progress, pace: Pace) -> str:
    """Say how far a run is: `2 of 60 files, 2 documents, 812 leaves, 161 leaves/s, 2:10 left`."""
    parts = [
        f"{progress.files:,} of {progress.files_total:,} files",
        f"{progress.documents:,} documents",
        f"{progress.leaves:,} leaves",
    ]
    if pace.leaves_per_s is not None:
        parts.append(f"{pace.leaves_per_s:.0f} leaves/s")
    if pace.eta_s is not None:
        parts.append(f"{duration(pace.eta_s)} left")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """Return `4:05` (minutes and seconds) or `2:04:05`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _events(stream: TextIO) -> Tell:
    meter = PaceMeter()

    def tell(progress: Progress) -> None:
        event = "file" if progress.outcome else "progress"
        stream.write(json.dumps({"event": event, **asdict(progress), **asdict(meter.at(progress))}) + "\n")
        stream.flush()

    return tell


def _bar(stream: TextIO) -> AbstractContextManager[Tell]:
    from tqdm import tqdm  # noqa: PLC0415  # only a terminal needs it

    form = "{percentage:3.0f}% |{bar}| {elapsed} {desc}"
    bar = tqdm(total=1, file=stream, bar_format=form, dynamic_ncols=True, leave=False)

    def show(progress: Progress, pace: Pace) -> None:
        bar.total = max(1, progress.bytes_total)
        bar.n = progress.bytes
        bar.set_description_str(f"{describe(progress, pace)}  {progress.source[-NAME_CHARS:]}")

    return _ticking(show, BAR_EVERY_S, bar.close)


def _lines(stream: TextIO) -> AbstractContextManager[Tell]:
    last, began = "", time.monotonic()

    def show(progress: Progress, pace: Pace) -> None:
        nonlocal last
        percent = 100 * progress.bytes // max(1, progress.bytes_total)
        line = f"{percent:3d} %: {describe(progress, pace)}"
        # A line that says nothing new tells at least that the run lives, and over what.
        still = f", {duration(time.monotonic() - began)} since the start, at {progress.source}" if line == last else ""
        last = line
        stream.write(f"{line}{still}\n")
        stream.flush()

    return _ticking(show, LINE_EVERY_S)


@contextmanager
def _ticking(
    show: Callable[[Progress, Pace], None], every_s: float, close: Callable[[], None] = lambda: None
) -> Iterator[Tell]:
    """Show the newest progress at even intervals: files come in bursts, a batch at a time, and seconds pass between."""
    meter = PaceMeter()
    newest: tuple[Progress, Pace] | None = None
    ended = threading.Event()

    def tell(progress: Progress) -> None:
        nonlocal newest
        newest = progress, meter.at(progress)

    def tick() -> None:
        while not ended.wait(every_s):
            if newest:
                show(*newest)

    thread = threading.Thread(target=tick, name="progress", daemon=True)
    thread.start()
    try:
        yield tell
    finally:
        ended.set()
        thread.join()
        close()
