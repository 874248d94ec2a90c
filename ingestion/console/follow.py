"""Keep a corpus in step with a folder, in a terminal: run after run, as files change or time passes, until a signal.

Flow: `commands/ingest.py` -> **here** joins `folder_changes.py` and `watch.py` -> stderr, and each round's summary to
the caller.
"""

import json
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from errors import RagError, error_line
from ingestion.console.signals import StopSignals
from ingestion.console.watch import notice_of, run_shown, tell_end
from ingestion.folder_changes import again_every, follow
from ingestion.schema import Summary, Tell

Round = Callable[[tuple[str, ...] | None, Tell, threading.Event], Summary]


def follow_watched(
    folder: Path,
    bring: Round,
    done: Callable[[Summary], None],
    *,
    every_s: float | None = None,
    json_lines: bool = False,
    max_skipped_share: float = 1,
) -> int:
    """Bring the folder in, then what changes in it, or all of it after each pause.

    Returns the exit code: 130 after Ctrl-C, 0 after SIGTERM.

    Args:
        folder: absolute, with all links resolved.
        bring: does a round, of all or of these paths from the folder.
        done: called after each round in which something happened, the first one included; with a pause after each.
        every_s: the pause; None watches the folder.
        json_lines: write JSON objects, one a line, instead of text.
        max_skipped_share: see `watch`.

    Raises:
        RagError: the first round failed. Errors of later ones are told, and the round is tried again.
    """
    signals = StopSignals(notice_of(json_lines))
    watching = False

    def bring_shown(names: tuple[str, ...] | None) -> bool:
        nonlocal watching
        try:
            summary, met = run_shown(lambda tell, stop: bring(names, tell, stop), signals.stop, json_lines=json_lines)
        except RagError as error:
            if not watching and not signals.stop.is_set():
                raise
            sys.stderr.write(error_line(error, as_json=json_lines))
            return False
        if not watching or every_s is not None or _anything(summary):
            tell_end(summary, met, signals.exit_code, json_lines=json_lines, max_skipped_share=max_skipped_share)
            done(summary)
        if not watching and not summary.stopped:
            watching = True
            told = "for changes" if every_s is None else f"every {every_s:g} s"
            event = json.dumps({"event": "watching", "folder": str(folder), "every_s": every_s})
            sys.stderr.write(f"{event}\n" if json_lines else f"watching {folder} {told}; Ctrl-C ends\n")
            sys.stderr.flush()
        return not summary.stopped

    with signals:
        rounds = follow if every_s is None else again_every(every_s)
        rounds(folder, bring_shown, signals.stop)
    return 130 if signals.number == signal.SIGINT else 0


def _anything(summary: Summary) -> bool:
    happened = (summary.new, summary.changed, summary.removed, summary.failed, summary.skipped, summary.stopped)
    return any(happened)
