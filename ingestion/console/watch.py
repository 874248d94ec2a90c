"""Run an ingestion while a person or a program watches: progress, signals, the report at the end.

Flow: commands and `main.py` -> **here** -> `build.py`, a repair, or a service that does the work. Everything goes to
stderr.
"""

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from errors import RagError, error_line
from ingestion.build import ingest
from ingestion.console.coverage import TOO_FEW_READ, skipped_share
from ingestion.console.progress import shown
from ingestion.console.signals import NOTICE, StopSignals
from ingestion.console.summary import FilesMet, report
from ingestion.schema import Progress, Summary, Tell
from settings import Settings

Run = Callable[[Tell, threading.Event], Summary]


def watch(run: Run, *, json_lines: bool = False, max_skipped_share: float = 1) -> tuple[Summary, int]:
    """Call `run`, tell how it goes, and report what it did; raises what `run` raises.

    Args:
        run: is given what to call with each `Progress`, and the event that asks it to stop.
        json_lines: write JSON objects, one a line, instead of text.
        max_skipped_share: of the files, 0 to 1: when more have a type that is not read, the exit code is 1.

    Returns:
        The summary and the exit code: 1 when something failed or too much was skipped, 130 or 143 when a signal came,
        else 0.

    Raises:
        SystemExit: `run` failed after a signal; the error is a consequence, and the code is the signal's.
    """
    signals = StopSignals(notice_of(json_lines))
    with signals:
        try:
            summary, met = run_shown(run, signals.stop, json_lines=json_lines)
        except RagError as error:
            if signals.exit_code is None:
                raise
            sys.stderr.write(error_line(error, as_json=json_lines))
            raise SystemExit(signals.exit_code) from error
    return summary, tell_end(
        summary, met, signals.exit_code, json_lines=json_lines, max_skipped_share=max_skipped_share
    )


def notice_of(json_lines: bool) -> str:
    """Return what is written at the first signal."""
    return '{"event": "stopping"}\n' if json_lines else NOTICE


def run_shown(run: Run, stop: threading.Event, *, json_lines: bool) -> tuple[Summary, FilesMet]:
    """Call `run` with this `stop`, tell how it goes, and return what it did with the files it met."""
    met = FilesMet()
    with shown(sys.stderr, json_lines=json_lines) as tell:

        def told(progress: Progress) -> None:
            met.note(progress)
            tell(progress)

        return run(told, stop), met


def tell_end(
    summary: Summary, met: FilesMet, signalled: int | None, *, json_lines: bool, max_skipped_share: float
) -> int:
    """Report what a run did, and return its exit code; `signalled` is that of a signal, if one came."""
    too_few_read = skipped_share(summary) > max_skipped_share
    code = signalled or (1 if summary.failed or too_few_read else 0)
    if json_lines:
        counts = {name: value for name, value in summary.to_dict().items() if not isinstance(value, list)}
        totals = {"failed": len(summary.failed), "skipped": len(summary.skipped), "exit_code": code}
        totals["duplicates"] = len(summary.duplicates)
        sys.stderr.write(json.dumps({"event": "done", **counts, **totals}) + "\n")
    else:
        sys.stderr.writelines(f"{line}\n" for line in report(summary, met))
        if too_few_read:
            sys.stderr.write(TOO_FEW_READ)
    return code


def ingest_watched(path: Path, settings: Settings, *, corpus: str, json_lines: bool = False) -> int:
    """Do what `build.ingest` does with no options, watched; return the exit code."""
    return watch(
        lambda tell, stop: ingest(path, settings, corpus=corpus, on_progress=tell, stop=stop),
        json_lines=json_lines,
        max_skipped_share=settings.ingest.max_skipped_share,
    )[1]
