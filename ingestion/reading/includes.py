"""Put what a reStructuredText file includes in the place of the directive: text, code, and the values of tables.

Flow: `formats.py` (to read it, in the child process) -> **here**; `pipeline/included.py` asks which files it names.

Only files below the ingested folder are taken, never hidden ones, and none that a link leads to or that has another
name elsewhere. Whatever is not taken stays as the directive, which `rst.py` names. Files can include each other, and
one line many times: bytes are counted before they are read, and again before they are written.
"""

import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from io import BufferedReader
from itertools import islice
from pathlib import Path, PurePath
from typing import NamedTuple

from errors import UnreadableError
from ingestion.reading.files import open_plain
from ingestion.reading.text_budget import add_size

MAX_INCLUDING_BYTES = MAX_INCLUDED_BYTES = 10_000_000
MAX_INCLUDED_FILES, MAX_INCLUDED_LINES = 1000, 100_000
# A page may show a few lines of the same long file in many places.
MAX_READ_BYTES = 10 * MAX_INCLUDED_BYTES
MAX_DEPTH = 10
MAX_NAME_BYTES = 1000
_DIRECTIVE = re.compile(
    rb"^(?P<indent>[ \t]{0,100})\.\.[ \t]+(?P<kind>include|literalinclude|csv-table)::(?P<argument>[^\n]*)\n?"
    rb"(?P<options>(?:(?P=indent)[ \t]+:[a-z-]+:[^\n]*(?:\n|\Z))*)",
    re.MULTILINE,
)
_OPTION = re.compile(rb"^[ \t]+:([a-z-]+):[ \t]*([^\r\n]*)", re.MULTILINE)
_FILE_OPTION = re.compile(rb"^[ \t]+:file:[^\n]*(?:\n|\Z)", re.MULTILINE)
_RANGE = re.compile(r"(\d{0,9})(-?)(\d{0,9})")


def is_including(path: Path) -> bool:
    """Whether files of this name may include others."""
    return path.suffix.lower() == ".rst"


class Expanded(NamedTuple):
    """A file with what it includes.

    Attributes:
        data: its text.
        cut: not all of it is there, because that would be too much.
    """

    data: bytes
    cut: bool = False

    @property
    def left_out(self) -> str:
        """What is not there, in words; empty if nothing was too much."""
        if not self.cut:
            return ""
        return (
            f"It includes too much, which is cut or only named: more than {MAX_INCLUDED_BYTES // 1_000_000} MB, "
            f"{MAX_INCLUDED_FILES:,} files, {MAX_DEPTH} within each other, or {MAX_INCLUDED_LINES:,} lines of one."
        )


def expanded(data: bytes, path: Path, doc_id: str) -> Expanded:
    """Return the file with what it includes, or as it is if that is nothing.

    Args:
        data: the file.
        path: where it is, with all links resolved.
        doc_id: its path below the ingested folder.
    """
    root = root_of(path, doc_id, len(data))
    if root is None:
        return Expanded(data)
    includes = _Includes(root)
    return Expanded(includes.within(data, (path,)), includes.cut)


def root_of(path: Path, doc_id: str, size: int) -> Path | None:
    """Return the ingested folder, from which a file may include others; None if it may not.

    Args:
        path: of the file, with all links resolved.
        doc_id: its path below the ingested folder.
        size: of the file, in bytes.
    """
    if not is_including(path) or size > MAX_INCLUDING_BYTES or not path.as_posix().endswith(f"/{doc_id}"):
        return None
    return path.parents[len(PurePath(doc_id).parts) - 1]


def named_files(data: bytes) -> Iterator[bytes]:
    """Yield the names of the files that directives in a text would include, as they are written."""
    for found in _DIRECTIVE.finditer(data):
        yield _name(found, _options(found))


def target(root: Path, folder: Path, name: bytes) -> Path | None:
    """Return the file that a name means; None if it may not be taken, whatever is there.

    Args:
        root: the ingested folder, where a name that begins with `/` begins, as in Sphinx.
        folder: of the file that has the name.
        name: as it is written.
    """
    if not name or b"\0" in name or len(name) > MAX_NAME_BYTES:
        return None
    base = root if name.startswith(b"/") else folder
    path = Path(os.path.normpath(base / os.fsdecode(name).lstrip("/")))
    if path == root or not path.is_relative_to(root):
        return None
    return None if any(part.startswith(".") for part in path.relative_to(root).parts) else path


def open_included(path: Path) -> tuple[BufferedReader, int] | None:
    """Open a file that is to be included; return it and its size, or None if it cannot be taken."""
    try:
        file = open_plain(path)
    except (UnreadableError, OSError):
        return None
    status = os.fstat(file.fileno())
    if status.st_nlink == 1:
        return file, status.st_size
    file.close()
    return None


class _Includes:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._files_left = MAX_INCLUDED_FILES
        self._read_left = MAX_READ_BYTES
        self._bytes_left = MAX_INCLUDED_BYTES
        self._read: set[Path] = set()
        self.cut = False

    def within(self, data: bytes, chain: tuple[Path, ...]) -> bytes:
        """Return the text of the last file of `chain` with what it includes; each file there includes the next one."""
        return _DIRECTIVE.sub(lambda found: self._content(found, chain) or found[0], data)

    def _content(self, found: re.Match[bytes], chain: tuple[Path, ...]) -> bytes | None:
        kind, indent, options = found["kind"], found["indent"], _options(found)
        path = target(self._root, chain[-1].parent, _name(found, options))
        if path is None or path in chain or (lines := self._lines(path, len(chain))) is None:
            return None
        if kind == b"csv-table":
            head = found[0][: found.start("options") - found.start()] + _FILE_OPTION.sub(b"", found["options"])
            return self._written(lines, indent + b"   ", head)
        lines = _clipped(lines, options)
        if kind == b"literalinclude" or not options.keys().isdisjoint(("literal", "code")):
            head = indent + b".. code-block:: " + (options.get("language") or options.get("code") or b"") + b"\n"
            if caption := options.get("caption"):
                head += indent + b"   :caption: " + caption + b"\n"
            return self._written(lines, indent + b"   ", head)
        text = self._written(lines)
        return None if text is None else self._written(self.within(text, (*chain, path)).splitlines(), indent)

    def _written(self, lines: Sequence[bytes], indent: bytes = b"", head: bytes = b"") -> bytes | None:
        """Return the lines, indented, below a head; None if they are too long, before they are put together."""
        size = len(head) + sum(map(len, lines)) + len(lines) * (len(indent) + 1) + 2
        if size > self._bytes_left:
            self.cut = True
            return None
        self._bytes_left -= size
        return head + b"\n" + b"".join(indent + line + b"\n" for line in lines) + b"\n"

    def _lines(self, path: Path, depth: int) -> list[bytes] | None:
        """Return the lines of a text file; None if it cannot be read, or this is enough."""
        self._files_left -= 1
        if self._files_left < 0 or depth > MAX_DEPTH:
            self.cut = True
            return None
        opened = open_included(path)
        if opened is None:
            return None
        with opened[0] as file:
            size = opened[1]
            if size > min(self._read_left, MAX_INCLUDED_BYTES):
                self.cut = True
                return None
            data = file.read(size)  # what is appended meanwhile belongs to the next run
        self._read_left -= len(data)
        if path not in self._read:
            self._read.add(path)
            add_size(len(data))
        lines = data.removeprefix(BOM_UTF8).splitlines()
        self.cut |= len(lines) > MAX_INCLUDED_LINES
        return None if b"\0" in data else lines[:MAX_INCLUDED_LINES]


def _options(found: re.Match[bytes]) -> dict[str, bytes]:
    return {name.decode(): value.strip() for name, value in _OPTION.findall(found["options"])}


def _name(found: re.Match[bytes], options: dict[str, bytes]) -> bytes:
    return options.get("file", b"") if found["kind"] == b"csv-table" else found["argument"].strip()


def _clipped(lines: list[bytes], options: dict[str, bytes]) -> list[bytes]:
    """Return the lines that a directive's options choose; an option that names what is not there chooses all."""
    if "lines" in options:
        parts = options["lines"].decode("ascii", "replace").split(",")
        return list(islice((line for part in parts for line in _range(lines, part)), MAX_INCLUDED_LINES))
    if "start-line" in options or "end-line" in options:
        lines = lines[_number(options.get("start-line")) : _number(options.get("end-line"))]
    for name, after in (("start-after", 1), ("start-at", 0)):
        if wanted := options.get(name):
            lines = lines[next((at + after for at, line in enumerate(lines) if wanted in line), 0) :]
    for name, after in (("end-before", 0), ("end-at", 1)):
        if wanted := options.get(name):
            lines = lines[: next((at + after for at, line in enumerate(lines) if wanted in line), len(lines))]
    return lines


def _range(lines: list[bytes], part: str) -> list[bytes]:
    """Return `2`, `2-5`, `-5` or `5-` of the lines."""
    if not (found := _RANGE.fullmatch("".join(part.split()))) or not (found[1] or found[3]):
        return []
    first = int(found[1] or 1)
    last = int(found[3] or len(lines)) if found[2] else first
    return lines[max(0, first - 1) : last]


def _number(value: bytes | None) -> int | None:
    try:
        return int(value) if value else None
    except ValueError:
        return None
