"""What a watched run says at its end, and the exit code it gives."""

import json
import signal
import threading

import pytest

from errors import StorageError
from ingestion.progress import Tell
from ingestion.run import Progress, Summary
from ingestion.watching import watch


def finished(summary: Summary) -> tuple[Summary, int]:
    return watch(lambda _tell, _stop: summary)


def test_the_exit_code_says_whether_something_failed() -> None:
    failed = [{"source": "a.pdf", "reason": "Damaged."}]

    assert finished(Summary("books", new=1))[1] == 0
    assert finished(Summary("books", new=1, failed=failed))[1] == 1


def test_people_read_what_failed_and_the_totals_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    finished(Summary("books", new=1, failed=[{"source": "a.pdf", "reason": "Damaged."}]))

    shown = capsys.readouterr()
    assert "1 x Damaged." in shown.err
    assert "corpus 'books': 1 new" in shown.err
    assert shown.out == ""


def test_programs_read_nothing_but_json(capsys: pytest.CaptureFixture[str]) -> None:
    def run(tell: Tell, _stop: threading.Event) -> Summary:
        tell(Progress("a.md", "new", None, 1, 1, 9, 9, 1, 2))
        return Summary("books", new=1, leaves=2, skipped=[{"source": "b.png", "reason": "unsupported type"}])

    watch(run, json_lines=True)

    file, done = map(json.loads, capsys.readouterr().err.splitlines())
    assert (file["event"], file["source"]) == ("file", "a.md")
    assert done.items() >= {"event": "done", "new": 1, "leaves": 2, "skipped": 1, "failed": 0, "exit_code": 0}.items()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_asks_the_run_to_stop_and_is_the_exit_code(
    number: signal.Signals, code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    before = signal.signal(number, lambda *_: None)
    try:

        def run(_tell: Tell, stop: threading.Event) -> Summary:
            signal.raise_signal(number)
            return Summary("books", stopped=stop.is_set())

        assert watch(run) == (Summary("books", stopped=True), code)
    finally:
        signal.signal(number, before)

    assert "what is committed stays. Once more stops at once." in capfd.readouterr().err


def test_an_error_after_a_signal_is_told_and_the_signal_stays_the_exit_code(capfd: pytest.CaptureFixture[str]) -> None:
    def run(_tell: Tell, _stop: threading.Event) -> Summary:
        signal.raise_signal(signal.SIGTERM)
        raise StorageError("The disk is full.", "Make room.")

    with pytest.raises(SystemExit, match="143"):
        watch(run)

    assert "error[storage_full]: The disk is full. Make room." in capfd.readouterr().err


def test_signals_do_afterwards_what_they_did_before() -> None:
    before = signal.getsignal(signal.SIGTERM)

    finished(Summary("books"))

    assert signal.getsignal(signal.SIGTERM) is before
