"""Say whether the files of the vectors are still what a process that used them without a fault left.

Flow: `folder_stores.py` compares before it opens the vectors, and seals them once they are open, and when it has closed
them -> **here** -> a seal beside the `vectors` folder. Files that match are opened at once; others are examined first,
by a child process, because a damaged graph kills the process that reads it.

Every byte is read: a sample of blocks would miss one that was overwritten, and Chroma reads the same files right
afterwards, then from memory. CRC-32 finds accidents and is five times as fast as a cryptographic hash, which would add
nothing: a program that may write here on purpose may write the seal as well.
"""

import json
import os
import zlib
from pathlib import Path

FILE_NAME = "vectors.seal"
FORMAT = 1
BLOCK_BYTES = 1 << 20


class VectorsSeal:
    """The seal of one corpus's vectors.

    Args:
        corpus_folder: where the seal is kept.
        vectors: the folder that is sealed.
    """

    def __init__(self, corpus_folder: Path, vectors: Path) -> None:
        self._path = corpus_folder / FILE_NAME
        self._vectors = vectors
        # File -> size, time of its last change and CRC-32, as this process read it: unchanged files are read once.
        self._read: dict[str, tuple[int, int, int]] = {}

    def matches(self) -> bool:
        """Whether the files are those that were sealed."""
        try:
            seal = json.loads(self._path.read_text())
            sealed = seal["files"] if seal["format"] == FORMAT else {}
            sizes = {name: one["bytes"] for name, one in sealed.items()}
        except (OSError, ValueError, KeyError, TypeError):
            return False  # never sealed, or torn
        return bool(sealed) and self._sizes() == sizes and self._checksums() == sealed

    def write(self) -> None:
        """Seal the files as they are; nothing may be written to them meanwhile. A crash leaves the old seal or this."""
        scratch = self._path.with_name(f".{FILE_NAME}")
        scratch.write_text(json.dumps({"format": FORMAT, "files": self._checksums()}))
        scratch.replace(self._path)

    def _sizes(self) -> dict[str, int]:
        return {name: path.stat().st_size for name, path in self._files()}

    def _checksums(self) -> dict[str, dict[str, int]]:
        read = {}
        for name, path in self._files():
            facts = path.stat()
            known = self._read.get(name)
            unchanged = known is not None and known[:2] == (facts.st_size, facts.st_mtime_ns)
            read[name] = known if known and unchanged else (facts.st_size, facts.st_mtime_ns, _crc(path))
        self._read = read
        return {name: {"bytes": size, "crc32": crc} for name, (size, _, crc) in read.items()}

    def _files(self) -> list[tuple[str, Path]]:
        paths = sorted(Path(place, name) for place, _, names in os.walk(self._vectors) for name in names)
        return [(str(path.relative_to(self._vectors)), path) for path in paths]


def _crc(path: Path) -> int:
    crc = 0
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            crc = zlib.crc32(block, crc)
    return crc
