"""How a run is shown while it goes: on a terminal, in a log, to a program."""

import io
import itertools
import json
import threading
from collections.abc import Callable

import pytest

from ingestion.console import progress
from ingestion.console.pace import Pace
from ingestion.console.progress import _ticking, describe, shown
from ingestion.schema import Progress

DONE = Progress("b/rows.jsonl", "failed", "Line 3 is no JSON.", 2, 8, 50, 200, 4, 120)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_programs_get_one_json_object_a_file() -> None:
    stream = io.StringIO()

    with shown(stream, json_lines=True) as tell:
        tell(Progress("b", None, None, 0, 8, 0, 200, 0, 0))
        tell(DONE)

    started, done = map(json.loads, stream.getvalue().splitlines())
    assert started["event"] == "progress"
    assert done.items() >= {"event": "file", "source": "b/rows.jsonl", "outcome": "failed", "bytes_total": 200}.items()
    assert done["reason"] == "Line 3 is no JSON."
    assert {"elapsed_s", "leaves_per_s", "eta_s"} <= done.keys()


@pytest.mark.parametrize(
    ("pace", "line"),
    [
        (Pace(3.0, 161.2, 125.0), "2 of 8 files, 4 documents, 120 leaves, 161 leaves/s, 2:05 left"),
        (Pace(3.0, 161.2, 7445), "2 of 8 files, 4 documents, 120 leaves, 161 leaves/s, 2:04:05 left"),
        (Pace(3.0, None, 59.6), "2 of 8 files, 4 documents, 120 leaves, 1:00 left"),
        (Pace(3.0, None, None), "2 of 8 files, 4 documents, 120 leaves"),
    ],
)
def test_people_read_what_is_known_of_files_speed_and_what_is_left(pace: Pace, line: str) -> None:
    assert describe(DONE, pace) == line


def test_the_newest_progress_is_shown_again_and_again() -> None:
    shown_sources: list[str] = []
    twice = threading.Event()

    def show(progress: Progress, _pace: Pace) -> None:
        shown_sources.append(progress.source)
        if len(shown_sources) == 2:
            twice.set()

    with _ticking(show, 0.001) as tell:
        tell(DONE)
        assert twice.wait(10)  # a batch may take long: people see that the run lives

    assert set(shown_sources) == {"b/rows.jsonl"}


def test_a_terminal_has_a_bar_that_goes_away() -> None:
    stream = Terminal()

    with shown(stream) as tell:
        tell(DONE)

    assert stream.getvalue().endswith("\r")


def test_a_log_has_no_bar() -> None:
    stream = io.StringIO()

    with shown(stream) as tell:
        tell(DONE)

    assert "\r" not in stream.getvalue()


def test_a_log_says_something_new_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.001)
    seconds = itertools.count()
    monkeypatch.setattr("ingestion.console.progress.time.monotonic", lambda: float(next(seconds)))
    stream = io.StringIO()
    enough = threading.Event()

    def write(text: str, write: Callable[[str], int] = stream.write) -> int:
        if stream.getvalue().count("\n") > 16:
            enough.set()
        return write(text)

    monkeypatch.setattr(stream, "write", write)

    with shown(stream) as tell:
        tell(Progress("large.pdf", None, None, 0, 1, 0, 200, 0, 0))
        assert enough.wait(10)

    lines = stream.getvalue().splitlines()
    assert len(set(lines)) == len(lines)
    assert "at large.pdf" in lines[1]
