"""Notice that a file which a page includes has changed: names and contents become one digest.

Flow: `diff.py` (the page's own bytes) -> **here** -> part of the page's digest. `reading/includes.py` tells which files
a text names; it puts them in when the page is read, in the child process.

Runs in the service, so it is bounded: files are read in pieces, each once a run, and none that is too large to be
included; a page's files and their depth are limited.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from ingestion.originals import DIGEST_CHARS
from ingestion.reading.includes import (
    MAX_DEPTH,
    MAX_INCLUDED_BYTES,
    MAX_INCLUDED_FILES,
    named_files,
    open_included,
    root_of,
    target,
)

_PIECE_BYTES = 1_000_000
# Names of one depth that are looked at: most of them mean files that were met.
_MAX_LOOKED_AT = 10 * MAX_INCLUDED_FILES
# What a file is called that is not there, or may not be taken: once it may be, that is a change.
_NOT_TAKEN = b"-"


class IncludedFiles:
    """The files that pages include, as they are in one run over a folder.

    Args:
        check: called often while a file is read; raises when the run shall end.
    """

    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check
        self._known: dict[Path, tuple[bytes, Sequence[Path]]] = {}  # file -> its digest, the files that it names

    def digest(self, data: bytes, path: Path, doc_id: str) -> str:
        """Return the digest of all that a page includes; empty if it names no file.

        Args:
            data: the page.
            path: where it is, with all links resolved.
            doc_id: its path below the ingested folder.
        """
        root = root_of(path, doc_id, len(data))
        found = [*islice(self._found(root, path, data), MAX_INCLUDED_FILES)] if root else []
        return hashlib.sha256(b"\n".join(found)).hexdigest()[:DIGEST_CHARS] if found else ""

    def _found(self, root: Path, page: Path, data: bytes) -> Iterator[bytes]:
        """Yield name and digest of each file, those that the page itself names before those that these name."""
        seen, level = {page}, iter(_targets(root, page, data))
        for _ in range(MAX_DEPTH):
            below: list[Sequence[Path]] = []
            for path in level:
                if path in seen:
                    continue
                seen.add(path)
                if path not in self._known:
                    self._known[path] = self._read(root, path)
                digest, further = self._known[path]
                below.append(further)
                yield os.fsencode(path.relative_to(root)) + b"\0" + digest
            level = islice(chain.from_iterable(below), _MAX_LOOKED_AT)

    def _read(self, root: Path, path: Path) -> tuple[bytes, Sequence[Path]]:
        self._check()
        opened = open_included(path)
        if opened is None:
            return _NOT_TAKEN, ()
        file, left = opened
        with file:
            if left > MAX_INCLUDED_BYTES:
                return _NOT_TAKEN, ()
            digest, data = hashlib.sha256(), bytearray()
            while piece := file.read(min(_PIECE_BYTES, left)):
                self._check()
                left -= len(piece)
                digest.update(piece)
                data += piece
        return digest.digest(), _targets(root, path, bytes(data).replace(b"\r\n", b"\n").replace(b"\r", b"\n"))


def _targets(root: Path, file: Path, data: bytes) -> Sequence[Path]:
    """Return the files that a text names, each once, up to the number that can be included."""
    found = (path for name in named_files(data) if (path := target(root, file.parent, name)))
    return tuple(dict.fromkeys(islice(found, MAX_INCLUDED_FILES)))
