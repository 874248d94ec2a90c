"""A watched folder in a terminal: what is told of each round, and which errors end it."""

import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from errors import StorageError
from ingestion.console.follow import follow_watched
from ingestion.schema import Summary, Tell

FULL = StorageError("The disk is full.", "Make room.")


class Rounds:
    """Answers round by round, makes the next change, and ends after the last round by a signal."""

    def __init__(self, folder: Path, *answers: Summary | StorageError, ending: signal.Signals = signal.SIGTERM) -> None:
        self.done: list[Summary] = []
        self._folder = folder
        self._answers = list(answers)
        self._ending = ending

    def __call__(self, _names: tuple[str, ...] | None, _tell: Tell, _stop: threading.Event) -> Summary:
        answer = self._answers.pop(0)
        if self._answers:
            (self._folder / f"{len(self._answers)}.md").write_text("New.")
        else:
            os.kill(os.getpid(), self._ending)
        if isinstance(answer, StorageError):
            raise answer
        return answer


@pytest.fixture(autouse=True)
def _listening() -> Iterator[None]:
    """Tests that were started in the background ignore Ctrl-C; then it would not be heard here."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_rounds_are_reported_and_sigterm_ends_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rounds = Rounds(tmp_path, Summary("books"), Summary("books", new=1), Summary("books", unchanged=1))

    assert follow_watched(tmp_path, rounds, rounds.done.append) == 0

    err = capsys.readouterr().err
    assert err.index("0 new") < err.index(f"watching {tmp_path}") < err.index("1 new")
    assert [summary.new for summary in rounds.done] == [0, 1], "nothing happened in the third one"


def test_ctrl_c_is_the_exit_code(tmp_path: Path) -> None:
    rounds = Rounds(tmp_path, Summary("books"), ending=signal.SIGINT)

    assert follow_watched(tmp_path, rounds, rounds.done.append) == 130


def test_an_error_of_a_later_round_is_told_and_the_next_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rounds = Rounds(tmp_path, Summary("books"), FULL, Summary("books", new=2))

    assert follow_watched(tmp_path, rounds, rounds.done.append, json_lines=True) == 0

    events = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [event["event"] for event in events] == ["done", "watching", "error", "done"]
    assert events[-1]["new"] == 2


def test_an_error_of_the_first_round_ends_it(tmp_path: Path) -> None:
    rounds = Rounds(tmp_path, FULL, Summary("books"))

    with pytest.raises(StorageError):
        follow_watched(tmp_path, rounds, rounds.done.append)


@pytest.mark.promise("C11")
def test_a_pause_repeats_the_whole_run_and_each_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rounds = Rounds(tmp_path, Summary("books", new=1), FULL, Summary("books", unchanged=1))

    assert follow_watched(tmp_path, rounds, rounds.done.append, every_s=0.01, json_lines=True) == 0

    events = [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()]
    assert events == ["done", "watching", "error", "done"]
    assert [summary.unchanged for summary in rounds.done] == [0, 1]
