"""Faults at named points: a store's method, called the n-th time, ends the process or raises, before or after its work.

Nothing in the program knows of this: the methods are wrapped in the process that shall fail.
"""

import errno
import functools
import os
import signal
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

from sqlalchemy.exc import OperationalError

How = Literal["crash", "freeze", "no space", "input/output error", "database full"]
When = Literal["before", "after"]

KILLED = 137


def _rename_of_swap(path: Path, *_: object) -> bool:
    return path.name.startswith(".") or path.with_name(f".{path.name}.rebuild").exists()


# Name -> module, owner, attribute, and which of its calls count.
POINTS: dict[str, tuple[str, str, str, Callable[..., bool]]] = {
    "manifest written": ("index.layout.manifest", "Manifest", "write", lambda *_: True),
    "versions announced": ("index.documents.store", "DocumentStore", "announce", lambda *_: True),
    "vectors stored": ("index.vectors.chroma", "Collection", "upsert", lambda *_: True),
    "words stored": ("index.lexical.tantivy_index", "LexicalIndex", "add", lambda *_: True),
    "documents published": ("index.documents.store", "DocumentStore", "publish", lambda *_: True),
    "old vectors deleted": ("index.vectors.chroma", "Collection", "delete_versions", lambda *_: True),
    "old words deleted": ("index.lexical.tantivy_index", "LexicalIndex", "delete", lambda *_: True),
    "old versions forgotten": ("index.documents.store", "DocumentStore", "forget_pending", lambda *_: True),
    "sources forgotten": ("index.documents.sources", "SourceLedger", "forget", lambda *_: True),
    "corpus renamed": ("pathlib", "Path", "rename", _rename_of_swap),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong, where, and at which call (1 = the first)."""

    point: str
    call: int
    when: When
    how: How


def arrange(fault: Fault, told: Callable[[str], None]) -> None:
    """Wrap the method of the fault's point in this process; `told` hears when it strikes."""
    module_name, owner_name, attribute, counts = POINTS[fault.point]
    owner = getattr(__import__(module_name, fromlist=[owner_name]), owner_name)
    method = getattr(owner, attribute)
    calls = 0

    @functools.wraps(method)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += counts(*arguments)
        due = calls == fault.call and counts(*arguments)
        if due and fault.when == "before":
            told("struck")
            _strike(fault.how)
        result = method(*arguments, **named)
        if due and fault.when == "after":
            told("struck")
            _strike(fault.how)
        return result

    setattr(owner, attribute, wrapped)


def _strike(how: How) -> None:
    match how:
        case "crash":
            os._exit(KILLED)
        case "freeze":
            os.kill(os.getpid(), signal.SIGSTOP)
        case "no space":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        case "input/output error":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        case "database full":
            _full()


def _full() -> NoReturn:
    raise OperationalError("COMMIT", None, sqlite3.OperationalError("database or disk is full"))
