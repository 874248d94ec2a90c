"""Record the terminal while documents are brought in and asked, for `make demo`: the sample, in an empty index.

Flow: real commands in a pseudo-terminal -> **here** -> `var/demo.cast`, an asciicast, which svg-term draws.
Only the typing is made up, and pauses are cut.
"""

import json
import os
import pty
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from tests.e2e.program import REPOSITORY, environment

COLUMNS, ROWS = 100, 30
KEY_S, PAUSE_S, READING_S = 0.04, 1.5, 4.0
COMMANDS = (
    "python -m ingestion data/corpus",
    'python -m query_engine "What did Albert Betz find out about wind turbines?"',
    'python -m query_engine "Which storage lasts longest, and what does it cost?"',
    'python -m query_engine "How do I get a red wine stain out of a tablecloth?"',
)


def main() -> None:
    """Write the recording."""
    lines, now_s = [json.dumps({"version": 2, "width": COLUMNS, "height": ROWS})], 0.0
    with tempfile.TemporaryDirectory() as index:
        for command in COMMANDS:
            for pause_s, text in _shown(command, index):
                now_s += pause_s
                lines.append(json.dumps([round(now_s, 3), "o", text]))
            now_s += READING_S
    (REPOSITORY / "var" / "demo.cast").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _shown(command: str, index: str) -> Iterator[tuple[float, str]]:
    """Yield what a command shows, each after a pause in seconds."""
    yield PAUSE_S, "\x1b[32m$\x1b[0m "
    yield from ((KEY_S, key) for key in command)
    yield KEY_S, "\r\n"
    ours, theirs = pty.openpty()
    size = {"COLUMNS": str(COLUMNS), "LINES": str(ROWS), "TERM": "xterm-256color"}
    program = subprocess.Popen(
        [sys.executable, *shlex.split(command)[1:]],
        cwd=REPOSITORY,
        env=environment(RAG_INDEX__DIR=index) | size,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    last_s = time.monotonic()
    while piece := _read(ours):
        yield min(PAUSE_S, time.monotonic() - last_s), piece
        last_s = time.monotonic()
    os.close(ours)
    assert program.wait() == 0, command


def _read(terminal: int) -> str:
    try:
        return os.read(terminal, 65_536).decode("utf-8", "replace")
    except OSError:  # Linux says so that the other side is closed
        return ""


if __name__ == "__main__":
    main()
