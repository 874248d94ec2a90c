"""Show on stderr how a run goes: a bar on a terminal, a line now and then elsewhere, JSON lines for machines.

Flow: `Progress`, file by file -> **here** -> stderr. What the run did in the end is `report.py`'s business.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TextIO

from ingestion.pace import Pace, PaceMeter
from ingestion.run import Progress

Tell = Callable[[Progress], None]

# Without a terminal: a line at each tenth of the run, but neither more often nor more seldom than this.
LINE_EVERY_PERCENT = 10
LEAST_S = 1.0
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
    elif stream.isatty():
        with _bar(stream) as tell:
            yield tell
    else:
        yield _lines(stream)


def describe(progress: Progress, pace: Pace) -> str:
    """Say how far a run is: `2 of 60 files, 2 new or changed documents, 812 leaves, 161 leaves/s, 2:10 left`."""
    parts = [
        f"{progress.files:,} of {progress.files_total:,} files",
        f"{progress.documents:,} new or changed documents",
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


@contextmanager
def _bar(stream: TextIO) -> Iterator[Tell]:
    from tqdm import tqdm  # noqa: PLC0415  # only a terminal needs it

    meter = PaceMeter()
    form = "{percentage:3.0f}% |{bar}| {desc}"
    with tqdm(total=1, file=stream, bar_format=form, dynamic_ncols=True, leave=False) as bar:

        def tell(progress: Progress) -> None:
            bar.total = max(1, progress.bytes_total)
            name = progress.source[-NAME_CHARS:]
            bar.set_description_str(f"{describe(progress, meter.at(progress))}  {name}", refresh=False)
            bar.update(progress.bytes - bar.n)

        yield tell


def _lines(stream: TextIO, clock: Callable[[], float] = time.monotonic) -> Tell:
    meter = PaceMeter(clock)
    told_at, told_percent = clock(), 0

    def tell(progress: Progress) -> None:
        nonlocal told_at, told_percent
        pace = meter.at(progress)
        percent = 100 * progress.bytes // max(1, progress.bytes_total)
        quiet_s = clock() - told_at
        if quiet_s < LEAST_S or (quiet_s < LINE_EVERY_S and percent < told_percent + LINE_EVERY_PERCENT):
            return
        told_at, told_percent = clock(), percent
        stream.write(f"{percent:3d} %: {describe(progress, pace)}\n")
        stream.flush()

    return tell
