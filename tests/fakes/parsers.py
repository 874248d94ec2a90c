"""Parsers that misbehave, for the child process of the readers; named to it as `tests.fakes.parsers:NAME`.

Each obeys for a file called `good.txt` and does its mischief for any other.
"""

import os
import resource
import signal
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.containers import Begun
from ingestion.reading.options import ReadOptions

Items = Iterator[Document | UnreadableError]


def _good(doc_id: str) -> Document:
    return Document(doc_id, "Good", "Read by the child.", metadata={"pid": os.getpid()}, source=doc_id)


def blocks(path: Path, doc_id: str, _options: ReadOptions) -> Items:
    """Wait for ever."""
    if path.name != "good.txt":
        threading.Event().wait()
    yield _good(doc_id)


def eats_memory(path: Path, doc_id: str, _options: ReadOptions) -> Items:
    """Ask for more memory than the process may have."""
    if path.name != "good.txt":
        bytearray(2 * resource.getrlimit(resource.RLIMIT_AS)[0])
    yield _good(doc_id)


def crashes(path: Path, doc_id: str, _options: ReadOptions) -> Items:
    """Die as a fault in C code does."""
    if path.name != "good.txt":
        os.kill(os.getpid(), signal.SIGSEGV)
    yield _good(doc_id)


def raises(path: Path, doc_id: str, _options: ReadOptions) -> Items:
    """Give one document, then stumble over a bug."""
    yield _good(doc_id)
    if path.name != "good.txt":
        raise KeyError("no such table")


def crashes_later(path: Path, doc_id: str, _options: ReadOptions) -> Items:
    """Give more documents than one batch holds, then die."""
    yield from (_good(f"{doc_id}#{number}") for number in range(600))
    if path.name != "good.txt":
        os.kill(os.getpid(), signal.SIGKILL)


def crashes_at_members(_path: Path, doc_id: str, options: ReadOptions) -> Iterator[Document | Begun]:
    """Give the members of an archive; the second and the fourth of five give one document and die of another."""
    for number in range((options.after_member or 0) + 1, 6):
        member_id = f"{doc_id}/{number}.txt"
        yield Begun(number, member_id)
        yield _good(member_id)
        if number in (2, 4):
            os.kill(os.getpid(), signal.SIGSEGV)


def endless(_path: Path, doc_id: str, _options: ReadOptions) -> Items:
    """Give documents for ever, each with its number as title."""
    for number in count():
        yield Document(f"{doc_id}#{number}", str(number), "Text.", source=doc_id)


def tells_environment(_path: Path, doc_id: str, _options: ReadOptions) -> Items:
    """Give the names of all environment variables that the parser can see."""
    yield Document(doc_id, "Environment", " ".join(sorted(os.environ)), source=doc_id)


def waits_at_members(path: Path, doc_id: str, options: ReadOptions) -> Iterator[Document | Begun]:
    """Give the members of an archive of four; those whose numbers are in its name never end.

    Each attempt to read a member is noted in a file beside the archive.
    """
    for number in range((options.after_member or 0) + 1, 5):
        member_id = f"{doc_id}/{number}.txt"
        yield Begun(number, member_id)
        with path.with_suffix(".log").open("a") as log:
            log.write(f"{number} ")
        if str(number) in path.stem:
            threading.Event().wait()
        yield _good(member_id)


def uses_its_time(_path: Path, doc_id: str, options: ReadOptions) -> Iterator[Document | Begun]:
    """Give members without end, each of which takes a quarter of the time for one batch."""
    for number in count((options.after_member or 0) + 1):
        yield Begun(number, f"{doc_id}/{number}.txt")
        left_s, limit_s = signal.getitimer(signal.ITIMER_REAL)
        signal.setitimer(signal.ITIMER_REAL, max(left_s - limit_s / 4, 0.001), limit_s)
        signal.sigtimedwait([], 0.01)
        yield _good(f"{doc_id}/{number}.txt")
