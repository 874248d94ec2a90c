"""List the files below an ingest root, and open one without being fooled.

Flow: ingest root -> **here** -> `Reader` -> documents.

A folder that people fill holds more than files: links that leave it, named pipes that block a reader for ever, devices
without end. What is not a plain file is listed with the reason and never opened; what a file contains is decided later
(`formats.py`).
"""

import errno
import os
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader, FileIO
from pathlib import Path, PurePath

from errors import UnreadableError

FORMATS = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "plain text",
    ".text": "plain text",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".rst": "restructuredtext",
    ".adoc": "asciidoc",
    ".asciidoc": "asciidoc",
    ".org": "org",
    ".ipynb": "notebook",
    ".xml": "xml",
    # Sections of the manual. Much else has these suffixes, so such a file is only read if it begins as a page does.
    **{f".{section}": "man page" for section in range(1, 10)},
}
COMPRESSIONS = (".gz", ".bz2")
BUFFER_BYTES = 262_144  # what a reader can look at before it begins
# A folder that is only passed through need not be readable, where the system can open it so.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_COMPRESSED_BY_THEMSELVES = ("pdf", "docx", "parquet")
_KINDS = (
    (stat.S_ISLNK, "symbolic link, which is not followed"),
    (stat.S_ISFIFO, "named pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISBLK, "device"),
    (stat.S_ISCHR, "device"),
)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A plain file of a known type.

    Attributes:
        path: absolute, with all links resolved.
        doc_id: path relative to the ingest root, with `/` between its parts.
        size: in bytes, when it was listed.
    """

    path: Path
    doc_id: str
    size: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something below the root that is not read; `path` is relative to the root and printable."""

    path: str
    reason: str


def inner_name(name: str) -> str:
    """Return a file's name without the suffix of its compression: `a.txt.gz` -> `a.txt`."""
    stem, dot, suffix = name.rpartition(".")
    return stem if dot + suffix.lower() in COMPRESSIONS else name


def format_of(name: str) -> str | None:
    """Return the format that a file's suffix names, or None. Formats of text may be compressed."""
    inner = inner_name(name)
    found = FORMATS.get(PurePath(inner).suffix.lower())
    return None if inner != name and found in _COMPRESSED_BY_THEMSELVES else found


def list_files(root: Path, *, resolved: bool = False) -> Iterator[SourceFile | Skipped]:
    """Return everything below `root`, folder by folder in order of name; hidden names are passed over in silence.

    Args:
        root: a folder or a file. It may be a link: the person who names it means its target.
        resolved: its links were resolved before, and perhaps checked; should it be a link by now, it is not followed.

    Raises:
        UnreadableError: `root` does not exist or cannot be looked into; at the call, before anything is listed.
    """
    try:
        if not resolved:
            root = root.resolve(strict=True)
        elif root.is_symlink():
            raise UnreadableError(f"{_printable(root)} has become a symbolic link.", "Name the real folder.")
        root.lstat()  # raises for one that is not there
        pending = _children(root) if root.is_dir() else [root]
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a loop of links"
        raise UnreadableError(f"{_printable(root)} cannot be read: {reason}.", "Check the path.") from error
    return _walk(root if root.is_dir() else root.parent, pending)


def _walk(base: Path, pending: list[Path]) -> Iterator[SourceFile | Skipped]:
    while pending:
        path = pending.pop()
        name = path.relative_to(base).as_posix()
        try:
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode):
                pending += _children(path)
                continue
        except OSError as error:
            yield Skipped(_printable(name), f"cannot be read: {error.strerror}")
            continue
        reason = _refusal(name, status.st_mode)
        yield Skipped(_printable(name), reason) if reason else SourceFile(path, name, status.st_size)


def open_plain(path: Path) -> BufferedReader:
    """Open a plain file for reading; never follow a link, never wait for a pipe or a device.

    No part of the path may be a link: what was listed below a folder may have been swapped for one since.

    Args:
        path: absolute, with all links resolved.

    Raises:
        UnreadableError: it is something else, is gone, may not be read, or is reached through a link.
    """
    try:
        descriptor = _open_without_links(path)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            fact = "The file cannot be opened: a symbolic link leads to it, which is not followed."
            raise UnreadableError(
                fact, "Put the file itself there, or name the folder that the link leads to."
            ) from error
        raise UnreadableError(f"The file cannot be opened: {error.strerror}.", "Check its permissions.") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnreadableError("This is no plain file.", "Remove it from the folder.")
    return BufferedReader(FileIO(descriptor, "rb"), BUFFER_BYTES)


def _open_without_links(path: Path) -> int:
    """Open a file from the topmost folder down, each part relative to the folder before it."""
    top, *folders = path.parent.parts
    folder = os.open(top, _FOLDER)
    try:
        for name in folders:
            inner = os.open(name, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    finally:
        os.close(folder)


def _children(folder: Path) -> list[Path]:
    """Return what is in `folder`, last name first, so that a stack pops it in order."""
    return sorted((path for path in folder.iterdir() if not path.name.startswith(".")), reverse=True)


def _refusal(name: str, mode: int) -> str | None:
    for is_kind, reason in _KINDS:
        if is_kind(mode):
            return reason
    if any(map(_is_unspeakable, name)):
        return "its name holds control characters or is no valid UTF-8"
    if format_of(name):
        return None
    suffix = PurePath(inner_name(name)).suffix.lower() + name[len(inner_name(name)) :].lower()
    return f"unsupported type {suffix}".rstrip()


def _printable(name: object) -> str:
    return "".join(ascii(c)[1:-1] if _is_unspeakable(c) else c for c in str(name))


def _is_unspeakable(character: str) -> bool:
    """Tell control characters and the surrogates that stand for bytes which are no UTF-8."""
    return unicodedata.category(character) in ("Cc", "Cs")
