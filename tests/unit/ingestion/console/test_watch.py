"""What a watched run says at its end, and the exit code it gives."""

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ingestion.console.watch import watch
from ingestion.schema import Progress, Summary, Tell

REPOSITORY = Path(__file__).parents[4]


def finished(summary: Summary) -> tuple[Summary, int]:
    return watch(lambda _tell, _stop: summary)


def test_the_exit_code_says_whether_something_failed() -> None:
    failed = [{"source": "a.pdf", "reason": "Damaged."}]

    assert finished(Summary("books", new=1))[1] == 0
    assert finished(Summary("books", new=1, failed=failed))[1] == 1


def test_the_exit_code_says_whether_the_type_of_too_many_files_is_not_read() -> None:
    half = Summary("books", new=2, files=4, files_read=2, skipped_types={".rst": 2})
    most = Summary("books", new=2, files=5, files_read=2, skipped_types={".rst": 3})

    assert watch(lambda _tell, _stop: half, max_skipped_share=0.5)[1] == 0
    assert watch(lambda _tell, _stop: most, max_skipped_share=0.5)[1] == 1
    assert watch(lambda _tell, _stop: most, max_skipped_share=1)[1] == 0


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


# A signal in a separate process: libraries that other tests loaded have put in handlers of their own.
SIGNALLED = """
import signal, sys
from errors import StorageError
from ingestion.schema import Summary
from ingestion.console.watch import watch

def run(_tell, stop):
    signal.raise_signal(int(sys.argv[1]))
    if sys.argv[2] == "fails":
        raise StorageError("The disk is full.", "Make room.")
    return Summary("books", stopped=stop.is_set())

summary, code = watch(run)
print(summary.stopped)
sys.exit(code)
"""


def signalled(number: signal.Signals, how: str) -> subprocess.CompletedProcess[str]:
    # Tests that were started in the background ignore Ctrl-C, and children inherit that.
    listening = f"import signal; signal.signal({int(number)}, signal.SIG_DFL)"
    command = [sys.executable, "-c", f"{listening}\n{SIGNALLED}", str(int(number)), how]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_asks_the_run_to_stop_and_is_the_exit_code(number: signal.Signals, code: int) -> None:
    done = signalled(number, "stops")

    assert (done.returncode, done.stdout) == (code, "True\n")
    assert "what is committed stays. Once more stops at once." in done.stderr


def test_an_error_after_a_signal_is_told_and_the_signal_stays_the_exit_code() -> None:
    done = signalled(signal.SIGTERM, "fails")

    assert done.returncode == 143
    assert "error[storage_full]: The disk is full. Make room." in done.stderr


def test_signals_do_afterwards_what_they_did_before() -> None:
    before = signal.getsignal(signal.SIGTERM)

    finished(Summary("books"))

    assert signal.getsignal(signal.SIGTERM) is before
