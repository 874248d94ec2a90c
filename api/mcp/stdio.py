"""MCP over stdin and stdout: nothing but the protocol on stdout, and a single way to end.

Flow: `treeline mcp` prepares stdin and stdout by **this** -> `server.py` serves on them. The SDK reads stdin in a
thread that nothing can interrupt. So it is given a pipe instead, which we close: a signal then ends the server as the
end of its input does.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

READ_BYTES = 65536
STDIN, STDOUT, STDERR = 0, 1, 2


class StdioEnd:
    """How the input ended.

    Attributes:
        signal: the one that ended it; None if the client closed it.
    """

    signal: int | None = None

    @property
    def exit_code(self) -> int:
        """0 after the end of input, 128 and the signal's number after a signal."""
        return 0 if self.signal is None else 128 + self.signal


@contextmanager
def input_that_signals_end() -> Iterator[StdioEnd]:
    """Put a pipe in the place of stdin, which SIGTERM and SIGINT close; to be entered in the main thread, once."""
    end, wire, (out, into) = StdioEnd(), os.dup(STDIN), os.pipe()
    os.dup2(out, STDIN)
    os.close(out)
    closing, closed = threading.Lock(), threading.Event()

    def close() -> None:
        with closing:
            if not closed.is_set():
                closed.set()
                os.close(into)

    def relay() -> None:
        with suppress(OSError):
            while data := os.read(wire, READ_BYTES):
                while data and not closed.is_set():
                    data = data[os.write(into, data) :]
        close()

    def stop(number: int, _: FrameType | None) -> None:
        end.signal = number
        # Not here: the interrupted code may hold the lock.
        threading.Thread(target=close, daemon=True).start()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    threading.Thread(target=relay, daemon=True, name="stdin").start()
    try:
        yield end
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Send to stderr what is printed meanwhile, by libraries too."""
    sys.stdout.flush()
    wire = os.dup(STDOUT)
    os.dup2(STDERR, STDOUT)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(wire, STDOUT)
        os.close(wire)
