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
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from io import BufferedReader, FileIO
from pathlib import Path, PurePath

from errors import UnreadableError
from ingestion.reading.format_table import format_of, inner_name

# What lies beside documents in every folder of them, and is not expected to be read: pictures, fonts, looks of pages.
COMPANIONS = frozenset(
    ".png .jpg .jpeg .gif .svg .webp .avif .ico .bmp .tif .tiff .css .scss .less .js .mjs .map .woff .woff2 .ttf .otf "
    ".eot .mp3 .mp4 .m4a .m4v .mov .avi .mkv .ogg .wav .webm".split()
)
# Ends the name of a file about the file whose name comes before it, see `sidecar.py`.
SIDECAR = ".meta.json"
BUFFER_BYTES = 262_144  # what a reader can look at before it begins
# A folder that is only passed through need not be readable, where the system can open it so.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
HARD_LINK = "the file has further names, perhaps outside this folder; copy it, or set RAG_INGEST__HARD_LINKS=true"
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
    """Something below the root that is not read.

    Attributes:
        path: relative to the root, and printable.
        reason: why.
        suffix: of a plain file whose type is not read, in lower case; "" if its name has none. Else None.
    """

    path: str
    reason: str
    suffix: str | None = None


def list_files(
    root: Path,
    *,
    only: Collection[str] | None = None,
    images: bool = False,
    resolved: bool = False,
    hard_links: bool = True,
) -> Iterator[SourceFile | Skipped]:
    """Return everything below `root`, folder by folder in order of name; hidden names are passed over in silence.

    Args:
        root: a folder or a file. It may be a link: the person who names it means its target.
        only: list nothing but these files and folders, named by their paths from the root; those that are gone are
            passed over.
        images: pictures are read too.
        hard_links: files that have another name somewhere, perhaps outside `root`, are read too.
        resolved: its links were resolved before, and perhaps checked; should it be a link by now, it is not followed.

    Raises:
        UnreadableError: `root` does not exist or cannot be looked into; at the call, before anything is listed.
    """
    try:
        if not resolved:
            root = root.resolve(strict=True)
        elif root.is_symlink():
            raise UnreadableError(f"{printable(root)} has become a symbolic link.", "Name the real folder.")
        root.lstat()  # raises for one that is not there
        pending = [root] if not root.is_dir() else _children(root) if only is None else _named(root, only)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a loop of links"
        raise UnreadableError(f"{printable(root)} cannot be read: {reason}.", "Check the path.") from error
    return _walk(root if root.is_dir() else root.parent, pending, images=images, hard_links=hard_links)


def _walk(base: Path, pending: list[Path], *, images: bool, hard_links: bool) -> Iterator[SourceFile | Skipped]:
    while pending:
        path = pending.pop()
        name = path.relative_to(base).as_posix()
        if name.endswith(SIDECAR) and path.with_name(path.name.removesuffix(SIDECAR)).is_file():
            continue
        try:
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode):
                pending += _children(path)
                continue
        except OSError as error:
            yield Skipped(printable(name), f"cannot be read: {error.strerror}")
            continue
        if reason := _refusal(name, status.st_mode):
            yield Skipped(printable(name), reason)
        elif format_of(name, images=images) and status.st_nlink > 1 and not hard_links:
            yield Skipped(printable(name), HARD_LINK)
        elif format_of(name, images=images):
            yield SourceFile(path, name, status.st_size)
        else:
            suffix = _suffix(name)
            yield Skipped(printable(name), f"unsupported type {suffix}".rstrip(), suffix)


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
        raise UnreadableError("This is not a plain file.", "Remove it from the folder.")
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


def _named(root: Path, names: Collection[str]) -> list[Path]:
    """Return the entries at these paths, last name first, each once; paths through a link are left out.

    With a sidecar comes the file that it is about.
    """
    wanted = {root / each for name in names for each in (name, name.removesuffix(SIDECAR))}
    found = []
    for path in wanted:
        folders = path.parents[: len(path.relative_to(root).parts) - 1]
        if wanted.isdisjoint(folders) and not any(folder.is_symlink() for folder in folders) and os.path.lexists(path):
            found.append(path)
    return sorted(found, reverse=True)


def _refusal(name: str, mode: int) -> str | None:
    for is_kind, reason in _KINDS:
        if is_kind(mode):
            return reason
    if any(map(_is_unspeakable, name)):
        return "its name holds control characters or is not valid UTF-8"
    return None


def refusal_of_name(name: str, *, images: bool = False) -> str | None:
    """Return why what lies in an archive or a mail under this name is not read, or None if it is."""
    reason = _refusal(name, 0)
    return reason or (None if format_of(name, images=images) else f"unsupported type {_suffix(name)}".rstrip())


def _suffix(name: str) -> str:
    """Return what names a file's type, that of its compression included: `.tar.gz`."""
    inner = inner_name(name)
    return (PurePath(inner).suffix + name[len(inner) :]).lower()


def printable(name: object) -> str:
    """Return a name with its control characters and broken bytes spelt out."""
    return "".join(ascii(c)[1:-1] if _is_unspeakable(c) else c for c in str(name))


def _is_unspeakable(character: str) -> bool:
    """Tell control characters and the surrogates that stand for bytes which are not UTF-8."""
    return unicodedata.category(character) in ("Cc", "Cs")
