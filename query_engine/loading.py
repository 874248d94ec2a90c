"""Load what a process answers with, faster.

Flow: `main.py` and `python -m query_engine` import their libraries within **this** -> `build.py` finds the reader
loaded.
"""

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from settings import AnswerSettings


@contextmanager
def loading(answer: AnswerSettings) -> Iterator[None]:
    """Load the reader in a thread while the block imports libraries; a failure comes again where it is asked for.

    No garbage is collected meanwhile: what libraries make stays for good, and the collector would walk it over and
    over, a sixth of the time.

    Args:
        answer: says whether the shipped reader is wanted.
    """
    gc.disable()
    try:
        with ThreadPoolExecutor(1) as aside:
            if answer.reader is None:
                # Imported here: two threads that import the same libraries may see halves of them.
                from query_engine.reader.model import shipped_reader  # noqa: PLC0415

                aside.submit(shipped_reader)
            yield
    finally:
        gc.freeze()
        gc.enable()
