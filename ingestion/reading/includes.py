"""Put what a reStructuredText file includes in the place of the directive: text, code, and the values of tables.

Flow: `formats.py` (to read it) and `diff.py` (to notice that an included file has changed) -> **here**.

Only files below the ingested folder are taken, never hidden ones, and none that a link leads to or that has another
name elsewhere. Whatever is not taken stays as the directive, which `rst.py` names. Linear in what is read, which is
bounded: files can include each other.
"""

import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePath

from errors import UnreadableError
from ingestion.reading.files import open_plain

MAX_INCLUDING_BYTES = MAX_INCLUDED_BYTES = 10_000_000
MAX_INCLUDED_FILES, MAX_INCLUDED_LINES = 1000, 100_000
MAX_DEPTH = 10
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


def expanded(data: bytes, path: Path, doc_id: str) -> bytes:
    """Return the file with what it includes, or as it is if that is nothing.

    Args:
        data: the file.
        path: where it is, with all links resolved.
        doc_id: its path below the ingested folder.
    """
    if not is_including(path) or len(data) > MAX_INCLUDING_BYTES or not path.as_posix().endswith(f"/{doc_id}"):
        return data
    return _Includes(path.parents[len(PurePath(doc_id).parts) - 1]).within(data, (path,))


class _Includes:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._files_left = MAX_INCLUDED_FILES
        self._bytes_left = MAX_INCLUDED_BYTES

    def within(self, data: bytes, chain: tuple[Path, ...]) -> bytes:
        """Return the text of the last file of `chain` with what it includes; each file there includes the next one."""
        return _DIRECTIVE.sub(lambda found: self._content(found, chain) or found[0], data)

    def _content(self, found: re.Match[bytes], chain: tuple[Path, ...]) -> bytes | None:
        kind, indent = found["kind"], found["indent"]
        options = {name.decode(): value.strip() for name, value in _OPTION.findall(found["options"])}
        name = options.get("file", b"") if kind == b"csv-table" else found["argument"].strip()
        target = self._target(chain[-1].parent, name)
        if target is None or target in chain or len(chain) > MAX_DEPTH or (lines := self._lines(target)) is None:
            return None
        if kind == b"csv-table":
            head = found[0][: found.start("options") - found.start()] + _FILE_OPTION.sub(b"", found["options"])
            content = head + _indented(lines, indent + b"   ")
        elif kind == b"literalinclude" or not options.keys().isdisjoint(("literal", "code")):
            head = indent + b".. code-block:: " + (options.get("language") or options.get("code") or b"") + b"\n"
            if caption := options.get("caption"):
                head += indent + b"   :caption: " + caption + b"\n"
            content = head + _indented(_clipped(lines, options), indent + b"   ")
        else:
            inner = self.within(b"\n".join(_clipped(lines, options)), (*chain, target))
            content = _indented(inner.splitlines(), indent)
        self._bytes_left -= len(content)
        return content if self._bytes_left >= 0 else None

    def _target(self, folder: Path, name: bytes) -> Path | None:
        """Return the file of this name; as in Sphinx, a name that begins with `/` begins at the root."""
        if not name or b"\0" in name:
            return None
        base = self._root if name.startswith(b"/") else folder
        path = Path(os.path.normpath(base / os.fsdecode(name).lstrip("/")))
        if path == self._root or not path.is_relative_to(self._root):
            return None
        return None if any(part.startswith(".") for part in path.relative_to(self._root).parts) else path

    def _lines(self, path: Path) -> list[bytes] | None:
        """Return the lines of a text file; None if it cannot be read, or this is enough."""
        self._files_left -= 1
        if self._files_left < 0:
            return None
        try:
            with open_plain(path) as file:
                data = file.read(self._bytes_left + 1) if os.fstat(file.fileno()).st_nlink == 1 else b"\0"
        except (UnreadableError, OSError):
            return None
        if b"\0" in data or len(data) > self._bytes_left:
            return None
        return data.removeprefix(BOM_UTF8).splitlines()[:MAX_INCLUDED_LINES]


def _indented(lines: list[bytes], indent: bytes) -> bytes:
    return b"\n" + b"".join(indent + line + b"\n" for line in lines) + b"\n"


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


def _range(lines: list[bytes], part: str) -> Iterator[bytes]:
    """Return `2`, `2-5`, `-5` or `5-` of the lines."""
    if not (found := _RANGE.fullmatch("".join(part.split()))) or not (found[1] or found[3]):
        return iter(())
    first = int(found[1] or 1)
    last = int(found[3] or len(lines)) if found[2] else first
    return islice(lines, max(0, first - 1), last)


def _number(value: bytes | None) -> int | None:
    try:
        return int(value) if value else None
    except ValueError:
        return None
