"""Say whether the files of the vectors are still what the last clean close left.

Flow: `folder_stores.py` checks before it opens the vectors, and writes after it has closed them -> **here** -> a seal
beside the `vectors` folder. Files that match were used to the end without a fault, so they are opened at once; others
are examined first, by a child process, because a damaged graph kills the process that reads it.

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

# File below the folder -> its size in bytes and its CRC-32.
Checksums = dict[str, list[int]]


def is_sealed(corpus_folder: Path, vectors: Path) -> bool:
    """Whether the files below `vectors` are those that were sealed."""
    try:
        seal = json.loads((corpus_folder / FILE_NAME).read_text())
        sealed = seal["files"] if seal["format"] == FORMAT else {}
    except (OSError, ValueError, KeyError, TypeError):
        return False  # never sealed, or torn
    return (
        bool(sealed)
        and _sizes(vectors) == {name: size for name, (size, _) in sealed.items()}
        and (_checksums(vectors) == sealed)
    )


def write_seal(corpus_folder: Path, vectors: Path) -> None:
    """Seal the files below `vectors`, which nobody has open. A crash leaves the old seal or this one."""
    scratch = corpus_folder / f".{FILE_NAME}"
    scratch.write_text(json.dumps({"format": FORMAT, "files": _checksums(vectors)}))
    scratch.replace(corpus_folder / FILE_NAME)


def _sizes(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_size for path in _files(folder)}


def _checksums(folder: Path) -> Checksums:
    return {str(path.relative_to(folder)): [path.stat().st_size, _crc(path)] for path in _files(folder)}


def _files(folder: Path) -> list[Path]:
    return sorted(Path(place, name) for place, _, names in os.walk(folder) for name in names)


def _crc(path: Path) -> int:
    crc = 0
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            crc = zlib.crc32(block, crc)
    return crc
